/* Writes the journal's chunks that do not come from queues: messages, descriptions, and the end. */
#define _GNU_SOURCE
#include "config/description_path.h"
#include "config/description_read.h"
#include "config/target.h"
#include "base/alloc.h"
#include "server/eventloop/event_loop.h"
#include "server/tracefile/slot_compression.h"
#include "server/journal/journal_write.h"
#include "wire/message.h"
#include "wire/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD_MOST ((uint64_t)4 << 30)
#define KEPT_PART 8 /* of what a run may keep: as much again waits to be saved */

struct capture *capture_new(struct tracefile *trace, const char *file, uint64_t keep_bytes)
{
    struct capture *taking = xcalloc(1, sizeof *taking);
    taking->file = xstrdup(file);
    taking->trace = trace;
    taking->most_ahead =
        keep_bytes && keep_bytes / KEPT_PART < AHEAD_MOST ? keep_bytes / KEPT_PART : AHEAD_MOST;
    if (keep_bytes)
        tracefile_small_regions(trace, keep_bytes / 16);
    handoff_queue_begin(&taking->hand);
    tracefile_lagging(trace);
    return taking;
}

void capture_free(struct capture *taking)
{
    if (taking->now)
        handoff_extent_free(taking->now);
    handoff_queue_end(&taking->hand);
    for (size_t i = 0; i < taking->described_count; i++)
        free(taking->described[i]);
    free(taking->described);
    free(taking->read);
    free(taking->file);
    free(taking);
}

uint64_t capture_oldest_ns(struct capture *taking)
{
    return taking->now ? taking->now->taken_ns : handoff_queue_oldest_ns(&taking->hand);
}

bool capture_is_ahead(const struct capture *taking)
{
    return handoff_queue_lag(&taking->hand) > taking->most_ahead;
}

/* ---- the disk ---- */

bool journal_check_written(struct capture *taking, bool fits, uint64_t bytes)
{
    if (!fits) {
        if (!taking->unwritten)
            server_log("%s: %s: recording paused; data written so far is safe", taking->file,
                       strerror(errno));
        taking->unwritten = bytes;
        return false;
    }
    /* A few bytes may fit where a batch did not. */
    if (taking->unwritten && tracefile_room(taking->trace) >= taking->unwritten) {
        server_log("%s: recording resumed", taking->file);
        taking->unwritten = 0;
    }
    return true;
}

/* ---- chunks ---- */

static uint64_t size_of(const struct chunk *chunks, size_t count)
{
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += CHUNK_HEAD_BYTES + (uint64_t)chunks[i].size;
    return size;
}

static uint8_t *bytes_of(const struct chunk *chunks, size_t count, uint32_t epoch)
{
    uint8_t *bytes = xmalloc(size_of(chunks, count)), *at = bytes;
    for (size_t i = 0; i < count; i++) {
        struct chunk chunk = chunks[i];
        chunk.epoch = epoch;
        chunk_head(at, &chunk);
        if (chunk.size)
            memcpy(at + CHUNK_HEAD_BYTES, chunk.data, chunk.size);
        at += CHUNK_HEAD_BYTES + chunk.size;
    }
    return bytes;
}

static bool journal_write(struct capture *taking, const struct chunk *chunks, size_t count,
                          bool last, bool quiet)
{
    struct journal_room room;
    uint64_t size = size_of(chunks, count);
    bool fits = tracefile_begin(taking->trace, size, last, &room);
    uint8_t *bytes = bytes_of(chunks, count, room.epoch);
    fits = fits && tracefile_write(taking->trace, bytes, size, last);
    if (last && !fits)
        server_log("%s: %s: the exit of a program could not be recorded", taking->file,
                   strerror(errno));
    struct handoff_extent stretch = {.at = room.at,
                                     .size = size,
                                     .epoch = room.epoch,
                                     .unwritten = !fits,
                                     .taken_ns = loop_clock_ns()};
    if ((fits || last) && !quiet)
        handoff_queue_push(&taking->hand, stretch, bytes);
    free(bytes);
    return last ? fits : journal_check_written(taking, fits, size);
}

bool journal_append(struct capture *taking, const struct chunk *chunks, size_t count, bool last)
{
    return journal_write(taking, chunks, count, last, false);
}

bool journal_append_quiet(struct capture *taking, struct chunk chunk)
{
    return journal_write(taking, &chunk, 1, true, true);
}

/* ---- descriptions ----
 *
 * They are written before the events that need them, since a reader of the file must know them
 * by then. */

bool journal_is_described(const struct capture *taking, const char *name)
{
    for (size_t i = 0; i < taking->described_count; i++)
        if (strcmp(taking->described[i], name) == 0)
            return true;
    return false;
}

void journal_note_described(struct capture *taking, const char *name)
{
    taking->described = array_reserve(taking->described, &taking->described_room,
                                      taking->described_count + 1, sizeof *taking->described);
    taking->described[taking->described_count++] = xstrdup(name);
}

/* The last description that was valid: most programs have the same one.  Used with the capture lock
 * held. */
static char *journal_valid_text;

/* Returns false if the description has errors, which are reported. */
static bool journal_is_valid_description(const char *name, const char *text)
{
    if (journal_valid_text && strcmp(journal_valid_text, text) == 0)
        return true;
    struct target *target = target_read(text, name, stderr);
    if (!target)
        return false;
    target_free(target);
    free(journal_valid_text);
    journal_valid_text = xstrdup(text);
    return true;
}

/* description: the text that the sender has for it, NULL: none. */
static bool journal_add_description(struct capture *taking, const char *name,
                                    const char *description)
{
    if (!*name || strchr(name, '/') || journal_is_described(taking, name))
        return true;
    char *path = NULL, *text = target_load(name, &path);
    bool fits = true;
    if (!text && description)
        text = xstrdup(description);
    if (!text) {
        server_log("there is no description of the environment \"%s\"", name);
    } else if (journal_is_valid_description(name, text)) {
        struct encoder out = {0};
        encode_string(&out, name);
        encode_string(&out, text);
        fits = journal_append(
            taking,
            &(struct chunk){.kind = CHUNK_TARGET, .data = out.data, .size = (uint32_t)out.size}, 1,
            false);
        encoder_free(&out);
    }
    if (fits)
        journal_note_described(taking, name);
    free(text);
    free(path);
    return fits;
}

void journal_append_hangup(struct capture *taking, uint32_t session)
{
    journal_append(taking, &(struct chunk){.kind = CHUNK_HANGUP, .session = session}, 1, true);
}

void journal_release_hangup(struct capture *taking)
{
    if (taking->held)
        journal_append_hangup(taking, taking->held - 1);
    taking->held = 0;
}

void journal_hold_hangup(struct capture *taking, uint32_t session, uint64_t now_ns)
{
    journal_release_hangup(taking);
    taking->held = session + 1;
    taking->held_ns = now_ns;
}

bool journal_write_description(struct capture *taking, const char *name)
{
    return journal_add_description(taking, name, NULL);
}

bool journal_write_given_description(struct capture *taking, const char *name, const char *text)
{
    return journal_add_description(taking, name, text);
}

bool journal_write_descriptions(struct capture *taking, const struct ring_slot *slots, size_t count,
                                bool *any)
{
    bool fits = true;
    for (size_t i = 0, size; (size = slot_next_record(slots + i, count - i)) != 0 && fits;
         i += size) {
        if (slots[i].shape != SHAPE_CONTROL || slots[i].flags != MESSAGE_DESCRIBE)
            continue;
        struct decoder in = decoder_init(&slots[i + 1], slots[i].payload_bytes);
        char *name = decode_name(&in, 256);
        if (decoder_finish(&in) && *name && !strchr(name, '/') &&
            !journal_is_described(taking, name)) {
            fits = any || journal_write_description(taking, name);
            if (any)
                *any = true;
        }
        free(name);
    }
    return fits;
}

bool journal_append_slots(struct capture *taking, uint32_t session, uint32_t thread,
                          const struct ring_slot *slots, size_t count)
{
    if (!journal_write_descriptions(taking, slots, count, NULL))
        return false;
    uint8_t *packed = xmalloc(count * SLOT_BYTES + SLOT_CODEC_SPARE_BYTES);
    size_t size = count ? slot_codec_encode(packed, slots, count) : 0;
    struct chunk chunk = {.kind = size ? CHUNK_SLOTS : MESSAGE_SLOTS,
                          .session = session,
                          .thread = thread,
                          .data = size ? packed : (const uint8_t *)slots,
                          .size = (uint32_t)(size ? size : count * SLOT_BYTES)};
    bool fits = journal_append(taking, &chunk, 1, false);
    free(packed);
    return fits;
}
