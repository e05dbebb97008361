#include "server/analysis/critical_path.h"

#include "base/alloc.h"

#include <stdlib.h>

static const struct thread_timeline *critical_path_timeline(const struct critical_path *path)
{
    return &path->all->threads[path->at - 1];
}

static int64_t critical_path_known_end(const struct thread_timeline *c)
{
    return c->count ? c->items[c->count - 1].to_ns : c->start_ns;
}

/* Returns the thread with the latest end, of those that had begun by a time. */
static uint32_t last_of(const struct intervals *all, int64_t to_ns)
{
    const struct thread_timeline *last = NULL;
    for (uint32_t i = 0; i < all->thread_count; i++) {
        const struct thread_timeline *c = &all->threads[i];
        if (c->start_ns != INTERVALS_NEVER && c->start_ns < to_ns &&
            (!last || critical_path_known_end(c) > critical_path_known_end(last) ||
             (critical_path_known_end(c) == critical_path_known_end(last) &&
              c->thread < last->thread)))
            last = c;
    }
    return last ? (uint32_t)(last - all->threads) + 1 : 0;
}

void critical_path_begin(struct critical_path *path, const struct intervals *all, uint32_t thread,
                         int64_t to_ns)
{
    path->count = path->hops = path->idle = 0;
    path->hopped = false;
    path->all = all;
    const struct thread_timeline *c = thread ? intervals_for_thread(all, thread) : NULL;
    path->at = c ? (uint32_t)(c - all->threads) + 1 : thread ? 0 : last_of(all, to_ns);
    path->at_ns = to_ns;
    if (!thread && path->at && critical_path_known_end(critical_path_timeline(path)) < to_ns)
        path->at_ns = critical_path_known_end(critical_path_timeline(path));
}

static void critical_path_append_piece(struct critical_path *path, struct path_piece piece)
{
    if (piece.from_ns >= path->at_ns)
        return;
    piece.thread = critical_path_timeline(path)->thread;
    piece.to_ns = path->at_ns;
    piece.hop = path->hopped;
    path->hopped = false;
    path->pieces = array_reserve(path->pieces, &path->room, path->count + 1, sizeof *path->pieces);
    path->pieces[path->count++] = piece;
    path->at_ns = piece.from_ns;
    path->idle = 0;
}

/* Continues the path backwards in another thread. */
static bool critical_path_hop_to_thread(struct critical_path *path, uint32_t thread)
{
    const struct thread_timeline *to = intervals_for_thread(path->all, thread);
    if (!to || to->start_ns == INTERVALS_NEVER || path->idle++ > path->all->thread_count)
        return false;
    path->hopped |= path->count && to != critical_path_timeline(path);
    path->hops += to != critical_path_timeline(path);
    path->at = (uint32_t)(to - path->all->threads) + 1;
    return true;
}

/* Continues before the start of a thread: at its creation, in the creator. */
static bool before_start(struct critical_path *path)
{
    const struct thread_timeline *c = critical_path_timeline(path);
    if (c->made_ns == INTERVALS_NEVER || !c->maker || c->made_ns > path->at_ns)
        return false;
    critical_path_append_piece(
        path, (struct path_piece){.from_ns = c->made_ns, .position = c->start, .is = PATH_STARTS});
    return critical_path_hop_to_thread(path, c->maker);
}

static uint32_t last_segment(const struct intervals *all, const struct interval *i)
{
    const struct wait_record *wait = &all->waits[i->of];
    return wait->count ? wait->segment + wait->count - 1 : UINT32_MAX;
}

static void one_back(struct critical_path *path, const struct interval *i, int64_t from_ns)
{
    static const uint8_t is[] = {[INTERVAL_RUNS] = PATH_RUNS,
                                 [INTERVAL_LATENCY] = PATH_LATENCY,
                                 [INTERVAL_TIMEOUT] = PATH_TIMEOUT,
                                 [INTERVAL_SEGMENT] = PATH_UNATTRIBUTED,
                                 [INTERVAL_UNATTRIBUTED] = PATH_UNATTRIBUTED};
    const struct intervals *all = path->all;
    struct path_piece piece = {
        .from_ns = from_ns, .position = i->position, .step = i->step, .is = is[i->is]};
    if (i->is == INTERVAL_SEGMENT && critical_path_hop_to_thread(path, all->segments[i->of].thread))
        return;
    critical_path_append_piece(path, piece);
    uint32_t segment = i->is == INTERVAL_LATENCY ? last_segment(all, i) : UINT32_MAX;
    if (segment != UINT32_MAX)
        critical_path_hop_to_thread(path, all->segments[segment].thread);
}

/* Follows the path one step back; returns false at its beginning. */
static bool critical_path_step_back(struct critical_path *path)
{
    const struct thread_timeline *c = critical_path_timeline(path);
    if (path->at_ns <= c->start_ns)
        return before_start(path);
    path->near = array_reserve_zeroed(path->near, &path->near_room, path->at, sizeof *path->near);
    size_t i = intervals_near(c, path->at_ns - 1, &path->near[path->at - 1]);
    if (i == c->count) /* nothing is known of the thread at that time */
        critical_path_append_piece(path, (struct path_piece){.from_ns = critical_path_known_end(c),
                                                             .is = PATH_UNATTRIBUTED});
    else
        one_back(path, &c->items[i], interval_begin(c, i));
    return true;
}

bool critical_path_step(struct critical_path *path, uint64_t budget)
{
    while (path->at && critical_path_step_back(path))
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

void critical_path_free(struct critical_path *path)
{
    free(path->pieces);
    free(path->near);
    *path = (struct critical_path){0};
}
