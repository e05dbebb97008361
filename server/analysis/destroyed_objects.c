/* Synchronization objects that are destroyed while threads use them: a thread holds the object or
 * waits at it, uses it afterwards, or uses it in no order with its destruction.
 *
 * The last kind is reported only if no traced synchronization, including the hand-over of locks,
 * orders the two, and if the thread that destroys the object also initialized it: else a reference
 * count may order them that no event records. */
#include "base/alloc.h"
#include "base/map.h"
#include "server/analysis/findings.h"

#include <stdlib.h>

#define DESTROYED_USES_MOST 1000000u
#define DESTROYED_COMPARISONS_MOST 1000u
#define DESTROYED_REUSES_MOST 100u

struct destroyed_use {
    uint32_t thread, place, next; /* next: 1 + index of a use of the line; 0: none */
    uint32_t object; /* index */
    bool open; /* the thread holds the object, or waits at it, */
    uint64_t opened; /* since this position, NO_POSITION: never, */
    int64_t opened_ns, closed_ns; /* and from the one time to the other */
    uint32_t opened_place;
    uint64_t position;
    struct mhb_clock_mark mark;
};

struct destroyed_object {
    uint32_t line, first; /* 1 + index of a use */
    uint64_t signaled; /* 1 + position of the last signal; 0: none */
    struct sync_op end; /* its destruction; thread 0: none */
    uint32_t user; /* 1 + index of a use that was open then; 0: none */
    uint64_t used; /* when it began, and its call site */
    uint32_t used_place;
};

struct destroyed_reuse {
    struct sync_op is;
    bool began; /* the event that uses the object was fed */
};

struct destroyed_objects {
    struct destroyed_object *objects; /* of each line that is used */
    size_t object_count, object_room;
    struct destroyed_use *uses; /* the last one of each thread */
    size_t use_count, use_room;
    struct map object_of, use_of; /* line -> 1 + index; line and thread -> 1 + index */
    struct destroyed_reuse *reuses; /* of lines that were destroyed before */
    size_t reuse_count, reuse_room;
};

static struct destroyed_object *destroyed_object_get(struct destroyed_objects *d, uint32_t line)
{
    return MAP_ITEM(&d->object_of, line, 0, d->objects, d->object_count, d->object_room,
                    (struct destroyed_object){.line = line});
}

/* Returns the use of a line by a thread; NULL: there is none, and none is added. */
static struct destroyed_use *destroyed_use_get(struct destroyed_objects *d, uint32_t line,
                                               uint32_t thread, bool add)
{
    uintptr_t known = (uintptr_t)map_get(&d->use_of, line, thread);
    if (!known && add && d->use_count < DESTROYED_USES_MOST) {
        struct destroyed_object *o = destroyed_object_get(d, line);
        d->uses = array_reserve(d->uses, &d->use_room, d->use_count + 1, sizeof *d->uses);
        known = ++d->use_count;
        d->uses[known - 1] = (struct destroyed_use){.thread = thread,
                                                    .next = o->first,
                                                    .object = (uint32_t)(o - d->objects),
                                                    .opened = NO_POSITION};
        o->first = (uint32_t)known;
        map_put(&d->use_of, line, thread, (void *)known);
    }
    return known ? &d->uses[known - 1] : NULL;
}

/* Notes a use that was open at the time of the destruction; one by another thread if there is one.
 * Events in no order are not fed in that of their times. */
static void destroyed_object_find_user(const struct destroyed_objects *d,
                                       struct destroyed_object *o)
{
    int64_t at = o->end.time_ns;
    for (uint32_t i = o->first; i && !o->user; i = d->uses[i - 1].next) {
        const struct destroyed_use *use = &d->uses[i - 1];
        if (use->opened != NO_POSITION && use->opened_ns <= at &&
            (use->open || use->closed_ns > at) && (use->thread != o->end.thread || !use->next)) {
            o->user = i;
            o->used = use->opened;
            o->used_place = use->opened_place;
        }
    }
}

static void destroyed_objects_on_use(struct destroyed_objects *d, const struct sync_op *op)
{
    struct destroyed_use *use = destroyed_use_get(d, op->about, op->thread, true);
    for (size_t i = d->reuse_count; i-- > 0;)
        if (d->reuses[i].is.thread == op->thread && d->reuses[i].is.about == op->about &&
            !d->reuses[i].began) {
            d->reuses[i].is.position = op->position;
            d->reuses[i].is.place = op->place;
            d->reuses[i].began = true;
        }
    if (!use)
        return;
    struct destroyed_object *o = &d->objects[use->object];
    if (op->opens && !use->open) {
        use->opened = op->position;
        use->opened_ns = op->time_ns;
        use->opened_place = op->place;
    } else if (op->closes && use->open) {
        use->closed_ns = op->time_ns;
    }
    use->place = op->place;
    use->position = op->position;
    use->mark = op->mark;
    use->open = op->opens || (use->open && !op->closes);
    if (o->end.thread)
        destroyed_object_find_user(d, o);
    if (op->signals)
        o->signaled = op->position + 1;
}

static void destroyed_objects_feed(void *predictor, const struct sync_op *op)
{
    struct destroyed_objects *d = predictor;
    if (op->is == SYNC_OP_USE) {
        destroyed_objects_on_use(d, op);
    } else if (op->is == SYNC_OP_DESTROY) {
        struct destroyed_object *o = destroyed_object_get(d, op->about);
        o->end = *op;
        o->user = 0;
        destroyed_object_find_user(d, o);
    } else if (op->is == SYNC_OP_REUSE && d->reuse_count < DESTROYED_REUSES_MOST) {
        d->reuses = array_reserve(d->reuses, &d->reuse_room, d->reuse_count + 1, sizeof *d->reuses);
        d->reuses[d->reuse_count++] = (struct destroyed_reuse){*op, false};
    } else if (op->is == SYNC_OP_WOKEN) {
        struct destroyed_use *use = destroyed_use_get(d, op->about, op->thread, false);
        if (use && use->open) {
            use->open = false;
            use->closed_ns = op->time_ns;
        }
    }
}

/* ---- findings ---- */

/* Adds the finding of a destruction, which has only one; those at the same call sites are one. */
static void destroyed_objects_add(struct findings *findings, struct map *found,
                                  const struct sync_op *end, uint32_t line, uint32_t thread,
                                  uint32_t place, uint64_t position)
{
    if (map_get(found, end->position, 1))
        return;
    map_put(found, end->position, 1, found);
    uint64_t places = (uint64_t)end->place << 32 | place;
    if (findings_count_again(findings, found, places, 0))
        return;
    struct finding *f = findings_add(findings, FINDING_DESTROY_IN_USE);
    finding_add_event(f, end->thread, end->about, end->position);
    finding_add_event(f, thread, line, position);
    findings_remember_last(findings, found, places, 0);
}

static bool destroyed_objects_is_concurrent(const struct order *order, const struct sync_op *end,
                                            const struct destroyed_use *use)
{
    struct order_event a = order_event(order, use->position), b = order_event(order, end->position);
    return order_compare(order, (struct event_id){a.line, a.number},
                         (struct event_id){b.line, b.number}) == ORDER_CONCURRENT;
}

/* Returns the use by another thread that no synchronization orders; NULL: there is none. */
static const struct destroyed_use *
destroyed_objects_find_unordered(const struct destroyed_objects *d, const struct order *order,
                                 const struct destroyed_object *o, uint32_t *comparisons)
{
    for (uint32_t i = o->first; i; i = d->uses[i - 1].next) {
        const struct destroyed_use *use = &d->uses[i - 1];
        if (use->thread == o->end.thread || mhb_before(use->mark, o->end.mark))
            continue;
        if ((*comparisons)++ < DESTROYED_COMPARISONS_MOST &&
            destroyed_objects_is_concurrent(order, &o->end, use))
            return use;
    }
    return NULL;
}

/* Adds the finding of an object if it was in use when it was destroyed. A wait counts if it did not
 * end, and no signal was sent that may have ended it. */
static void destroyed_objects_add_open(const struct destroyed_objects *d,
                                       const struct destroyed_object *o, struct findings *findings,
                                       struct map *found)
{
    const struct destroyed_use *use = o->user ? &d->uses[o->user - 1] : NULL;
    bool waits = use && use->open && use->opened == o->used && o->signaled <= o->used;
    if (use && (o->end.in_use || (o->end.wakes && waits)))
        destroyed_objects_add(findings, found, &o->end, o->line, use->thread, o->used_place,
                              o->used);
}

static const struct sync_op *destroyed_objects_last_end(const struct destroyed_objects *d,
                                                        const struct sync_op *reuse)
{
    const struct sync_op *last = NULL;
    for (size_t i = 0; i < d->object_count; i++) {
        const struct sync_op *end = &d->objects[i].end;
        if (end->thread && end->object == reuse->object && end->about != reuse->about &&
            (!last || (end->position < reuse->position && end->position > last->position)))
            last = end;
    }
    return last;
}

static bool destroyed_objects_step(void *predictor, struct findings *findings, uint64_t *budget)
{
    const struct destroyed_objects *d = predictor;
    const struct order *order = findings->order;
    struct map found = {0};
    uint32_t comparisons = 0;
    for (size_t i = 0; i < d->object_count; i++)
        if (d->objects[i].end.thread)
            destroyed_objects_add_open(d, &d->objects[i], findings, &found);
    for (size_t i = 0; i < d->reuse_count; i++) {
        const struct sync_op *is = &d->reuses[i].is, *end = destroyed_objects_last_end(d, is);
        if (end && d->reuses[i].began)
            destroyed_objects_add(findings, &found, end, is->about, is->thread, is->place,
                                  is->position);
    }
    for (size_t i = 0; i < d->object_count && order; i++) {
        const struct destroyed_object *o = &d->objects[i];
        const struct destroyed_use *use =
            o->end.thread && o->end.own && !map_get(&found, o->end.position, 1)
                ? destroyed_objects_find_unordered(d, order, o, &comparisons)
                : NULL;
        if (use)
            destroyed_objects_add(findings, &found, &o->end, o->line, use->thread, use->place,
                                  use->position);
    }
    findings->cut |=
        d->use_count == DESTROYED_USES_MOST || comparisons > DESTROYED_COMPARISONS_MOST;
    map_free(&found);
    (void)budget;
    return true;
}

static void destroyed_objects_free(void *predictor)
{
    struct destroyed_objects *d = predictor;
    free(d->objects);
    free(d->uses);
    free(d->reuses);
    map_free(&d->object_of);
    map_free(&d->use_of);
    free(predictor);
}

const struct predictor predictor_destroyed_objects = {.size = sizeof(struct destroyed_objects),
                                                      .all = true,
                                                      .feed = destroyed_objects_feed,
                                                      .step = destroyed_objects_step,
                                                      .free = destroyed_objects_free};
