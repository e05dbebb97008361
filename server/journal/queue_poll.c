/* One round over the queues of a program: copies the slots, checks them as far as writing
 * requires, writes them, and frees their room. */
#define _GNU_SOURCE
#include "server/eventloop/loop_turn.h"
#include "base/alloc.h"
#include "server/tracefile/slot_compression.h"
#include "server/journal/journal_write.h"
#include "server/journal/queue_poll.h"
#include "server/journal/placement_reader.h"
#include "server/journal/call_record_reader.h"
#include "server/journal/profile_reader.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <stdlib.h>
#include <string.h>

#define ROUND_SLOTS 16384u /* of all queues of a program together */
#define ROUND_LEAST 64u /* of one of them */
#define LEAST_BYTES (128u << 10) /* of the journal: the longest record fits */

struct poll_batch {
    struct captured_program *program;
    struct poll_buffers *buffers;
    struct journal_room room; /* bytes 0: none was taken */
    size_t used;
    struct shared_queue *first; /* whose slots are in it */
    uint64_t horizon; /* nothing later is taken */
    uint32_t clock; /* by which */
};

/* ---- looking ---- */

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
                  &(struct losses_message){program->figures[0], program->figures[1], now, 0, 0});
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

/* ---- taking ---- */

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

enum poll_result queue_poll(struct captured_program *program, struct poll_buffers *buffers)
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
    call_record_reader_poll(program, &buffers->ticks);
    placement_reader_poll(program, &buffers->ticks);
    profile_reader_poll(program, &buffers->ticks);
    return others && taken == POLL_DRAINED ? POLL_MORE : taken;
}
