#include "server/queries/semaphore_locks.h"

#include "base/alloc.h"
#include "server/queries/interval_cache.h"
#include "server/timing/run_metadata_source.h"
#include "wire/annotation_text.h"

#include <stdlib.h>
#include <string.h>

/* A thread's visit of the line begins and ends with a synchronization point; its texts are those of
 * the member on the thread's own line. */
static bool semaphore_locks_visit_has_text(const struct run *run, const struct order_event *e,
                                           const char *words)
{
    uint64_t end = e->point + 2 < order_count(run->order) ? e->point + 2 : order_count(run->order);
    for (uint64_t p = e->point; p < end; p++) {
        struct order_event member = order_event(run->order, p);
        if (member.point == e->point &&
            run_has_text(run, (struct event_id){member.line, member.number}, words))
            return true;
    }
    return false;
}

/* Takes an event of the line into account; returns false if it shows that this is not a lock. */
static bool semaphore_locks_add_event(struct semaphore_locks *s, const struct run *run,
                                      const struct order_event *e)
{
    const struct event_meaning *is = interval_cache_meaning(run, e);
    if (e->relation == RELATION_SYNC) {
        s->binary |= semaphore_locks_visit_has_text(run, e, TEXT_BINARY);
        return !semaphore_locks_visit_has_text(run, e, TEXT_CONDITIONAL);
    }
    if (is->by_clock || e->doubt || e->state != EVENT_ORDERED)
        return false;
    if (is->takes) {
        bool available = !s->holder;
        s->holder = e->thread;
        return available && e->thread;
    }
    if (is->gives) {
        bool mine = s->holder == e->thread;
        s->holder = 0;
        s->posts++;
        return mine;
    }
    return true;
}

/* Examines the next event of the line; returns true at its end. */
static bool semaphore_locks_step_line(struct semaphore_locks *s, const struct run *run)
{
    uint64_t count = order_line_events(run->order, s->line);
    if (s->next < count) {
        uint64_t position = order_line_at(run->order, s->line, s->next++);
        struct order_event e =
            position == NO_POSITION ? (struct order_event){0} : order_event(run->order, position);
        return !e.line || !semaphore_locks_add_event(s, run, &e);
    }
    s->known[s->line] = s->binary && s->posts;
    return true;
}

static bool semaphore_locks_may_be(const struct run *run, uint32_t line)
{
    const struct target_line_type *kind = run_line_type(run, order_line_kind(run->order, line));
    return kind && kind->category == CATEGORY_SEMAPHORE && order_line_shared(run->order, line) &&
           order_line_events(run->order, line) && !order_line_first(run->order, line);
}

bool semaphore_locks_step(struct semaphore_locks *s, const struct run *run, uint64_t *budget)
{
    uint32_t count = order_line_count(run->order);
    s->known = array_reserve_zeroed(s->known, &s->room, count + 1u, sizeof *s->known);
    while (s->line <= count && *budget) {
        --*budget;
        if (s->line && semaphore_locks_may_be(run, s->line) && !semaphore_locks_step_line(s, run))
            continue;
        *s = (struct semaphore_locks){.known = s->known, .room = s->room, .line = s->line + 1};
    }
    return s->line > count;
}

bool semaphore_locks_have(const struct semaphore_locks *s, uint32_t line)
{
    return line < s->room && s->known[line];
}

void semaphore_locks_free(struct semaphore_locks *s)
{
    free(s->known);
    *s = (struct semaphore_locks){0};
}
