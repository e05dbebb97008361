/* One round over the queues of a program: copied, checked as far as it must be before it can be written,
 * written; then the room is given back. */
#define _GNU_SOURCE
#include "server/loop/turn.h"
#include "memory/memory.h"
#include "server/taking/journal.h"
#include "server/taking/round.h"
#include "wire/message.h"
#include "wire/text.h"
#include "wire/told.h"

#include <stdlib.h>
#include <string.h>

#define ROUND_SLOTS 16384u /* of all queues of a program together */
#define ROUND_LEAST 64u /* of one of them */
#define LEAST_BYTES (128u << 10) /* of the journal: the longest record fits */

struct batch {
    struct program *program;
    struct ticks *ticks;
    uint8_t **buffer;
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

/* True if there are others to be looked at now. */
static bool drop_done(struct program *program)
{
    bool released = false;
    for (struct queue **at = &program->queues, *q; (q = *at) != NULL;) {
        if (q->done && q->tail == atomic_load(&q->head->head)) {
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
    bool fits = !batch->used || tracefile_write(taking->trace, *batch->buffer, batch->used, false);
    if (batch->used && written(taking, fits, batch->used))
        *batch->buffer = hand_put(&taking->hand,
                                  (struct stretch){.at = batch->room.at,
                                                   .size = batch->used,
                                                   .epoch = batch->room.epoch,
                                                   .buffer = true,
                                                   .taken_ns = turn_clock_ns()},
                                  *batch->buffer);
    give_room(batch, end, fits);
    return fits;
}

/* Does for each environment that is named and that the journal does not have; false: there is no room for it. */
static bool describe(struct taking *taking, const struct slot *slots, size_t count, bool *any)
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

/* They are copied first: the batch that they lie in is written before. */
static bool describe_first(struct batch *batch, const struct queue *q, const struct slot *slots,
                           size_t count)
{
    struct slot *copy = memory_bytes(count * SLOT_BYTES);
    memcpy(copy, slots, count * SLOT_BYTES);
    bool fits = write_batch(batch, q) && describe(batch->program->taking, copy, count, NULL);
    free(copy);
    return fits;
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

static struct slot *slots_in(const struct batch *batch)
{
    return (struct slot *)(void *)(*batch->buffer + batch->used + CHUNK_HEAD_BYTES);
}

/* Some slots of a queue behind what is in the batch; what they are. */
static unsigned copy_one(struct batch *batch, const struct queue *q, size_t most, size_t *count)
{
    uint64_t left = batch->room.bytes - batch->used;
    unsigned what = 0;
    *count = 0;
    if (left >= CHUNK_HEAD_BYTES + SLOT_BYTES)
        *count =
            queue_copy(q, slots_in(batch),
                       &(struct queue_want){
                           .most = most,
                           .room = (left - CHUNK_HEAD_BYTES) / SLOT_BYTES,
                           .horizon = q->head->clock == batch->clock ? batch->horizon : UINT64_MAX,
                           .ticks = batch->ticks},
                       &what);
    return what;
}

static void add_chunk(struct batch *batch, struct queue *q, size_t count)
{
    uint8_t *head = *batch->buffer + batch->used;
    chunk_head(head, &(struct chunk){.kind = MESSAGE_SLOTS,
                                     .session = batch->program->session,
                                     .thread = q->thread,
                                     .epoch = batch->room.epoch,
                                     .data = head + CHUNK_HEAD_BYTES,
                                     .size = (uint32_t)(count * SLOT_BYTES)});
    batch->used += CHUNK_HEAD_BYTES + count * SLOT_BYTES;
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
            describe(batch->program->taking, slots_in(batch), count, &any);
        if (any && !describe_first(batch, q, slots_in(batch), count))
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

static enum taken take(struct program *program, uint64_t slots, struct ticks *ticks,
                       uint8_t **buffer)
{
    struct batch batch = {.program = program,
                          .ticks = ticks,
                          .buffer = buffer,
                          .first = program->queues,
                          .horizon = UINT64_MAX};
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

enum taken round_over(struct program *program, struct ticks *ticks, uint8_t **buffer)
{
    enum taken taken = TAKEN_ALL;
    if (atomic_load(&program->error))
        return TAKEN_ALL;
    uint64_t slots = look_at_all(program);
    if (slots)
        taken = taking_ahead(program->taking) ? TAKEN_AHEAD : take(program, slots, ticks, buffer);
    note_figures(program);
    note_unfollowed(program);
    bool others = drop_done(program);
    return others && taken == TAKEN_ALL ? TAKEN_MORE : taken;
}
