/* What goes into the journal beside the queues: messages, descriptions, last words. */
#define _GNU_SOURCE
#include "config/find.h"
#include "config/read.h"
#include "config/target.h"
#include "memory/memory.h"
#include "server/loop/log.h"
#include "server/loop/turn.h"
#include "server/store/packed.h"
#include "server/taking/journal.h"
#include "wire/message.h"
#include "wire/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD_MOST ((uint64_t)4 << 30)
#define KEPT_PART 8 /* of what a run may keep: as much again waits to be saved */

struct taking *taking_new(struct tracefile *trace, const char *file, uint64_t keep_bytes)
{
    struct taking *taking = memory_zeroed(1, sizeof *taking);
    taking->file = memory_copied(file);
    taking->trace = trace;
    taking->most_ahead =
        keep_bytes && keep_bytes / KEPT_PART < AHEAD_MOST ? keep_bytes / KEPT_PART : AHEAD_MOST;
    if (keep_bytes)
        tracefile_small_regions(trace, keep_bytes / 16);
    hand_begin(&taking->hand);
    tracefile_lagging(trace);
    return taking;
}

void taking_free(struct taking *taking)
{
    if (taking->now)
        stretch_free(taking->now);
    hand_end(&taking->hand);
    for (size_t i = 0; i < taking->described_count; i++)
        free(taking->described[i]);
    free(taking->described);
    free(taking->read);
    free(taking->file);
    free(taking);
}

uint64_t taking_since(struct taking *taking)
{
    return taking->now ? taking->now->taken_ns : hand_since(&taking->hand);
}

bool taking_ahead(const struct taking *taking)
{
    return hand_ahead(&taking->hand) > taking->most_ahead;
}

/* ---- the disk ---- */

bool written(struct taking *taking, bool fits, uint64_t bytes)
{
    if (!fits) {
        if (!taking->unwritten)
            log_line("%s: %s: nothing more is taken until there is room; what was taken is kept",
                     taking->file, strerror(errno));
        taking->unwritten = bytes;
        return false;
    }
    /* A few bytes may fit where a batch did not. */
    if (taking->unwritten && tracefile_room(taking->trace) >= taking->unwritten) {
        log_line("%s: there is room again", taking->file);
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
    uint8_t *bytes = memory_bytes(size_of(chunks, count)), *at = bytes;
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

static bool put(struct taking *taking, const struct chunk *chunks, size_t count, bool last,
                bool quiet)
{
    struct journal_room room;
    uint64_t size = size_of(chunks, count);
    bool fits = tracefile_begin(taking->trace, size, last, &room);
    uint8_t *bytes = bytes_of(chunks, count, room.epoch);
    fits = fits && tracefile_write(taking->trace, bytes, size, last);
    if (last && !fits)
        log_line("%s: %s: how a program ended is not in it", taking->file, strerror(errno));
    struct stretch stretch = {.at = room.at,
                              .size = size,
                              .epoch = room.epoch,
                              .unwritten = !fits,
                              .taken_ns = turn_clock_ns()};
    if ((fits || last) && !quiet)
        hand_put(&taking->hand, stretch, bytes);
    free(bytes);
    return last ? fits : written(taking, fits, size);
}

bool journal_put(struct taking *taking, const struct chunk *chunks, size_t count, bool last)
{
    return put(taking, chunks, count, last, false);
}

bool journal_put_quiet(struct taking *taking, struct chunk chunk)
{
    return put(taking, &chunk, 1, true, true);
}

/* ---- descriptions ----
 *
 * They go into the file before the events that need them: whoever reads it again must know them by then. */

bool is_described(const struct taking *taking, const char *name)
{
    for (size_t i = 0; i < taking->described_count; i++)
        if (strcmp(taking->described[i], name) == 0)
            return true;
    return false;
}

void note_described(struct taking *taking, const char *name)
{
    taking->described = grow(taking->described, &taking->described_room,
                             taking->described_count + 1, sizeof *taking->described);
    taking->described[taking->described_count++] = memory_copied(name);
}

/* False: it has mistakes, which are told. */
static bool is_good(const char *name, const char *text)
{
    struct target *target = target_read(text, name, stderr);
    if (target)
        target_free(target);
    return target != NULL;
}

/* told: the text that somebody else has for it, NULL none. */
static bool describe(struct taking *taking, const char *name, const char *told)
{
    if (!*name || strchr(name, '/') || is_described(taking, name))
        return true;
    char *path = NULL, *text = target_load(name, &path);
    bool fits = true;
    if (!text && told)
        text = memory_copied(told);
    if (!text) {
        log_line("there is no description of the environment \"%s\"", name);
    } else if (is_good(name, text)) {
        struct out out = {0};
        put_string(&out, name);
        put_string(&out, text);
        fits = journal_put(
            taking,
            &(struct chunk){.kind = CHUNK_TARGET, .data = out.data, .size = (uint32_t)out.size}, 1,
            false);
        out_free(&out);
    }
    if (fits)
        note_described(taking, name);
    free(text);
    free(path);
    return fits;
}

bool journal_describe(struct taking *taking, const char *name)
{
    return describe(taking, name, NULL);
}

bool journal_describe_told(struct taking *taking, const char *name, const char *text)
{
    return describe(taking, name, text);
}

bool journal_describe_all(struct taking *taking, const struct slot *slots, size_t count, bool *any)
{
    bool fits = true;
    for (size_t i = 0, size; (size = slots_next(slots + i, count - i)) != 0 && fits; i += size) {
        if (slots[i].shape != SHAPE_CONTROL || slots[i].flags != MESSAGE_DESCRIBE)
            continue;
        struct in in = in_from(&slots[i + 1], slots[i].payload_bytes);
        char *name = get_name(&in, 256);
        if (in_done(&in) && *name && !strchr(name, '/') && !is_described(taking, name)) {
            fits = any || journal_describe(taking, name);
            if (any)
                *any = true;
        }
        free(name);
    }
    return fits;
}

bool journal_slots(struct taking *taking, uint32_t session, uint32_t thread,
                   const struct slot *slots, size_t count)
{
    if (!journal_describe_all(taking, slots, count, NULL))
        return false;
    uint8_t *packed = memory_bytes(count * SLOT_BYTES + PACKED_SPARE_BYTES);
    size_t size = count ? packed_put(packed, slots, count) : 0;
    struct chunk chunk = {.kind = size ? CHUNK_SLOTS : MESSAGE_SLOTS,
                          .session = session,
                          .thread = thread,
                          .data = size ? packed : (const uint8_t *)slots,
                          .size = (uint32_t)(size ? size : count * SLOT_BYTES)};
    bool fits = journal_put(taking, &chunk, 1, false);
    free(packed);
    return fits;
}
