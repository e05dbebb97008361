#include "server/queries/lock_holds.h"

#include "base/alloc.h"
#include "server/queries/interval_cache.h"
#include "server/run/event_times.h"
#include "server/timing/run_metadata_source.h"

#include <stdlib.h>

static struct lock_hold_span *lock_holds_find(struct lock_holds *h, uint32_t thread)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->holders[i].thread == thread)
            return &h->holders[i];
    return NULL;
}

static void lock_holds_finish(struct lock_holds *h, struct lock_hold_span *hold, int64_t to_ns)
{
    hold->to_ns = to_ns > hold->from_ns ? to_ns : hold->from_ns;
    h->on_hold(h->context, hold);
    *hold = h->holders[--h->count];
}

/* Applies an event of the object: a recursive acquisition begins no other hold. */
static void lock_holds_apply(struct lock_holds *h, const struct order_event *e, uint64_t position)
{
    const struct event_meaning *is = interval_cache_meaning(h->run, e);
    if (!is || !e->thread || e->thread == e->line)
        return;
    struct lock_hold_span *hold = lock_holds_find(h, e->thread);
    int64_t now_ns = event_times_for_process(h->run, e);
    if ((is->enters || is->takes) && !hold) {
        h->holders = array_reserve(h->holders, &h->room, h->count + 1, sizeof *h->holders);
        h->holders[h->count++] = (struct lock_hold_span){
            .line = e->line, .thread = e->thread, .from_ns = now_ns, .acquired = position};
    } else if ((is->leaves || is->gives) && hold) {
        h->is_released = true;
        lock_holds_finish(h, hold, now_ns);
    } else {
        h->is_signaled |= is->gives;
    }
}

/* Returns the end of a hold that was not released: that of the run, which is its last event if the
 * holder's program exited by itself. */
static int64_t lock_holds_open_end(const struct lock_holds *h, const struct lock_hold_span *hold)
{
    return run_exited(h->run, hold->thread) ? h->run->clock.last_ns
                                            : interval_cache_until_ns(h->run);
}

/* Ends the scan of an object: what is held still is held to the end of the run.  A semaphore that
 * other threads post, and never the one that waited, is not a lock. */
static void lock_holds_end_object(struct lock_holds *h)
{
    if (h->is_signaled && !h->is_released)
        h->count = 0;
    while (h->count) {
        h->holders[0].open = true;
        lock_holds_finish(h, &h->holders[0], lock_holds_open_end(h, &h->holders[0]));
    }
    h->is_signaled = h->is_released = false;
    h->ordinal = 0;
}

static bool lock_holds_next_object(struct lock_holds *h)
{
    if (h->object) {
        h->line = h->line ? order_line_count(h->run->order) + 1 : h->object;
        return h->line <= order_line_count(h->run->order);
    }
    return ++h->line <= order_line_count(h->run->order);
}

bool lock_holds_step(struct lock_holds *h, uint64_t *budget)
{
    const struct order *order = h->run->order;
    if (!h->line && !lock_holds_next_object(h))
        return true;
    while (h->line <= order_line_count(order)) {
        uint64_t first = order_line_first(order, h->line), end = order_line_events(order, h->line);
        h->ordinal = h->ordinal > first ? h->ordinal : first;
        for (; h->ordinal < end && *budget; h->ordinal++, --*budget) {
            uint64_t position = order_line_at(order, h->line, h->ordinal);
            if (position == NO_POSITION)
                continue;
            struct order_event e = order_event(order, position);
            if (e.line && e.state == EVENT_ORDERED)
                lock_holds_apply(h, &e, position);
        }
        if (h->ordinal < end)
            return false;
        lock_holds_end_object(h);
        lock_holds_next_object(h);
    }
    return true;
}

void lock_holds_free(struct lock_holds *h)
{
    free(h->holders);
    h->holders = NULL;
    h->count = h->room = 0;
}
