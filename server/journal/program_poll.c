#define _GNU_SOURCE
#include "server/journal/program_poll.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/decode/metric_records.h"
#include "server/decode/placement_records.h"
#include "server/decode/profile_region_reader.h"
#include "server/decode/ring_reader.h"
#include "server/eventloop/event_loop.h"
#include "server/journal/journal_write.h"
#include "server/tracefile/slot_compression.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <stdlib.h>
#include <string.h>

/* Returns the threads that still have a queue, by the codes of their lines. */
static struct map program_poll_live_threads(const struct captured_program *program)
{
    struct map live = {0};
    for (struct shared_queue *q = program->queues; q; q = q->next)
        map_put(&live, q->head->thread, 0, q);
    return live;
}

/* ---- rings of calls and of tasks ----
 *
 * Records for which there is no room are lost; only the server's log reports that, not the file. */

#define PARTS_IN_A_TURN (CALL_RECORDS_WORDS / RING_READER_CHUNK) /* of one ring */

static bool call_record_write(struct captured_program *program, const struct ring_reader *ring,
                              const struct encoder *body, bool last)
{
    return journal_append(program->taking,
                          &(struct chunk){.kind = CHUNK_ENTRIES,
                                          .session = program->session,
                                          .thread = ring->thread,
                                          .data = body->data,
                                          .size = (uint32_t)body->size},
                          1, last);
}

static void call_record_drain(struct captured_program *program, struct ring_reader *ring,
                              struct tsc_clock *ticks, bool last)
{
    struct encoder body = {0};
    for (unsigned n = 0; n < PARTS_IN_A_TURN && ring_reader_decode(ring, ticks, last, &body); n++) {
        if (!call_record_write(program, ring, &body, last) && !program->entries_left++)
            server_log("%s: no space for call records; they are dropped", program->taking->file);
        body.size = 0;
    }
    encoder_free(&body);
}

static void call_record_drop_ended(struct captured_program *program, struct tsc_clock *ticks)
{
    struct map live = program_poll_live_threads(program);
    for (struct ring_reader **at = &program->rings, *r; (r = *at) != NULL;) {
        if (map_get(&live, r->thread, 0)) {
            at = &r->next;
            continue;
        }
        call_record_drain(program, r, ticks, true);
        *at = r->next;
        ring_reader_free(r);
    }
    map_free(&live);
}

/* Empties the rings, and frees those of threads that have ended. */
static void call_record_poll(struct captured_program *program, struct tsc_clock *ticks)
{
    bool ended = false;
    for (struct ring_reader *r = program->rings; r; r = r->next) {
        unsigned full = ring_reader_is_full(r);
        program->full = full > program->full ? full : program->full;
        ended |= ring_reader_is_empty(r);
        call_record_drain(program, r, ticks, false);
    }
    if (ended)
        call_record_drop_ended(program, ticks);
}

/* Empties the rings completely: nothing more will come. */
static void call_record_finish(struct captured_program *program, struct tsc_clock *ticks)
{
    for (struct ring_reader *r = program->rings; r; r = r->next)
        while (!ring_reader_is_empty(r))
            call_record_drain(program, r, ticks, true);
}

static void placement_reader_drain(struct captured_program *program, struct placement_ring *ring,
                                   struct tsc_clock *ticks)
{
    struct encoder body = {0};
    while (placement_ring_decode(ring, ticks, &body)) {
        bool put = journal_append(program->taking,
                                  &(struct chunk){.kind = CHUNK_SPANS,
                                                  .session = program->session,
                                                  .thread = ring->carrier,
                                                  .data = body.data,
                                                  .size = (uint32_t)body.size},
                                  1, false);
        if (!put && !program->spans_left++)
            server_log("%s: no space for task placement records; they are dropped",
                       program->taking->file);
        body.size = 0;
    }
    encoder_free(&body);
}

/* Empties the rings, and frees those that are over. */
static void placement_reader_poll(struct captured_program *program, struct tsc_clock *ticks)
{
    for (struct placement_ring **at = &program->carried, *r; (r = *at) != NULL;) {
        unsigned full = placement_ring_is_full(r);
        bool over = placement_ring_is_over(r);
        program->full = full > program->full ? full : program->full;
        placement_reader_drain(program, r, ticks);
        if (!over) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        placement_ring_free(r);
    }
}

/* ---- regions of measurements ---- */

#define PROFILE_READ_INTERVAL_NS UINT64_C(1000000000) /* so often, if no more is to be written */
#define PROFILE_READ_NS_PER_BYTE 1000u /* no more than 1 MB a second, on the average */

/* False: there is no room for it. */
static bool profile_reader_write(struct captured_program *program,
                                 const struct region_reader *region, enum chunk_kind kind,
                                 const struct encoder *body, bool last)
{
    program->sums_bytes += CHUNK_HEAD_BYTES + body->size;
    return journal_append(program->taking,
                          &(struct chunk){.kind = (uint16_t)kind,
                                          .session = program->session,
                                          .thread = region->thread,
                                          .data = body->data,
                                          .size = (uint32_t)body->size},
                          1, last);
}

static void profile_reader_read_one(struct captured_program *program, struct region_reader *region,
                                    const struct region_moment *moment, bool last)
{
    struct encoder body = {0};
    bool fits = true, any = region_reader_poll(region, moment);
    while (any && fits && region_reader_encode(region, moment, &body)) {
        fits = profile_reader_write(program, region, CHUNK_SUMS, &body, last);
        body.size = 0;
    }
    if (!fits)
        region_reader_pending(region);
    body.size = 0;
    if (metric_records_encode(region, moment->ns, &body) &&
        !profile_reader_write(program, region, CHUNK_METERS, &body, last))
        metric_records_pending(region);
    encoder_free(&body);
}

/* Reads all regions.  last: nothing more will come. */
static void profile_reader_now(struct captured_program *program, struct tsc_clock *ticks, bool last)
{
    if (!program->regions)
        return;
    struct region_moment moment = region_reader_now(ticks, true);
    for (struct region_reader *r = program->regions; r; r = r->next)
        profile_reader_read_one(program, r, &moment, last);
}

/* Threads with queues that are gone: nothing more comes from them. */
static void profile_reader_drop_ended(struct captured_program *program, struct tsc_clock *ticks)
{
    struct map live = program_poll_live_threads(program);
    for (struct region_reader **at = &program->regions, *r; (r = *at) != NULL;) {
        if (map_get(&live, r->thread, 0)) {
            at = &r->next;
            continue;
        }
        struct region_moment moment = region_reader_now(ticks, true);
        profile_reader_read_one(program, r, &moment, false);
        *at = r->next;
        program->region_count--;
        region_reader_free(r);
    }
    map_free(&live);
}

/* Reads the regions that are due, and reads and frees those of threads that have ended. */
static void profile_reader_poll(struct captured_program *program, struct tsc_clock *ticks)
{
    uint64_t now = program->regions ? loop_clock_ns() : 0;
    bool asked = program->sums_wanted, due = now >= program->sums_ns;
    if (!program->regions || (!asked && !due))
        return;
    program->sums_wanted = false;
    program->sums_bytes = 0;
    profile_reader_drop_ended(program, ticks);
    struct region_moment moment = region_reader_now(ticks, asked);
    for (struct region_reader *r = program->regions; r; r = r->next)
        profile_reader_read_one(program, r, &moment, false);
    uint64_t pause = program->sums_bytes * PROFILE_READ_NS_PER_BYTE;
    program->sums_ns = now + (pause > PROFILE_READ_INTERVAL_NS ? pause : PROFILE_READ_INTERVAL_NS);
}

/* ---- queues ----
 *
 * A round copies the slots, checks them as far as writing requires, writes them, and frees their
 * room. */

#define ROUND_SLOTS 16384u /* of all queues of a program together */
#define ROUND_LEAST 64u /* of one of them */
#define LEAST_BYTES (128u << 10) /* of the journal: the longest record fits */

struct poll_batch {
    struct captured_program *program;
    struct poll_buffers *buffers;
    struct journal_room room; /* bytes 0: none was taken */
    size_t used;
    struct shared_queue *first; /* of the slots in it */
    uint64_t horizon; /* nothing later is taken */
    uint32_t clock; /* by which */
};

/* ---- what there is in the queues ---- */

/* How many slots there are. */
static uint64_t queue_poll_check_all(struct captured_program *program)
{
    uint64_t count = 0;
    program->full = 0;
    for (struct shared_queue *q = program->queues; q; q = q->next) {
        if (!shared_queue_available(q)) {
            atomic_store(&program->error, "inconsistent queue");
            return 0;
        }
        count += q->there;
        shared_queue_announce_space(q, !program->taking->unwritten);
        unsigned full = (unsigned)(q->there * 256 / q->slots);
        program->full = full > program->full ? full : program->full;
    }
    return count;
}

/* Adds up the counters that the threads keep in their queues. */
static void note_figures(struct captured_program *program)
{
    uint64_t figures[] = {program->waited_ns, program->dropped, program->unfollowed};
    for (const struct shared_queue *q = program->queues; q; q = q->next) {
        figures[0] += q->waited_ns;
        figures[1] += q->dropped;
        figures[2] += q->unfollowed;
    }
    for (size_t i = 0; i < 3; i++)
        if (figures[i] > atomic_load(&program->figures[i]))
            atomic_store(&program->figures[i], figures[i]);
}

/* Journals the number of untraced calls, which make answers uncertain: it must outlive the
 * server, at least roughly. */
static void note_unfollowed(struct captured_program *program)
{
    uint64_t now = atomic_load(&program->figures[2]);
    if (now < 2 * program->journalled + 1)
        return;
    struct encoder out = {0};
    encode_losses(&out,
                  &(struct losses_message){program->figures[0], program->figures[1], now, 0, 0, 0});
    if (journal_append(program->taking,
                       &(struct chunk){.kind = MESSAGE_LOSSES,
                                       .session = program->session,
                                       .data = out.data,
                                       .size = (uint32_t)out.size},
                       1, false))
        program->journalled = now;
    encoder_free(&out);
}

/* Those that come after it have their turn. */
static void queue_poll_release_followers(struct captured_program *program,
                                         const struct shared_queue *gone)
{
    for (struct shared_queue *q = gone->followed ? program->queues : NULL; q; q = q->next)
        q->after = q->after == gone ? NULL : q->after;
}

/* A thread that continues in another queue counts as running until that queue is here: otherwise
 * it would be taken for one that has ended, and its measurements would not be read any more. */
static bool queue_poll_is_finished(const struct shared_queue *q)
{
    return q->done && (!q->continued || q->followed) && q->tail == atomic_load(&q->head->head);
}

/* True if there are others to be looked at now. */
static bool drop_done(struct captured_program *program)
{
    bool released = false;
    for (struct shared_queue **at = &program->queues, *q; (q = *at) != NULL;) {
        if (queue_poll_is_finished(q)) {
            *at = q->next;
            program->queue_count--;
            program->waited_ns += q->waited_ns;
            program->dropped += q->dropped;
            program->unfollowed += q->unfollowed;
            released |= q->followed;
            queue_poll_release_followers(program, q);
            shared_queue_free(q);
        } else {
            at = &q->next;
        }
    }
    return released;
}

/* ---- capturing slots ---- */

static void queue_poll_release_slots(struct poll_batch *batch, const struct shared_queue *end,
                                     bool taken)
{
    for (struct shared_queue *q = batch->first; q != end; q = q->next) {
        shared_queue_announce_space(q, taken);
        if (q->copied && taken) {
            q->tail += q->copied;
            q->there -= q->copied;
            shared_queue_release(q);
        }
        q->copied = 0;
    }
    batch->first = (struct shared_queue *)(uintptr_t)end;
    batch->used = 0;
    batch->room.bytes = 0;
}

/* Writes what is in the batch, of the queues before `end`; false: there is no room. */
static bool write_batch(struct poll_batch *batch, const struct shared_queue *end)
{
    struct capture *taking = batch->program->taking;
    bool fits =
        !batch->used || tracefile_write(taking->trace, batch->buffers->buffer, batch->used, false);
    if (batch->used && journal_check_written(taking, fits, batch->used))
        batch->buffers->buffer =
            handoff_queue_push(&taking->hand,
                               (struct handoff_extent){.at = batch->room.at,
                                                       .size = batch->used,
                                                       .epoch = batch->room.epoch,
                                                       .buffer = true,
                                                       .taken_ns = loop_clock_ns()},
                               batch->buffers->buffer);
    queue_poll_release_slots(batch, end, fits);
    return fits;
}

/* What is in the batch is written before. */
static bool describe_first(struct poll_batch *batch, const struct shared_queue *q, size_t count)
{
    return write_batch(batch, q) &&
           journal_write_descriptions(batch->program->taking, batch->buffers->slots, count, NULL);
}

static bool open_batch(struct poll_batch *batch)
{
    struct capture *taking = batch->program->taking;
    if (batch->room.bytes)
        return true;
    bool fits = tracefile_begin(taking->trace, LEAST_BYTES, false, &batch->room);
    if (batch->room.bytes > HANDOFF_BUFFER_BYTES)
        batch->room.bytes = HANDOFF_BUFFER_BYTES;
    if (!fits) {
        batch->room.bytes = 0;
        journal_check_written(taking, false, LEAST_BYTES);
    }
    return fits;
}

#define SPARE_BYTES (CHUNK_HEAD_BYTES + SLOT_CODEC_SPARE_BYTES)

/* Some slots of a queue, as many as fit behind what is in the batch; what they are. */
static unsigned copy_one(struct poll_batch *batch, const struct shared_queue *q, size_t most,
                         size_t *count)
{
    uint64_t left = batch->room.bytes - batch->used;
    unsigned what = 0;
    *count = 0;
    if (left >= SPARE_BYTES + SLOT_BYTES)
        *count = shared_queue_copy(
            q, batch->buffers->slots,
            &(struct shared_queue_request){
                .most = most,
                .room = (left - SPARE_BYTES) / SLOT_BYTES,
                .horizon = q->head->clock == batch->clock ? batch->horizon : UINT64_MAX,
                .ticks = &batch->buffers->ticks},
            &what);
    return what;
}

static void add_chunk(struct poll_batch *batch, struct shared_queue *q, size_t count)
{
    uint8_t *head = batch->buffers->buffer + batch->used, *data = head + CHUNK_HEAD_BYTES;
    size_t size = slot_codec_encode(data, batch->buffers->slots, count);
    unsigned kind = size ? CHUNK_SLOTS : MESSAGE_SLOTS;
    if (!size) {
        size = count * SLOT_BYTES;
        memcpy(data, batch->buffers->slots, size);
    }
    chunk_head(head, &(struct chunk){.kind = (uint16_t)kind,
                                     .session = batch->program->session,
                                     .thread = q->thread,
                                     .epoch = batch->room.epoch,
                                     .data = data,
                                     .size = (uint32_t)size});
    batch->used += CHUNK_HEAD_BYTES + size;
    q->copied = count;
}

/* About `most` slots of one queue; false: there is no room on the disk. */
static bool queue_poll_take_some(struct poll_batch *batch, struct shared_queue *q, size_t most)
{
    for (;;) {
        size_t count;
        bool any = false;
        if (!open_batch(batch))
            return false;
        unsigned what = copy_one(batch, q, most, &count);
        if (what & SLOTS_DESCRIBE)
            journal_write_descriptions(batch->program->taking, batch->buffers->slots, count, &any);
        if (any && !describe_first(batch, q, count))
            return false;
        if (any)
            continue; /* the journal has moved on */
        if (count)
            add_chunk(batch, q, count);
        if (what & SLOTS_BROKEN) /* nothing behind it can be read */
            atomic_store(&batch->program->error, "a slot announces more data than follows");
        if (count)
            return true;
        if (!write_batch(batch, q))
            return false;
    }
}

/* If a round cannot hold all slots, all threads are captured up to one time, since events of one
 * thread are pending until earlier ones of others are there.  That time is the earliest to which
 * a thread's share of the round reaches. */
static void set_horizon(struct poll_batch *batch, size_t most)
{
    const struct shared_queue *q = batch->program->queues;
    uint64_t first, last;
    batch->clock = q->head->clock;
    for (; q; q = q->next)
        if (q->there > most && q->head->clock == batch->clock &&
            shared_queue_times(q, most, &first, &last) && last < batch->horizon)
            batch->horizon = last;
}

static bool is_later(const struct poll_batch *batch, const struct shared_queue *q)
{
    uint64_t first, last;
    return batch->horizon != UINT64_MAX && q->head->clock == batch->clock &&
           shared_queue_times(q, ROUND_LEAST, &first, &last) && first > batch->horizon;
}

/* Those that share a round; of a thousand threads that have done little, each is taken as a whole
 * beside it. */
static size_t count_busy(const struct captured_program *program)
{
    size_t count = 0;
    for (const struct shared_queue *q = program->queues; q; q = q->next)
        count += q->there > ROUND_LEAST;
    return count ? count : 1;
}

/* Returns whether several threads have slots: a single one need not wait for others, and
 * searching its times is slow. */
static bool queue_poll_several_ready(const struct captured_program *program)
{
    size_t count = 0;
    for (const struct shared_queue *q = program->queues; q && count < 2; q = q->next)
        count += q->there > 0;
    return count > 1;
}

static enum poll_result queue_poll_take_slots(struct captured_program *program, uint64_t slots,
                                              struct poll_buffers *buffers)
{
    struct poll_batch batch = {
        .program = program, .buffers = buffers, .first = program->queues, .horizon = UINT64_MAX};
    size_t most = slots <= ROUND_SLOTS ? ROUND_SLOTS : ROUND_SLOTS / count_busy(program);
    most = most > ROUND_LEAST ? most : ROUND_LEAST;
    bool fits = true;
    if (slots > ROUND_SLOTS && queue_poll_several_ready(program))
        set_horizon(&batch, most);
    for (struct shared_queue *q = program->queues; q && fits; q = q->next)
        fits = !q->there || is_later(&batch, q) || queue_poll_take_some(&batch, q, most);
    if (!fits)
        queue_poll_release_slots(&batch, NULL, false);
    if (!fits || !write_batch(&batch, NULL))
        return POLL_DISK_FULL;
    for (const struct shared_queue *q = program->queues; q; q = q->next)
        if (q->there)
            return POLL_MORE;
    return POLL_DRAINED;
}

/* ---- rounds ---- */

void poll_buffers_begin(struct poll_buffers *buffers)
{
    buffers->buffer = handoff_buffer_acquire();
    buffers->slots = xaligned_alloc(64, POLL_SLOTS * SLOT_BYTES);
}

void poll_buffers_end(struct poll_buffers *buffers)
{
    handoff_buffer_release(buffers->buffer);
    free(buffers->slots);
}

enum poll_result program_poll(struct captured_program *program, struct poll_buffers *buffers)
{
    enum poll_result taken = POLL_DRAINED;
    if (atomic_load(&program->error))
        return POLL_DRAINED;
    uint64_t slots = queue_poll_check_all(program);
    if (slots)
        taken = capture_is_ahead(program->taking) ? POLL_AHEAD
                                                  : queue_poll_take_slots(program, slots, buffers);
    note_figures(program);
    note_unfollowed(program);
    bool others = drop_done(program);
    call_record_poll(program, &buffers->ticks);
    placement_reader_poll(program, &buffers->ticks);
    profile_reader_poll(program, &buffers->ticks);
    return others && taken == POLL_DRAINED ? POLL_MORE : taken;
}

void program_poll_profiles(struct captured_program *program, struct poll_buffers *buffers,
                           bool last)
{
    if (last) {
        call_record_finish(program, &buffers->ticks);
        placement_reader_poll(program, &buffers->ticks);
    }
    profile_reader_now(program, &buffers->ticks, last);
}
