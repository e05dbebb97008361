/* One round over the queues of a program: copied, checked as far as it must be before it can be written,
 * written; then the room is given back. */
#define _GNU_SOURCE
#include "server/loop/turn.h"
#include "memory/memory.h"
#include "server/store/packed.h"
#include "server/taking/journal.h"
#include "server/taking/round.h"
#include "server/taking/carrying.h"
#include "server/taking/entering.h"
#include "server/taking/summing.h"
#include "wire/message.h"
#include "wire/told.h"

#include <stdlib.h>
#include <string.h>

#define ROUND_SLOTS 16384u /* of all queues of a program together */
#define ROUND_LEAST 64u /* of one of them */
#define LEAST_BYTES (128u << 10) /* of the journal: the longest record fits */

struct batch {
    struct program *program;
    struct desk *desk;
    struct journal_room room; /* bytes 0: none was taken */
    size_t used;
    struct queue *first; /* whose slots are in it */
    uint64_t horizon; /* nothing later is taken */
    uint32_t clock; /* by which */
};

/* ---- looking ---- */

/* How many slots there are. */
static uint64_t look_at_all(struct program *program)
{
    uint64_t count = 0;
    program->full = 0;
    for (struct queue *q = program->queues; q; q = q->next) {
        if (!queue_look(q)) {
            atomic_store(&program->error, "a queue that contradicts itself");
            return 0;
        }
        count += q->there;
        queue_say_room(q, !program->taking->unwritten);
        unsigned full = (unsigned)(q->there * 256 / q->slots);
        program->full = full > program->full ? full : program->full;
    }
    return count;
}

/* What the threads count themselves. */
static void note_figures(struct program *program)
{
    uint64_t figures[] = {program->waited_ns, program->dropped, program->unfollowed};
    for (const struct queue *q = program->queues; q; q = q->next) {
        figures[0] += q->waited_ns;
        figures[1] += q->dropped;
        figures[2] += q->unfollowed;
    }
    for (size_t i = 0; i < 3; i++)
        if (figures[i] > atomic_load(&program->figures[i]))
            atomic_store(&program->figures[i], figures[i]);
}

/* What was not followed is a reason to doubt answers: it must outlive the server, if roughly. */
static void note_unfollowed(struct program *program)
{
    uint64_t now = atomic_load(&program->figures[2]);
    if (now < 2 * program->journalled + 1)
        return;
    struct out out = {0};
    put_told_losses(&out,
                    &(struct told_losses){program->figures[0], program->figures[1], now, 0, 0});
    if (journal_put(program->taking,
                    &(struct chunk){.kind = MESSAGE_LOSSES,
                                    .session = program->session,
                                    .data = out.data,
                                    .size = (uint32_t)out.size},
                    1, false))
        program->journalled = now;
    out_free(&out);
}

/* Those that come after it have their turn. */
static void release(struct program *program, const struct queue *gone)
{
    for (struct queue *q = gone->followed ? program->queues : NULL; q; q = q->next)
        q->after = q->after == gone ? NULL : q->after;
}

/* A thread that goes on in another queue is not gone until that is here: it would be taken for one that has ended, and
 * what it measures would not be read any more. */
static bool is_over(const struct queue *q)
{
    return q->done && (!q->goes_on || q->followed) && q->tail == atomic_load(&q->head->head);
}

/* True if there are others to be looked at now. */
static bool drop_done(struct program *program)
{
    bool released = false;
    for (struct queue **at = &program->queues, *q; (q = *at) != NULL;) {
        if (is_over(q)) {
            *at = q->next;
            program->queue_count--;
            program->waited_ns += q->waited_ns;
            program->dropped += q->dropped;
            program->unfollowed += q->unfollowed;
            released |= q->followed;
            release(program, q);
            queue_free(q);
        } else {
            at = &q->next;
        }
    }
    return released;
}

/* ---- taking ---- */

static void give_room(struct batch *batch, const struct queue *end, bool taken)
{
    for (struct queue *q = batch->first; q != end; q = q->next) {
        queue_say_room(q, taken);
        if (q->copied && taken) {
            q->tail += q->copied;
            q->there -= q->copied;
            queue_give_room(q);
        }
        q->copied = 0;
    }
    batch->first = (struct queue *)(uintptr_t)end;
    batch->used = 0;
    batch->room.bytes = 0;
}

/* Writes what is in the batch, of the queues before `end`; false: there is no room. */
static bool write_batch(struct batch *batch, const struct queue *end)
{
    struct taking *taking = batch->program->taking;
    bool fits =
        !batch->used || tracefile_write(taking->trace, batch->desk->buffer, batch->used, false);
    if (batch->used && written(taking, fits, batch->used))
        batch->desk->buffer = hand_put(&taking->hand,
                                       (struct stretch){.at = batch->room.at,
                                                        .size = batch->used,
                                                        .epoch = batch->room.epoch,
                                                        .buffer = true,
                                                        .taken_ns = turn_clock_ns()},
                                       batch->desk->buffer);
    give_room(batch, end, fits);
    return fits;
}

/* What is in the batch is written before. */
static bool describe_first(struct batch *batch, const struct queue *q, size_t count)
{
    return write_batch(batch, q) &&
           journal_describe_all(batch->program->taking, batch->desk->slots, count, NULL);
}

static bool open_batch(struct batch *batch)
{
    struct taking *taking = batch->program->taking;
    if (batch->room.bytes)
        return true;
    bool fits = tracefile_begin(taking->trace, LEAST_BYTES, false, &batch->room);
    if (batch->room.bytes > BUFFER_BYTES)
        batch->room.bytes = BUFFER_BYTES;
    if (!fits) {
        batch->room.bytes = 0;
        written(taking, false, LEAST_BYTES);
    }
    return fits;
}

#define SPARE_BYTES (CHUNK_HEAD_BYTES + PACKED_SPARE_BYTES)

/* Some slots of a queue, as many as fit behind what is in the batch; what they are. */
static unsigned copy_one(struct batch *batch, const struct queue *q, size_t most, size_t *count)
{
    uint64_t left = batch->room.bytes - batch->used;
    unsigned what = 0;
    *count = 0;
    if (left >= SPARE_BYTES + SLOT_BYTES)
        *count =
            queue_copy(q, batch->desk->slots,
                       &(struct queue_want){
                           .most = most,
                           .room = (left - SPARE_BYTES) / SLOT_BYTES,
                           .horizon = q->head->clock == batch->clock ? batch->horizon : UINT64_MAX,
                           .ticks = &batch->desk->ticks},
                       &what);
    return what;
}

static void add_chunk(struct batch *batch, struct queue *q, size_t count)
{
    uint8_t *head = batch->desk->buffer + batch->used, *data = head + CHUNK_HEAD_BYTES;
    size_t size = packed_put(data, batch->desk->slots, count);
    unsigned kind = size ? CHUNK_SLOTS : MESSAGE_SLOTS;
    if (!size) {
        size = count * SLOT_BYTES;
        memcpy(data, batch->desk->slots, size);
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
static bool take_some(struct batch *batch, struct queue *q, size_t most)
{
    for (;;) {
        size_t count;
        bool any = false;
        if (!open_batch(batch))
            return false;
        unsigned what = copy_one(batch, q, most, &count);
        if (what & SLOTS_DESCRIBE)
            journal_describe_all(batch->program->taking, batch->desk->slots, count, &any);
        if (any && !describe_first(batch, q, count))
            return false;
        if (any)
            continue; /* the journal has moved on */
        if (count)
            add_chunk(batch, q, count);
        if (what & SLOTS_BROKEN) /* nothing behind it can be read */
            atomic_store(&batch->program->error, "a slot says that more follows than there is");
        if (count)
            return true;
        if (!write_batch(batch, q))
            return false;
    }
}

/* Where there is more than fits into a round, threads are taken as far as one time: what one did waits in the
 * order for what others did before.  That is the time which the one that goes on least would come to. */
static void set_horizon(struct batch *batch, size_t most)
{
    const struct queue *q = batch->program->queues;
    uint64_t first, last;
    batch->clock = q->head->clock;
    for (; q; q = q->next)
        if (q->there > most && q->head->clock == batch->clock &&
            queue_times(q, most, &first, &last) && last < batch->horizon)
            batch->horizon = last;
}

static bool is_later(const struct batch *batch, const struct queue *q)
{
    uint64_t first, last;
    return batch->horizon != UINT64_MAX && q->head->clock == batch->clock &&
           queue_times(q, ROUND_LEAST, &first, &last) && first > batch->horizon;
}

/* Those that share a round; of a thousand threads that have done little, each is taken as a whole beside it. */
static size_t count_busy(const struct program *program)
{
    size_t count = 0;
    for (const struct queue *q = program->queues; q; q = q->next)
        count += q->there > ROUND_LEAST;
    return count ? count : 1;
}

/* Several threads have something there: one alone waits for nobody, and to look for its times takes long. */
static bool several(const struct program *program)
{
    size_t count = 0;
    for (const struct queue *q = program->queues; q && count < 2; q = q->next)
        count += q->there > 0;
    return count > 1;
}

static enum taken take(struct program *program, uint64_t slots, struct desk *desk)
{
    struct batch batch = {
        .program = program, .desk = desk, .first = program->queues, .horizon = UINT64_MAX};
    size_t most = slots <= ROUND_SLOTS ? ROUND_SLOTS : ROUND_SLOTS / count_busy(program);
    most = most > ROUND_LEAST ? most : ROUND_LEAST;
    bool fits = true;
    if (slots > ROUND_SLOTS && several(program))
        set_horizon(&batch, most);
    for (struct queue *q = program->queues; q && fits; q = q->next)
        fits = !q->there || is_later(&batch, q) || take_some(&batch, q, most);
    if (!fits)
        give_room(&batch, NULL, false);
    if (!fits || !write_batch(&batch, NULL))
        return TAKEN_FULL;
    for (const struct queue *q = program->queues; q; q = q->next)
        if (q->there)
            return TAKEN_MORE;
    return TAKEN_ALL;
}

void desk_begin(struct desk *desk)
{
    desk->buffer = buffer_take();
    desk->slots = memory_aligned(64, DESK_SLOTS * SLOT_BYTES);
}

void desk_end(struct desk *desk)
{
    buffer_give(desk->buffer);
    free(desk->slots);
}

enum taken round_over(struct program *program, struct desk *desk)
{
    enum taken taken = TAKEN_ALL;
    if (atomic_load(&program->error))
        return TAKEN_ALL;
    uint64_t slots = look_at_all(program);
    if (slots)
        taken = taking_ahead(program->taking) ? TAKEN_AHEAD : take(program, slots, desk);
    note_figures(program);
    note_unfollowed(program);
    bool others = drop_done(program);
    entering_round(program, &desk->ticks);
    carrying_round(program, &desk->ticks);
    summing_round(program, &desk->ticks);
    return others && taken == TAKEN_ALL ? TAKEN_MORE : taken;
}
