#include "server/timing/intervals.h"

#include "base/alloc.h"
#include "base/lower_bound.h"

#include <stdlib.h>

#define NOWHERE UINT64_MAX

/* A long run has very many intervals, so their sizes matter. */
_Static_assert(sizeof(struct interval) == 24, "an interval takes 24 bytes");
_Static_assert(sizeof(struct wait_interval) == 24, "a segment takes 24 bytes");
_Static_assert(sizeof(struct wait_record) == 56, "a wait takes 56 bytes");

/* Returns the thread's index, assigned on first use. */
static uint32_t intervals_thread(struct intervals *all, uint32_t line)
{
    if (line <= all->line_room && all->thread_of[line - 1])
        return all->thread_of[line - 1] - 1;
    all->thread_of =
        array_reserve_zeroed(all->thread_of, &all->line_room, line, sizeof *all->thread_of);
    all->threads =
        array_reserve(all->threads, &all->thread_room, all->thread_count + 1, sizeof *all->threads);
    all->threads[all->thread_count++] = (struct thread_timeline){.thread = line,
                                                                 .made_ns = INTERVALS_NEVER,
                                                                 .start_ns = INTERVALS_NEVER,
                                                                 .end_ns = INTERVALS_NEVER,
                                                                 .closed_ns = INTERVALS_NEVER,
                                                                 .made = NOWHERE,
                                                                 .start = NOWHERE,
                                                                 .end = NOWHERE,
                                                                 .closed = NOWHERE};
    all->thread_of[line - 1] = all->thread_count;
    return all->thread_count - 1;
}

static struct thread_timeline *intervals_get_thread(struct intervals *all, uint32_t line)
{
    uint32_t i = intervals_thread(all, line);
    return &all->threads[i];
}

void intervals_set_created(struct intervals *all, uint32_t line, uint32_t maker, int64_t at_ns,
                           uint64_t position)
{
    struct thread_timeline *c = intervals_get_thread(all, line);
    c->maker = maker;
    c->made_ns = at_ns;
    c->made = position;
}

void intervals_start(struct intervals *all, uint32_t line, int64_t at_ns, uint64_t position)
{
    struct thread_timeline *c = intervals_get_thread(all, line);
    c->start_ns = at_ns;
    c->start = position;
}

void intervals_ended(struct intervals *all, uint32_t line, int64_t at_ns, uint64_t position)
{
    struct thread_timeline *c = intervals_get_thread(all, line);
    c->end_ns = at_ns;
    c->end = position;
}

void intervals_closed(struct intervals *all, uint32_t line, int64_t at_ns, uint64_t position)
{
    struct thread_timeline *c = intervals_get_thread(all, line);
    c->closed_ns = at_ns;
    c->closed = position;
}

static int64_t intervals_known_end(const struct thread_timeline *c)
{
    return c->count ? c->items[c->count - 1].to_ns : c->start_ns;
}

static void intervals_append(struct intervals *all, struct thread_timeline *c,
                             struct interval interval)
{
    c->items = array_reserve(c->items, &c->room, c->count + 1, sizeof *c->items);
    c->items[c->count++] = interval;
    all->interval_count++;
}

/* Adds an interval unless its length is 0. */
static void intervals_add_nonempty(struct intervals *all, struct thread_timeline *c,
                                   struct interval interval)
{
    if (interval.to_ns > intervals_known_end(c))
        intervals_append(all, c, interval);
}

void intervals_add_run(struct intervals *all, uint32_t line, uint32_t step, int64_t to_ns,
                       uint64_t position)
{
    intervals_add_nonempty(
        all, intervals_get_thread(all, line),
        (struct interval){.to_ns = to_ns, .position = position, .step = step, .is = INTERVAL_RUNS});
}

void intervals_add_activity(struct intervals *all, uint32_t line, uint32_t step, int64_t to_ns,
                            uint64_t position, uint32_t place)
{
    intervals_add_nonempty(all, intervals_get_thread(all, line),
                           (struct interval){.to_ns = to_ns,
                                             .position = position,
                                             .step = step,
                                             .of = place & 0x1fffffff,
                                             .is = INTERVAL_RUNS});
}

static enum interval_kind rest_of(const struct wait_record *wait, uint32_t count)
{
    return count                         ? INTERVAL_LATENCY
           : wait->unexplained           ? INTERVAL_UNATTRIBUTED
           : wait->class == WAIT_TIMEOUT ? INTERVAL_TIMEOUT
                                         : INTERVAL_LATENCY;
}

void intervals_add_creation(struct intervals *all, uint32_t line)
{
    intervals_get_thread(all, line)->born = true;
}

uint32_t intervals_add_wait(struct intervals *all, struct wait_record wait,
                            const struct wait_interval *segments, uint32_t count, uint32_t step)
{
    struct thread_timeline *c = intervals_get_thread(all, wait.thread);
    uint32_t index = (uint32_t)all->wait_count;
    wait.segment = (uint32_t)all->segment_count;
    wait.count = (uint16_t)count;
    all->waits =
        array_reserve(all->waits, &all->wait_room, all->wait_count + 1, sizeof *all->waits);
    all->waits[all->wait_count++] = wait;
    all->segments = array_reserve(all->segments, &all->segment_room, all->segment_count + count,
                                  sizeof *all->segments);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)all->segment_count++;
        all->segments[at] = segments[i];
        all->segments[at].wait = index & 0xfffffff;
        intervals_add_nonempty(all, c,
                               (struct interval){.to_ns = segments[i].to_ns,
                                                 .position = segments[i].release,
                                                 .of = at,
                                                 .is = INTERVAL_SEGMENT});
    }
    intervals_add_nonempty(all, c,
                           (struct interval){.to_ns = wait.to_ns,
                                             .position = wait.end,
                                             .step = step,
                                             .of = index,
                                             .is = rest_of(&wait, count)});
    return index;
}

void intervals_add_gathering(struct intervals *all, uint32_t line, struct gathering gathering)
{
    struct thread_timeline *c = intervals_get_thread(all, line);
    gathering.came = c->count;
    if (gathering.came_ns == gathering.at_ns)
        intervals_append(all, c,
                         (struct interval){.to_ns = intervals_known_end(c), .is = INTERVAL_RUNS});
    c->gatherings = array_reserve(c->gatherings, &c->gathering_room, c->gathering_count + 1,
                                  sizeof *c->gatherings);
    c->gatherings[c->gathering_count++] = gathering;
}

void intervals_add_edge(struct intervals *all, uint32_t line, struct interval_edge tie)
{
    struct thread_timeline *c = intervals_get_thread(all, line);
    c->ties = array_reserve(c->ties, &c->tie_room, c->tie_count + 1, sizeof *c->ties);
    c->ties[c->tie_count++] = tie;
    all->tie_count++;
}

void intervals_add_violation(struct intervals *all, uint64_t position)
{
    all->violations = array_reserve(all->violations, &all->violation_room, all->violation_count + 1,
                                    sizeof *all->violations);
    all->violations[all->violation_count++] = position;
}

void intervals_free(struct intervals *all)
{
    for (uint32_t i = 0; i < all->thread_count; i++) {
        free(all->threads[i].items);
        free(all->threads[i].gatherings);
        free(all->threads[i].ties);
    }
    free(all->threads);
    free(all->waits);
    free(all->segments);
    free(all->thread_of);
    free(all->violations);
    code_segments_free(&all->steps);
    *all = (struct intervals){0};
}

size_t intervals_bytes(const struct intervals *all)
{
    return all->interval_count * sizeof(struct interval) +
           all->tie_count * sizeof(struct interval_edge) +
           all->wait_count * sizeof(struct wait_record) +
           all->segment_count * sizeof(struct wait_interval) +
           all->violation_count * sizeof *all->violations +
           all->thread_room * sizeof(struct thread_timeline);
}

const struct thread_timeline *intervals_for_thread(const struct intervals *all, uint32_t line)
{
    uint32_t known = line && line <= all->line_room ? all->thread_of[line - 1] : 0;
    return known ? &all->threads[known - 1] : NULL;
}

size_t intervals_at(const struct thread_timeline *course, int64_t at_ns)
{
    return LOWER_BOUND(i, 0, course->count, course->items[i].to_ns <= at_ns);
}

size_t intervals_near(const struct thread_timeline *course, int64_t at_ns, size_t *near)
{
    const struct interval *items = course->items;
    for (unsigned i = 0; i < 8; i++) {
        if (*near < course->count && items[*near].to_ns <= at_ns)
            ++*near;
        else if (*near && items[*near - 1].to_ns > at_ns)
            --*near;
        else
            return *near;
    }
    return *near = intervals_at(course, at_ns);
}
