#include "server/analysis/last_synchronization.h"

#include "server/order/order.h"

#include <stdlib.h>

static void *last_sync_lookup(const struct last_sync_index *encounters, uint32_t a, uint32_t b)
{
    return map_get(&encounters->last, a < b ? a : b, a < b ? b : a);
}

void last_sync_add(struct last_sync_index *encounters, const struct intervals *all,
                   const struct wait_record *wait)
{
    for (uint32_t i = wait->segment; i < wait->segment + wait->count; i++) {
        encounters->before = array_reserve(encounters->before, &encounters->room, (size_t)i + 1,
                                           sizeof *encounters->before);
        encounters->before[i] = 0;
        uint32_t a = wait->thread, b = all->segments[i].thread;
        if (all->segments[i].class != WAIT_RENDEZVOUS)
            continue;
        encounters->before[i] = (uint32_t)(uintptr_t)last_sync_lookup(encounters, a, b);
        map_put(&encounters->last, a < b ? a : b, a < b ? b : a, (void *)((uintptr_t)i + 1));
    }
}

/* Returns how many of a thread's group memberships are at or before a time. */
static size_t last_sync_count_gatherings(const struct thread_timeline *course, int64_t until_ns)
{
    size_t from = 0, to = course->gathering_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (course->gatherings[middle].at_ns <= until_ns)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Walks both lists back to the last group of both threads, no further than `since`. */
static int64_t last_sync_common_gathering(const struct thread_timeline *a,
                                          const struct thread_timeline *b, int64_t since_ns,
                                          int64_t until_ns)
{
    size_t i = last_sync_count_gatherings(a, until_ns), j = last_sync_count_gatherings(b, until_ns);
    while (i && j) {
        const struct gathering *x = &a->gatherings[i - 1], *y = &b->gatherings[j - 1];
        if (x->at_ns <= since_ns || y->at_ns <= since_ns)
            break;
        if (x->at_ns == y->at_ns && x->group == y->group)
            return x->at_ns;
        if (x->at_ns > y->at_ns || (x->at_ns == y->at_ns && x->group > y->group))
            i--;
        else
            j--;
    }
    return INTERVALS_NEVER;
}

static uint32_t depth_of(const struct intervals *all, const struct thread_timeline *course)
{
    uint32_t depth = 0;
    for (;
         course && course->maker && course->made_ns != INTERVALS_NEVER && depth < all->thread_count;
         depth++)
        course = intervals_for_thread(all, course->maker);
    return depth;
}

/* One of two chains of creators, followed backwards. */
struct creator_walk {
    const struct thread_timeline *at;
    int64_t left_ns; /* creation time of the thread that was followed last */
    uint64_t left; /* position of its creation */
    uint32_t depth, steps;
};

static void last_sync_step_back(const struct intervals *all, struct creator_walk *descent)
{
    descent->left_ns = descent->at->made_ns;
    descent->left = descent->at->made;
    descent->at = intervals_for_thread(all, descent->at->maker);
    descent->depth--;
    descent->steps++;
}

static int64_t last_sync_earlier_time(int64_t a, int64_t b)
{
    return a == INTERVALS_NEVER ? b : b == INTERVALS_NEVER || a < b ? a : b;
}

/* Finds where the chains of creators of two threads diverge. */
static struct last_sync last_sync_common_creator(const struct intervals *all,
                                                 const struct thread_timeline *p,
                                                 const struct thread_timeline *q)
{
    struct creator_walk a = {p, INTERVALS_NEVER, NO_POSITION, depth_of(all, p), 0},
                        b = {q, INTERVALS_NEVER, NO_POSITION, depth_of(all, q), 0};
    while (a.at && b.at && a.at != b.at && (a.depth || b.depth))
        last_sync_step_back(all, a.depth >= b.depth ? &a : &b);
    if (!a.at || !b.at)
        return (struct last_sync){INTERVALS_NEVER, SYNC_KIND_NEVER, NO_POSITION};
    if (a.at != b.at)
        return (struct last_sync){last_sync_earlier_time(a.at->start_ns, b.at->start_ns),
                                  SYNC_KIND_NEVER, NO_POSITION};
    int64_t left_ns = last_sync_earlier_time(a.left_ns, b.left_ns);
    return (struct last_sync){left_ns, a.steps && b.steps ? SYNC_KIND_PARTED : SYNC_KIND_MADE,
                              left_ns == a.left_ns ? a.left : b.left};
}

struct last_sync last_sync_find(const struct last_sync_index *encounters,
                                const struct intervals *all, uint32_t a, uint32_t b,
                                int64_t until_ns)
{
    uint32_t at = (uint32_t)(uintptr_t)last_sync_lookup(encounters, a, b);
    while (at && all->segments[at - 1].to_ns > until_ns)
        at = encounters->before[at - 1];
    struct last_sync met = {at ? all->segments[at - 1].to_ns : INTERVALS_NEVER, SYNC_KIND_WAITING,
                            at ? all->segments[at - 1].release : NO_POSITION};
    const struct thread_timeline *p = intervals_for_thread(all, a),
                                 *q = intervals_for_thread(all, b);
    int64_t group_ns =
        p && q ? last_sync_common_gathering(p, q, met.at_ns, until_ns) : INTERVALS_NEVER;
    if (group_ns != INTERVALS_NEVER)
        met = (struct last_sync){group_ns, SYNC_KIND_GATHERING, NO_POSITION};
    if (met.at_ns == INTERVALS_NEVER)
        met = last_sync_common_creator(all, p, q);
    if (met.at_ns == INTERVALS_NEVER || met.at_ns > until_ns) {
        met.at_ns = until_ns;
        met.position = NO_POSITION;
    }
    return met;
}

void last_sync_free(struct last_sync_index *encounters)
{
    map_free(&encounters->last);
    free(encounters->before);
    *encounters = (struct last_sync_index){0};
}
