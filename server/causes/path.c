#include "server/causes/path.h"

#include "memory/memory.h"

#include <stdlib.h>

static const struct course_of *course(const struct path *path)
{
    return &path->all->threads[path->at - 1];
}

static int64_t reached(const struct course_of *c)
{
    return c->count ? c->items[c->count - 1].to_ns : c->start_ns;
}

/* Of those that had begun by a time. */
static uint32_t last_of(const struct intervals *all, int64_t to_ns)
{
    const struct course_of *last = NULL;
    for (uint32_t i = 0; i < all->thread_count; i++) {
        const struct course_of *c = &all->threads[i];
        if (c->start_ns != INTERVALS_NEVER && c->start_ns < to_ns &&
            (!last || reached(c) > reached(last) ||
             (reached(c) == reached(last) && c->thread < last->thread)))
            last = c;
    }
    return last ? (uint32_t)(last - all->threads) + 1 : 0;
}

void path_begin(struct path *path, const struct intervals *all, uint32_t thread, int64_t to_ns)
{
    path->count = path->hops = path->idle = 0;
    path->hopped = false;
    path->all = all;
    const struct course_of *c = thread ? intervals_of(all, thread) : NULL;
    path->at = c ? (uint32_t)(c - all->threads) + 1 : thread ? 0 : last_of(all, to_ns);
    path->at_ns = to_ns;
    if (!thread && path->at && reached(course(path)) < to_ns)
        path->at_ns = reached(course(path));
}

static void put(struct path *path, struct path_piece piece)
{
    if (piece.from_ns >= path->at_ns)
        return;
    piece.thread = course(path)->thread;
    piece.to_ns = path->at_ns;
    piece.hop = path->hopped;
    path->hopped = false;
    path->pieces = grow(path->pieces, &path->room, path->count + 1, sizeof *path->pieces);
    path->pieces[path->count++] = piece;
    path->at_ns = piece.from_ns;
    path->idle = 0;
}

/* From here on back it is another thread's. */
static bool hop(struct path *path, uint32_t thread)
{
    const struct course_of *to = intervals_of(path->all, thread);
    if (!to || to->start_ns == INTERVALS_NEVER || path->idle++ > path->all->thread_count)
        return false;
    path->hopped |= path->count && to != course(path);
    path->hops += to != course(path);
    path->at = (uint32_t)(to - path->all->threads) + 1;
    return true;
}

/* Before it began: what it was made by. */
static bool before_start(struct path *path)
{
    const struct course_of *c = course(path);
    if (c->made_ns == INTERVALS_NEVER || !c->maker || c->made_ns > path->at_ns)
        return false;
    put(path, (struct path_piece){.from_ns = c->made_ns, .position = c->start, .is = PATH_STARTS});
    return hop(path, c->maker);
}

static uint32_t last_segment(const struct intervals *all, const struct interval *i)
{
    const struct wait *wait = &all->waits[i->of];
    return wait->count ? wait->segment + wait->count - 1 : UINT32_MAX;
}

static void one_back(struct path *path, const struct interval *i, int64_t from_ns)
{
    static const uint8_t is[] = {[INTERVAL_RUNS] = PATH_RUNS,
                                 [INTERVAL_LATENCY] = PATH_LATENCY,
                                 [INTERVAL_TIMER] = PATH_TIMER,
                                 [INTERVAL_SEGMENT] = PATH_UNEXPLAINED,
                                 [INTERVAL_UNEXPLAINED] = PATH_UNEXPLAINED};
    const struct intervals *all = path->all;
    struct path_piece piece = {
        .from_ns = from_ns, .position = i->position, .step = i->step, .is = is[i->is]};
    if (i->is == INTERVAL_SEGMENT && hop(path, all->segments[i->of].thread))
        return;
    put(path, piece);
    uint32_t segment = i->is == INTERVAL_LATENCY ? last_segment(all, i) : UINT32_MAX;
    if (segment != UINT32_MAX)
        hop(path, all->segments[segment].thread);
}

/* False: there is nothing before. */
static bool back(struct path *path)
{
    const struct course_of *c = course(path);
    if (path->at_ns <= c->start_ns)
        return before_start(path);
    path->near = grow_zeroed(path->near, &path->near_room, path->at, sizeof *path->near);
    size_t i = intervals_near(c, path->at_ns - 1, &path->near[path->at - 1]);
    if (i == c->count) /* nothing is known of it there */
        put(path, (struct path_piece){.from_ns = reached(c), .is = PATH_UNEXPLAINED});
    else
        one_back(path, &c->items[i], interval_begin(c, i));
    return true;
}

bool path_step(struct path *path, uint64_t budget)
{
    while (path->at && back(path))
        if (budget-- == 0)
            return false;
    path->at = 0;
    for (size_t i = 0, j = path->count; i + 1 < j; i++) {
        struct path_piece piece = path->pieces[i];
        path->pieces[i] = path->pieces[--j];
        path->pieces[j] = piece;
    }
    return true;
}

void path_free(struct path *path)
{
    free(path->pieces);
    free(path->near);
    *path = (struct path){0};
}
