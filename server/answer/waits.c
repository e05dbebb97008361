/* Who waits for what at the end of what was recorded, who holds it, and who waits in a cycle: from the
 * last event of every thread, from who is in a line, and from what the descriptions say of the types.
 *
 * A thread waits if its last event, anywhere, is of a type that waits.  It waits for all that hold the
 * object, or, of a thread, for that one. */
#include "server/answer/desk.h"
#include "server/answer/event.h"
#include "server/answer/named.h"

#include "memory/memory.h"
#include "wire/found.h"

#include <stdlib.h>
#include <string.h>

struct waiter {
    uint32_t thread, about; /* lines; about 0: something that was not seen */
    uint32_t object; /* index; of the line that it is about */
    uint64_t position; /* of its last event */
    struct ref at;
    int64_t time_ns;
};

/* What is waited for: its holders. */
struct object {
    uint32_t first, count;
};

struct waits_job {
    const struct run *run;
    enum { COLLECTING, HOLDING, PRUNING, CHASING, DONE } stage;
    uint32_t lines, at; /* at: what the stage is at */
    uint8_t *is_thread; /* by line - 1 */
    uint32_t *waiter_of; /* by line - 1: 1 + index, 0 it does not wait */
    uint32_t *object_of; /* likewise */
    struct waiter *waiters;
    size_t count, room;
    struct object *objects;
    size_t object_count, object_room;
    struct shown_holder *holders;
    size_t holder_count, holder_room;
    /* Following "waits for" depth-first: */
    struct frame {
        uint32_t waiter, next; /* the blocker that is looked at next */
    } *way;
    uint32_t length;
    uint32_t
        *seen; /* by waiter: pruning, 1 under way, 2 done; chasing, 1 + whence it was seen last */
    uint8_t *reaches; /* by waiter: a cycle can be reached from it */
    uint32_t *cycles; /* each its length, then waiters */
    size_t cycle_words, cycle_room;
    size_t told; /* waiters */
};

static void *begin(struct desk *desk, struct in *in)
{
    if (!in_done(in))
        return NULL;
    struct waits_job *job = memory_zeroed(1, sizeof *job);
    job->run = desk->run;
    job->lines = order_lines(desk->run->order);
    job->is_thread = memory_zeroed(job->lines, sizeof *job->is_thread);
    job->waiter_of = memory_zeroed(job->lines, sizeof *job->waiter_of);
    job->object_of = memory_zeroed(job->lines, sizeof *job->object_of);
    return job;
}

/* ---- who waits ---- */

static const struct target_event *look_of(const struct waits_job *job, const struct event *e)
{
    return e->line ? run_look(job->run, e->line, e->type, (enum relation)e->relation) : NULL;
}

/* The last event of a thread; line 0: there is none, or it was forgotten. */
static struct event last_of(const struct waits_job *job, uint32_t thread, uint64_t *position)
{
    *position = order_thread_last(job->run->order, thread);
    return *position == NO_POSITION ? (struct event){0} : order_event(job->run->order, *position);
}

/* False: nobody acts on it.  A thread that ended waits no more, whatever it did last. */
static bool look_at(struct waits_job *job, uint32_t thread)
{
    uint64_t position = order_thread_last(job->run->order, thread);
    if (position == NO_POSITION)
        return false;
    if (order_line_closed(job->run->order, thread)) {
        job->is_thread[thread - 1] = true;
        return false;
    }
    struct event e = last_of(job, thread, &position);
    const struct target_event *look = look_of(job, &e);
    job->is_thread[thread - 1] = e.line != 0;
    if (!look || !look->waits)
        return true;
    uint32_t about = e.about ? e.about : e.line;
    job->waiters = grow(job->waiters, &job->room, job->count + 1, sizeof *job->waiters);
    job->waiters[job->count++] = (struct waiter){.thread = thread,
                                                 .about = about == thread ? 0 : about,
                                                 .position = position,
                                                 .at = {e.line, e.number},
                                                 .time_ns = e.time_ns};
    return true;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct waiter *)a)->time_ns, y = ((const struct waiter *)b)->time_ns;
    return x < y ? -1 : x > y;
}

static void sort(struct waits_job *job)
{
    if (job->count)
        qsort(job->waiters, job->count, sizeof *job->waiters, by_time);
    for (size_t i = 0; i < job->count; i++)
        job->waiter_of[job->waiters[i].thread - 1] = (uint32_t)i + 1;
    job->way = memory_zeroed(job->count, sizeof *job->way);
    job->seen = memory_zeroed(job->count, sizeof *job->seen);
    job->reaches = memory_zeroed(job->count, sizeof *job->reaches);
}

/* ---- who holds what they wait for ---- */

/* Does the thread hold the line that it is in?  One that is blocked in it does, unless what it waits by
 * lets others in. */
static bool holds(const struct waits_job *job, uint32_t thread, enum presence presence,
                  uint32_t line)
{
    uint64_t position;
    if (presence != PRESENCE_BLOCKED || !thread || thread > job->lines)
        return true;
    struct event e = last_of(job, thread, &position);
    const struct target_event *look = e.line == line ? look_of(job, &e) : NULL;
    return !look || !look->releases;
}

static void find_holders(struct waits_job *job, struct object *object, uint32_t line)
{
    uint32_t thread;
    enum presence presence;
    uint64_t since;
    for (size_t i = 0; order_line_inside(job->run->order, line, i, &thread, &presence, &since);
         i++) {
        if (thread == line || !holds(job, thread, presence, line))
            continue;
        job->holders =
            grow(job->holders, &job->holder_room, job->holder_count + 1, sizeof *job->holders);
        job->holders[job->holder_count++] = (struct shown_holder){thread, {line, since}};
        object->count++;
    }
}

static void note_object(struct waits_job *job, struct waiter *w)
{
    uint32_t line = w->about && w->about <= job->lines ? w->about : 0;
    if (!line || !job->object_of[line - 1]) {
        struct object object = {.first = (uint32_t)job->holder_count};
        if (line)
            find_holders(job, &object, line);
        job->objects =
            grow(job->objects, &job->object_room, job->object_count + 1, sizeof *job->objects);
        job->objects[job->object_count++] = object;
        if (line)
            job->object_of[line - 1] = (uint32_t)job->object_count;
        w->object = (uint32_t)job->object_count - 1;
    } else {
        w->object = job->object_of[line - 1] - 1;
    }
}

/* ---- cycles ---- */

/* Whom a waiter waits for, one after the other; 0: no more. */
static uint32_t blocker(const struct waits_job *job, const struct waiter *w, uint32_t i)
{
    const struct object *object = &job->objects[w->object];
    if (w->about && w->about <= job->lines && job->is_thread[w->about - 1])
        return i == 0 ? w->about : 0;
    return i < object->count ? job->holders[object->first + i].thread : 0;
}

/* The waiter among them; its index, or count. */
static uint32_t waiter_at(const struct waits_job *job, uint32_t line)
{
    uint32_t waiter = line <= job->lines ? job->waiter_of[line - 1] : 0;
    return waiter ? waiter - 1 : (uint32_t)job->count;
}

static void enter(struct waits_job *job, uint32_t waiter, uint32_t mark)
{
    job->seen[waiter] = mark;
    job->way[job->length++] = (struct frame){waiter, 0};
}

/* From which of them a cycle can be reached: most often from none, and then none is looked for. */
static bool prune(struct waits_job *job, uint64_t *budget)
{
    while (job->length || job->at < job->count) {
        if ((*budget)-- <= 1)
            return false;
        if (!job->length) {
            if (!job->seen[job->at])
                enter(job, job->at, 1);
            job->at++;
            continue;
        }
        struct frame *top = &job->way[job->length - 1];
        uint32_t by = blocker(job, &job->waiters[top->waiter], top->next++);
        uint32_t next = by ? waiter_at(job, by) : 0;
        if (!by) {
            job->seen[top->waiter] = 2;
            job->length--;
            if (job->length)
                job->reaches[job->way[job->length - 1].waiter] |= job->reaches[top->waiter];
        } else if (next < job->count && job->seen[next]) {
            job->reaches[top->waiter] |= job->seen[next] == 1 || job->reaches[next];
        } else if (next < job->count) {
            enter(job, next, 1);
        }
    }
    return true;
}

/* The way is one: each is told once, by the thread of the least line in it. */
static void add_cycle(struct waits_job *job)
{
    uint32_t least = job->waiters[job->way[0].waiter].thread;
    for (uint32_t i = 1; i < job->length; i++)
        if (job->waiters[job->way[i].waiter].thread < least)
            return;
    job->cycles = grow(job->cycles, &job->cycle_room, job->cycle_words + job->length + 1,
                       sizeof *job->cycles);
    job->cycles[job->cycle_words++] = job->length;
    for (uint32_t i = 0; i < job->length; i++)
        job->cycles[job->cycle_words++] = job->way[i].waiter;
}

/* From each of them the first way back to it. */
static bool chase(struct waits_job *job, uint64_t *budget)
{
    while (job->length || job->at < job->count) {
        if ((*budget)-- <= 1)
            return false;
        if (!job->length) {
            if (job->reaches[job->at])
                enter(job, job->at, job->at + 1);
            job->at++;
            continue;
        }
        struct frame *top = &job->way[job->length - 1];
        uint32_t goal = job->way[0].waiter;
        uint32_t by = blocker(job, &job->waiters[top->waiter], top->next++);
        uint32_t next = by ? waiter_at(job, by) : (uint32_t)job->count;
        if (!by) {
            job->length--;
        } else if (next == goal) {
            add_cycle(job);
            job->length = 0;
        } else if (next < job->count && job->reaches[next] && job->seen[next] != goal + 1) {
            enter(job, next, goal + 1);
        }
    }
    return true;
}

/* ---- the job ---- */

#define LOOKS 50u /* at lines on which nobody acts, for the price of an event */

static bool step_stage(struct waits_job *job, uint64_t *budget)
{
    switch (job->stage) {
    case COLLECTING:
        while (job->at < job->lines && *budget)
            *budget -= look_at(job, ++job->at) || job->at % LOOKS == 0;
        if (job->at < job->lines)
            return false;
        sort(job);
        return true;
    case HOLDING:
        for (; job->at < job->count && *budget; --*budget)
            note_object(job, &job->waiters[job->at++]);
        return job->at == job->count;
    case PRUNING:
        if (!prune(job, budget))
            return false;
        memset(job->seen, 0, job->count * sizeof *job->seen);
        return true;
    default:
        return chase(job, budget);
    }
}

static bool step(void *p, uint64_t budget)
{
    struct waits_job *job = p;
    while (job->stage != DONE && budget && step_stage(job, &budget)) {
        job->stage++;
        job->at = 0;
    }
    return job->stage == DONE;
}

static void tell_wait(const struct waits_job *job, const struct waiter *w, struct reply *reply)
{
    const struct object *object = &job->objects[w->object];
    struct shown_wait wait = {
        .thread = w->thread,
        .about = w->about,
        .event = {.at = w->at, .position = NO_POSITION, .time_ns = w->time_ns},
        .holders = job->holders + object->first,
        .holder_count = object->count};
    named_note(w->thread);
    named_note(w->about);
    named_note(w->at.line);
    for (uint32_t i = 0; i < object->count; i++)
        named_note(wait.holders[i].thread); /* they came in by events of what is waited for */
    if (w->position >= order_first(job->run->order)) /* else it was forgotten meanwhile */
        wait.event = show(job->run, w->position);
    part_begin(reply, PART_WAIT);
    put_wait(reply->out, &wait);
    part_end(reply);
    show_free(&wait.event);
}

#define ENOUGH (128u << 10) /* bytes of one put */

static bool put(void *p, struct reply *reply)
{
    struct waits_job *job = p;
    size_t enough = reply->out->size + ENOUGH;
    while (job->told < job->count && reply->out->size < enough)
        tell_wait(job, &job->waiters[job->told++], reply);
    if (job->told < job->count)
        return false;
    for (size_t at = 0; at < job->cycle_words; at += 1 + job->cycles[at]) {
        part_begin(reply, PART_CYCLE);
        put_u32(reply->out, job->cycles[at]);
        for (uint32_t i = 1; i <= job->cycles[at]; i++) {
            const struct waiter *w = &job->waiters[job->cycles[at + i]];
            named_note(w->thread);
            named_note(w->about);
            put_u32(reply->out, w->thread);
            put_u32(reply->out, w->about);
        }
        part_end(reply);
    }
    part_begin(reply, PART_NOW);
    put_u64(reply->out, (uint64_t)job->run->last_ns);
    part_end(reply);
    return true;
}

static void free_job(void *p)
{
    struct waits_job *job = p;
    free(job->is_thread);
    free(job->waiter_of);
    free(job->object_of);
    free(job->waiters);
    free(job->objects);
    free(job->holders);
    free(job->way);
    free(job->seen);
    free(job->reaches);
    free(job->cycles);
    free(job);
}

const struct question question_waits = {
    .begin = begin, .step = step, .put = put, .free = free_job, .most = LIMIT_QUESTIONS};
