#include "server/cuts/cut_state.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/cuts/cut_info.h"
#include "server/run/call_sites.h"

#include <stdlib.h>

#define SLICE 4096u /* events of one unit of work */
#define ENTERED_EVENTS 100000u /* events of an object that are examined for threads in it */

struct cut_state_job {
    const struct run *run;
    const struct consistent_cut *cut;
    bool whole; /* all events are in the cut */
    struct cut_state state;
    enum {
        STATE_PREFIX,
        STATE_REST,
        STATE_THREADS,
        STATE_OBJECTS,
        STATE_LINKING,
        STATE_DONE
    } stage;
    uint64_t at; /* progress of the stage: a position, a line */
    uint64_t *last; /* by line - 1: 1 + position of the thread's last event; 0: none */
    uint32_t lines;
    size_t hold_room, object_room, thread_room;
    struct map object_of; /* line -> 1 + index */
    struct order_event events[SLICE]; /* read ahead */
};

struct cut_state_job *cut_state_begin(const struct run *run, const struct consistent_cut *cut,
                                      bool whole)
{
    struct cut_state_job *job = xcalloc(1, sizeof *job);
    job->run = run;
    job->cut = cut;
    job->whole = whole;
    job->lines = order_line_count(run->order);
    job->last = xcalloc(job->lines + 1u, sizeof *job->last);
    job->at = order_first(run->order);
    return job;
}

const struct cut_state *cut_state_result(const struct cut_state_job *job) { return &job->state; }

void cut_state_free(struct cut_state_job *job)
{
    if (!job)
        return;
    free(job->state.threads);
    free(job->state.holds);
    free(job->state.objects);
    free(job->last);
    map_free(&job->object_of);
    free(job);
}

static const struct target_event *cut_state_look(const struct run *run, const struct order_event *e)
{
    return e->line && !(e->line & HIDDEN_LINE)
               ? run_event_type(run, e->line, e->type, (enum relation)e->relation)
               : NULL;
}

static struct cut_object *cut_state_object(struct cut_state_job *job, uint32_t line)
{
    struct cut_state *s = &job->state;
    size_t count = s->object_count;
    struct cut_object *object =
        MAP_ITEM(&job->object_of, line, 0, s->objects, count, job->object_room,
                 (struct cut_object){.line = line, .last = NO_POSITION});
    s->object_count = (uint32_t)count;
    return object;
}

/* ---- messages ---- */

struct cut_receives {
    const struct consistent_cut *cut;
    uint64_t inside, outside;
};

static void cut_state_note_receive(void *context, uint64_t receive)
{
    struct cut_receives *r = context;
    if (consistent_cut_contains(r->cut, receive))
        r->inside++;
    else
        r->outside++;
}

/* Counts a send in the cut that no event in the cut receives. */
static void cut_state_note_send(struct cut_state_job *job, uint64_t position,
                                const struct order_event *e)
{
    const struct target_event *look = e->about ? cut_state_look(job->run, e) : NULL;
    struct cut_receives r = {.cut = job->cut};
    if (!look || !look->has_presence || look->relation != RELATION_SEND || e->about > job->lines)
        return;
    order_receives(job->run->order, position, cut_state_note_receive, &r);
    if (r.inside)
        return;
    struct cut_object *object = cut_state_object(job, e->about);
    object->in_flight += r.outside > 0;
    object->unreceived += r.outside == 0;
}

/* ---- events ---- */

static void cut_state_note_event(struct cut_state_job *job, uint64_t position,
                                 const struct order_event *e)
{
    if (!e->line || e->line & HIDDEN_LINE || e->state != EVENT_ORDERED)
        return;
    job->state.events++;
    if (e->thread && e->thread <= job->lines)
        job->last[e->thread - 1] = position + 1;
    if (e->sends)
        cut_state_note_send(job, position, e);
}

/* Reads the events up to a position: of the prefix all are in the cut. */
static bool cut_state_read(struct cut_state_job *job, uint64_t end, bool all, uint64_t *budget)
{
    while (job->at < end && *budget) {
        uint64_t most = end - job->at < SLICE ? end - job->at : SLICE;
        size_t count = order_read(job->run->order, job->at, (size_t)most, job->events);
        for (size_t i = 0; i < count; i++)
            if (all || consistent_cut_contains(job->cut, job->at + i))
                cut_state_note_event(job, job->at + i, &job->events[i]);
        job->at += count;
        *budget -= count / 8 + 1 < *budget ? count / 8 + 1 : *budget;
    }
    return job->at >= end;
}

/* ---- threads ---- */

static bool cut_state_has_ended(const struct order_event *e, uint32_t line,
                                const struct target_event *look)
{
    return look && e->line == line &&
           (look->closes || (look->has_presence && look->own &&
                             look->presence == OCCUPANCY_BLOCKED && !look->waits && !look->opens));
}

static void cut_state_add_thread(struct cut_state_job *job, struct cut_thread thread)
{
    struct cut_state *s = &job->state;
    s->threads =
        array_reserve(s->threads, &job->thread_room, s->thread_count + 1, sizeof *s->threads);
    s->threads[s->thread_count++] = thread;
}

/* Adds the thread of a line that acts in the run, unless it does not exist yet. */
static void cut_state_check_thread(struct cut_state_job *job, uint32_t line)
{
    const struct order *order = job->run->order;
    uint64_t own = NO_POSITION, last = job->last[line - 1] ? job->last[line - 1] - 1 : NO_POSITION;
    if (!order_line_shared(order, line))
        own = consistent_cut_last(job->cut, line);
    struct order_event at_own =
        own == NO_POSITION ? (struct order_event){0} : order_event(order, own);
    const struct target_event *look = cut_state_look(job->run, &at_own);
    bool created = look && look->opens && look->own; /* it may never act */
    if ((order_thread_last(order, line) == NO_POSITION && !created) ||
        (own == NO_POSITION && last == NO_POSITION))
        return;
    struct cut_thread thread = {.line = line, .state = CUT_THREAD_RUNNING};
    if (cut_state_has_ended(&at_own, line, look) || last == NO_POSITION) {
        thread.state = look && look->opens ? CUT_THREAD_CREATED : CUT_THREAD_EXITED;
        thread.last = own;
        thread.look = look;
        cut_state_add_thread(job, thread);
        return;
    }
    struct order_event e = order_event(order, last);
    look = cut_state_look(job->run, &e);
    thread.last = last;
    thread.look = look;
    thread.about = e.about && e.about <= job->lines ? e.about : e.line != line ? e.line : 0;
    bool over = job->whole && run_exited(job->run, line) && !cut_info_continues(job->run, line);
    thread.state = look && look->waits ? CUT_THREAD_BLOCKED
                   : over              ? CUT_THREAD_EXITED
                                       : CUT_THREAD_RUNNING;
    cut_state_add_thread(job, thread);
}

/* ---- objects ---- */

/* Sets *presence to what an event makes of its thread on its line; false: nothing. */
static bool cut_state_presence(const struct run *run, const struct order_event *e,
                               enum occupancy *presence)
{
    const struct target_event *look = cut_state_look(run, e);
    if (!look || !look->has_presence || look->own)
        return false;
    *presence = look->presence;
    return true;
}

struct cut_occupants {
    struct map seen; /* thread -> non-NULL: its last event with an effect was found */
    uint32_t first; /* of the holds of the line */
    unsigned waiting; /* for the event by which they entered */
};

/* Examines an event of an object, backwards. */
static void cut_state_note_occupant(struct cut_state_job *job, struct cut_occupants *in,
                                    uint64_t position, const struct order_event *e)
{
    struct cut_state *s = &job->state;
    enum occupancy presence;
    if (e->state != EVENT_ORDERED || !e->thread || !cut_state_presence(job->run, e, &presence))
        return;
    uintptr_t known = (uintptr_t)map_get(&in->seen, e->thread, 0);
    if (!known) {
        const struct target_event *look = cut_state_look(job->run, e);
        map_put(&in->seen, e->thread, 0, (void *)(uintptr_t)(presence == OCCUPANCY_OUT ? 1 : 2));
        if (presence == OCCUPANCY_OUT)
            return;
        s->holds = array_reserve(s->holds, &job->hold_room, s->hold_count + 1, sizeof *s->holds);
        s->holds[s->hold_count++] = (struct cut_hold){.thread = e->thread,
                                                      .line = e->line,
                                                      .presence = presence,
                                                      .waits = look->waits && look->releases,
                                                      .since = position};
        in->waiting++;
        return;
    }
    for (uint32_t i = in->first; known == 2 && i < s->hold_count; i++)
        if (s->holds[i].thread == e->thread && presence != OCCUPANCY_OUT)
            s->holds[i].since = position;
    if (known == 2 && presence == OCCUPANCY_OUT) {
        map_put(&in->seen, e->thread, 0, (void *)1);
        in->waiting--;
    }
}

/* Returns how many threads are in a line after an event of the prefix. */
static uint32_t cut_state_inside(const struct order_event *e)
{
    return (uint32_t)e->in.active + e->in.blocked + e->in.away;
}

/* Finds the threads in an object: by the last event of each, from the last one in the cut back. */
static void cut_state_find_occupants(struct cut_state_job *job, uint32_t line, uint64_t *budget)
{
    const struct order *order = job->run->order;
    struct cut_occupants in = {.first = job->state.hold_count};
    uint64_t first = order_line_first(order, line), low = consistent_cut_low(job->cut),
             n = order_line_from(order, line, consistent_cut_high(job->cut)), last = NO_POSITION;
    bool empty = false, shared = order_line_shared(order, line);
    unsigned looks = 0;
    for (; n > first && looks < ENTERED_EVENTS; n--) {
        uint64_t p = order_line_at(order, line, n - 1);
        if (p == NO_POSITION || !consistent_cut_contains(job->cut, p))
            continue;
        struct order_event e = order_event(order, p);
        last = last == NO_POSITION ? p : last;
        /* no thread was in it then, and each that entered since was seen */
        empty = (p < low || !shared) && cut_state_inside(&e) == 0;
        if (empty && !in.waiting)
            break;
        cut_state_note_occupant(job, &in, p, &e);
        looks++;
        if (empty)
            break;
    }
    *budget -= looks < *budget ? looks : *budget;
    if (last != NO_POSITION && job->state.hold_count > in.first) {
        struct cut_object *object = cut_state_object(job, line);
        object->unknown = n > first && !empty;
        object->last = last;
    }
    map_free(&in.seen);
}

/* The events of one type on a semaphore's line, which are counted before it is known which of them
 * post and which acquire. */
struct cut_units {
    uint64_t *counts; /* by type */
    uint32_t types;
    uint64_t last; /* position of the last event */
};

static void cut_state_count_types(const struct cut_state_job *job, uint32_t line,
                                  struct cut_units *units)
{
    const struct order *order = job->run->order;
    uint64_t end = order_line_from(order, line, consistent_cut_high(job->cut));
    for (uint64_t n = order_line_first(order, line); n < end; n++) {
        uint64_t p = order_line_at(order, line, n);
        if (p == NO_POSITION || !consistent_cut_contains(job->cut, p))
            continue;
        struct order_event e = order_event(order, p);
        units->last = p;
        if (e.state == EVENT_ORDERED && e.type < units->types)
            units->counts[e.type]++;
    }
}

/* Counts the units of a semaphore: by events after which others come, and these. */
static void cut_state_count_units(struct cut_state_job *job, uint32_t line, uint64_t *budget)
{
    const struct run *run = job->run;
    struct cut_units units = {.types = (uint32_t)run->types.count + 1, .last = NO_POSITION};
    units.counts = xcalloc(units.types, sizeof *units.counts);
    cut_state_count_types(job, line, &units);
    struct cut_object *object = units.last == NO_POSITION ? NULL : cut_state_object(job, line);
    for (uint32_t type = 1; object && type < units.types; type++) {
        const struct target_event *look =
            units.counts[type] ? run_event_type(run, line, type, RELATION_NONE) : NULL;
        if (!look || !look->after.count)
            continue;
        object->counts = true;
        object->acquired += units.counts[type];
        for (uint32_t post = 1; post < units.types; post++)
            if (target_has_line_type(&look->after, run_type_name(run, post)))
                object->posted += units.counts[post];
    }
    if (object)
        object->last = units.last;
    free(units.counts);
    uint64_t spent = order_line_events(run->order, line) / 8;
    *budget -= spent < *budget ? spent : *budget;
}

static void cut_state_check_object(struct cut_state_job *job, uint32_t line, uint64_t *budget)
{
    const struct order *order = job->run->order;
    if (order_line_is_evicted(order, line) || order_line_events(order, line) == 0 ||
        order_thread_last(order, line) != NO_POSITION)
        return;
    const struct target_line_type *type =
        run_line_type(job->run, run_line_at(job->run, line)->kind);
    if (type && type->category == CATEGORY_SEMAPHORE)
        cut_state_count_units(job, line, budget); /* a thread in it holds nothing */
    else
        cut_state_find_occupants(job, line, budget);
}

/* ---- threads and objects together ---- */

/* A lock that no thread holds is being acquired, not waited for. */
static void cut_state_link_thread(struct cut_state_job *job, struct cut_thread *thread)
{
    if (thread->state != CUT_THREAD_BLOCKED || !thread->about)
        return;
    bool lock = thread->look->waits_as == WAITS_EXCLUSION, held = false;
    for (uint32_t i = 0; lock && !held && i < job->state.hold_count; i++)
        held = job->state.holds[i].line == thread->about && !job->state.holds[i].waits &&
               job->state.holds[i].thread != thread->line;
    if (lock && !held && order_line_events(job->run->order, thread->about)) {
        thread->state = CUT_THREAD_RUNNING;
        return;
    }
    cut_state_object(job, thread->about)->waiters++;
}

static int by_line(const void *a, const void *b)
{
    const struct cut_object *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void cut_state_link(struct cut_state_job *job)
{
    struct cut_state *s = &job->state;
    for (uint32_t i = 0; i < s->hold_count; i++)
        cut_state_object(job, s->holds[i].line)->holders += !s->holds[i].waits;
    for (uint32_t i = 0; i < s->thread_count; i++)
        cut_state_link_thread(job, &s->threads[i]);
    for (uint32_t i = 0; i < s->object_count; i++) {
        struct cut_object *object = &s->objects[i];
        if (object->last == NO_POSITION && !order_line_shared(job->run->order, object->line))
            object->last = consistent_cut_last(job->cut, object->line);
    }
    if (s->object_count)
        qsort(s->objects, s->object_count, sizeof *s->objects, by_line);
}

/* ---- steps ---- */

static bool cut_state_step_stage(struct cut_state_job *job, uint64_t *budget)
{
    switch (job->stage) {
    case STATE_PREFIX:
        if (!cut_state_read(job, consistent_cut_low(job->cut), true, budget))
            return false;
        break;
    case STATE_REST:
        if (!cut_state_read(job, consistent_cut_high(job->cut), false, budget))
            return false;
        job->at = 0;
        break;
    case STATE_THREADS:
        for (; job->at < job->lines && *budget; --*budget)
            cut_state_check_thread(job, (uint32_t)++job->at);
        if (job->at < job->lines)
            return false;
        job->at = 0;
        break;
    case STATE_OBJECTS:
        while (job->at < job->lines && *budget) {
            cut_state_check_object(job, (uint32_t)++job->at, budget);
            *budget -= *budget > 0;
        }
        if (job->at < job->lines)
            return false;
        break;
    default:
        cut_state_link(job);
    }
    job->stage++;
    return true;
}

bool cut_state_step(struct cut_state_job *job, uint64_t *budget)
{
    while (job->stage != STATE_DONE && *budget && cut_state_step_stage(job, budget))
        ;
    return job->stage == STATE_DONE;
}
