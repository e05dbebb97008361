/* Findings about patterns of waits: wake-ups without effect, timeouts, alternation; threads created
 * one after the other. */
#include "server/queries/tables/finding_rows.h"
#include "base/lower_bound.h"
#include "base/map.h"
#include "base/alloc.h"

#include <stdlib.h>

#define NOTHING_LEAST 10u /* minimum number of wake-ups without effect */
#define NOTHING_SHARE 0.5 /* minimum share of these of all waits for the object */
#define ONE_LEAST 2u /* minimum number of threads, each joined before the next was created */
#define TURNS_LEAST 4u /* minimum number of waits of each of two threads for the other */
#define AT_A_TIME_MOST 1.25 /* maximum mean number of running threads */
/* Minimum mean number of running or runnable threads: below it the run waits for something else. */
#define AT_A_TIME_LEAST 0.5
#define AT_WORK_SHARE 0.1 /* minimum share of all running time of a thread that is at work */

/* ---- one object: wake-ups and timeouts ---- */

struct wait_pattern {
    uint32_t about, longest; /* the object; index of its longest wait */
    int64_t ns, longest_ns;
    uint64_t times, of; /* number of counted waits; of all its waits */
    uint32_t threads, last; /* number of threads; the last one counted */
};

struct wait_patterns {
    struct wait_pattern *items;
    uint32_t count;
    size_t room;
    struct map index;
};

static struct wait_pattern *wait_patterns_get(struct wait_patterns *h, uint32_t about)
{
    return MAP_ITEM(&h->index, about, 0, h->items, h->count, h->room,
                    (struct wait_pattern){.about = about});
}

/* Counts a wait.  All waits of a thread must be counted in succession. */
static void wait_patterns_count_wait(struct wait_pattern *h, uint32_t thread, uint32_t wait,
                                     int64_t ns)
{
    h->ns += ns;
    h->times++;
    h->threads += h->last != thread;
    h->last = thread;
    if (ns > h->longest_ns) {
        h->longest_ns = ns;
        h->longest = wait;
    }
}

static void wait_patterns_free(struct wait_patterns *h)
{
    free(h->items);
    map_free(&h->index);
}

#define NO_WAIT UINT32_MAX

/* Returns the index of the wait that an interval is part of, or NO_WAIT. */
static uint32_t wait_of(const struct intervals *all, const struct thread_timeline *c, size_t i)
{
    const struct interval *at = i < c->count ? &c->items[i] : NULL;
    return !at || at->is == INTERVAL_RUNS ? NO_WAIT
           : at->is == INTERVAL_SEGMENT   ? all->segments[at->of].wait
                                          : at->of;
}

/* Returns whether the thread, unblocked at the end of interval i, waits again for the same
 * object at the same place with its next event: the wake-up had no effect. */
static bool wait_patterns_is_repeated(const struct intervals *all, const struct thread_timeline *c,
                                      size_t i)
{
    const struct wait_record *w = &all->waits[wait_of(all, c, i)];
    uint32_t next = wait_of(all, c, i + 2);
    if (next == NO_WAIT || wait_of(all, c, i + 1) != NO_WAIT || !w->count)
        return false;
    const struct wait_record *n = &all->waits[next];
    struct code_segment_key step = code_segments_at(&all->steps, c->items[i + 1].step);
    return w->about == n->about && c->items[i + 1].position == n->begin && w->place &&
           step.from == w->place && step.to == n->place && n->place == w->place;
}

struct pattern_scan { /* scan of one thread */
    struct finding_rows *hinting;
    const struct thread_timeline *course;
    struct wait_patterns *nothing, *clock;
};

/* Counts the wait that ends with interval i. */
static void wait_patterns_check_wait(const struct pattern_scan *l, size_t i)
{
    const struct intervals *all = l->hinting->view->measured;
    uint32_t wait = wait_of(all, l->course, i);
    const struct wait_record *w = &all->waits[wait];
    int64_t ns = w->about ? finding_rows_wait_ns(l->hinting, w) : 0;
    if (!ns)
        return;
    wait_patterns_get(l->nothing, w->about)->of++;
    if (wait_patterns_is_repeated(all, l->course, i))
        wait_patterns_count_wait(wait_patterns_get(l->nothing, w->about), w->thread, wait, ns);
    if (w->class == WAIT_TIMEOUT)
        wait_patterns_count_wait(wait_patterns_get(l->clock, w->about), w->thread, wait, ns);
}

static void wait_patterns_check_timeline(const struct pattern_scan *l)
{
    const struct intervals *all = l->hinting->view->measured;
    const struct thread_timeline *c = l->course;
    size_t end = intervals_at(c, l->hinting->view->to_ns);
    for (size_t i = intervals_at(c, l->hinting->view->from_ns); i < c->count && i <= end; i++)
        if (wait_of(all, c, i) != NO_WAIT && wait_of(all, c, i + 1) != wait_of(all, c, i))
            wait_patterns_check_wait(l, i);
}

/* Returns whether the wait is within another line, which other threads may enter meanwhile.
 * Then a signal takes nothing and only says that something may have changed: the object is a
 * condition variable, not a semaphore. */
static bool is_call(const struct table_view *view, const struct wait_record *w)
{
    const struct order *order = view->run->order;
    if (w->begin < order_first(order))
        return false;
    struct order_event begin = order_event(order, w->begin);
    return begin.line != w->thread && begin.line != w->about;
}

static void wait_patterns_add_finding(struct finding_rows *h, enum finding_row_kind kind,
                                      const struct wait_pattern *of)
{
    const struct intervals *all = h->view->measured;
    const struct wait_record *w = &all->waits[of->longest];
    struct table_cell *cells =
        finding_rows_add(h, kind, of->threads, w->thread, of->ns, h->run_ns * of->threads,
                         table_event(h->view, w->begin));
    if (!cells)
        return;
    if (w->count)
        finding_rows_release(h, cells, &all->segments[w->segment]);
    finding_rows_wait(h, cells, w, of->times);
}

static bool is_for_nothing(const struct finding_rows *h, const struct wait_pattern *of)
{
    return of->times >= NOTHING_LEAST && (double)of->times >= NOTHING_SHARE * (double)of->of &&
           is_call(h->view, &h->view->measured->waits[of->longest]);
}

static bool is_by_clock(const struct finding_rows *h, const struct wait_pattern *of)
{
    return of->ns >= FEW_NS &&
           (double)of->ns >= LIFE_SHARE * (double)h->run_ns * (double)of->threads;
}

static void wait_patterns_check_waits(struct finding_rows *h)
{
    const struct intervals *all = h->view->measured;
    struct wait_patterns nothing = {0}, clock = {0};
    for (uint32_t i = 0; i < all->thread_count; i++)
        if (table_wants(h->view, all->threads[i].thread))
            wait_patterns_check_timeline(
                &(struct pattern_scan){h, &all->threads[i], &nothing, &clock});
    for (uint32_t i = 0; i < nothing.count; i++)
        if (is_for_nothing(h, &nothing.items[i]))
            wait_patterns_add_finding(h, FINDING_ROW_USELESS_WAKEUPS, &nothing.items[i]);
    for (uint32_t i = 0; i < clock.count; i++)
        if (is_by_clock(h, &clock.items[i]))
            wait_patterns_add_finding(h, FINDING_ROW_TIMEOUTS, &clock.items[i]);
    wait_patterns_free(&nothing);
    wait_patterns_free(&clock);
}

/* ---- threads created one after the other ---- */

struct creation_pattern { /* threads created by one thread */
    const struct thread_timeline *last; /* the thread that it created last */
    int64_t ns, longest_ns;
    uint32_t longest; /* index of the longest wait interval */
    uint32_t times;
};

/* Adds how long a creator waited for the thread that it created last before it created the next
 * one. */
static void wait_patterns_check_between(struct finding_rows *h, struct creation_pattern *m,
                                        const struct thread_timeline *maker, int64_t until_ns)
{
    const struct intervals *all = h->view->measured;
    int64_t before = m->ns;
    for (size_t i = intervals_at(maker, m->last->made_ns);
         i < maker->count && maker->items[i].to_ns <= until_ns; i++) {
        const struct interval *at = &maker->items[i];
        if (at->is != INTERVAL_SEGMENT || all->segments[at->of].thread != m->last->thread)
            continue;
        int64_t ns = finding_rows_segment_ns(h, at->of);
        m->ns += ns;
        if (ns > m->longest_ns) {
            m->longest_ns = ns;
            m->longest = at->of;
        }
    }
    m->times += m->ns > before;
}

static bool is_one_by_one(const struct finding_rows *h, const struct creation_pattern *m)
{
    return m->times >= ONE_LEAST && m->ns >= FEW_NS &&
           (double)m->ns >= LIFE_SHARE * (double)h->run_ns;
}

static void wait_patterns_add_creation(struct finding_rows *h, const struct thread_timeline *maker,
                                       const struct creation_pattern *m)
{
    const struct wait_interval *s = &h->view->measured->segments[m->longest];
    const struct wait_record *w = &h->view->measured->waits[s->wait];
    struct table_cell *cells = finding_rows_add(h, FINDING_ROW_SERIALIZED, 1, maker->thread, m->ns,
                                                h->run_ns, table_event(h->view, w->begin));
    if (!cells)
        return;
    finding_rows_release(h, cells, s);
    finding_rows_wait(h, cells, w, m->times);
}

static void wait_patterns_check_creation(struct finding_rows *h)
{
    const struct intervals *all = h->view->measured;
    struct creation_pattern *by = xcalloc(all->thread_count + 1, sizeof *by);
    for (uint32_t i = 0; i < all->thread_count; i++) {
        const struct thread_timeline *made = &all->threads[i],
                                     *maker = made->maker ? intervals_for_thread(all, made->maker)
                                                          : NULL;
        if (!maker || made->made_ns == INTERVALS_NEVER)
            continue;
        struct creation_pattern *m = &by[maker - all->threads];
        if (m->last && m->last->made_ns <= made->made_ns)
            wait_patterns_check_between(h, m, maker, made->made_ns);
        m->last = made;
    }
    for (uint32_t i = 0; i < all->thread_count; i++)
        if (is_one_by_one(h, &by[i]) && table_wants(h->view, all->threads[i].thread))
            wait_patterns_add_creation(h, &all->threads[i], &by[i]);
    free(by);
}

/* ---- two threads that wait for each other ---- */

struct alternation { /* waits of one thread for another */
    uint32_t thread, other;
    int64_t ns, longest_ns;
    uint32_t longest; /* index of the longest wait interval */
    uint64_t times;
};

struct alternations {
    struct alternation *items;
    uint32_t count;
    size_t room;
    struct map index;
};

/* Returns whether the wait is that of a member of a group, which waits for all others, not for
 * one. */
static bool is_gathered(const struct intervals *all, const struct wait_record *w)
{
    const struct thread_timeline *c = intervals_for_thread(all, w->thread);
    size_t low =
        LOWER_BOUND(i, 0, c ? c->gathering_count : 0, c->gatherings[i].came_ns < w->from_ns);
    return c && low < c->gathering_count && c->gatherings[low].came_ns == w->from_ns;
}

static void count_turn(struct alternations *t, const struct wait_record *w, uint32_t other,
                       uint32_t segment, int64_t ns)
{
    uintptr_t known = (uintptr_t)map_get(&t->index, w->thread, other);
    if (!known) {
        t->items = array_reserve(t->items, &t->room, t->count + 1, sizeof *t->items);
        t->items[t->count++] = (struct alternation){.thread = w->thread, .other = other};
        known = t->count;
        map_put(&t->index, w->thread, other, (void *)known);
    }
    struct alternation *turn = &t->items[known - 1];
    turn->ns += ns;
    turn->times++;
    if (ns > turn->longest_ns) {
        turn->longest_ns = ns;
        turn->longest = segment;
    }
}

static bool wait_patterns_is_significant(struct finding_rows *h, const struct alternation *t)
{
    return t && t->times >= TURNS_LEAST && t->ns >= FEW_NS &&
           (double)t->ns >= LIFE_SHARE * (double)finding_rows_life(h, t->thread);
}

static void add_turn(struct finding_rows *h, const struct alternation *a,
                     const struct alternation *b)
{
    const struct intervals *all = h->view->measured;
    const struct wait_interval *s = &all->segments[a->longest];
    const struct wait_record *w = &all->waits[s->wait];
    int64_t lives_ns = finding_rows_life(h, a->thread) + finding_rows_life(h, b->thread);
    struct table_cell *cells =
        finding_rows_add(h, FINDING_ROW_PING_PONG, 1, a->thread, a->ns + b->ns, lives_ns,
                         table_event(h->view, w->begin));
    if (!cells)
        return;
    finding_rows_release(h, cells, s);
    finding_rows_wait(h, cells, w, a->times + b->times);
    table_row_line(h->table, b->thread);
}

static void wait_patterns_check_alternation(struct finding_rows *h)
{
    const struct intervals *all = h->view->measured;
    struct alternations t = {0};
    for (uint32_t i = 0; i < all->segment_count; i++) {
        const struct wait_interval *s = &all->segments[i];
        const struct wait_record *w = &all->waits[s->wait];
        int64_t ns = s->class == WAIT_RENDEZVOUS && w->about != s->thread
                         ? finding_rows_segment_ns(h, i)
                         : 0;
        if (ns && table_wants(h->view, w->thread) && !is_gathered(all, w))
            count_turn(&t, w, s->thread, i, ns);
    }
    for (uint32_t i = 0; i < t.count; i++) {
        const struct alternation *a = &t.items[i];
        uintptr_t other = (uintptr_t)map_get(&t.index, a->other, a->thread);
        const struct alternation *b = other ? &t.items[other - 1] : NULL;
        if (b && (a->ns > b->ns || (a->ns == b->ns && a->thread < b->thread)) &&
            wait_patterns_is_significant(h, a) && wait_patterns_is_significant(h, b))
            add_turn(h, a, b);
    }
    free(t.items);
    map_free(&t.index);
}

/* ---- many threads of which one runs at a time ---- */

static void wait_patterns_check_running(struct finding_rows *h)
{
    const struct intervals *all = h->view->measured;
    const struct thread_timeline *most = NULL;
    int64_t *ran = xcalloc(all->thread_count + 1, sizeof *ran), sum = 0, ready = 0, most_ns = 0;
    uint32_t threads = 0, at_work = 0;
    for (uint32_t i = 0; i < all->thread_count; i++) {
        const struct thread_timeline *c = &all->threads[i];
        const struct state_sum *states = finding_rows_states(h, c)->of;
        if (table_wants(h->view, c->thread))
            ran[i] = states[THREAD_STATE_RUNNING].total_ns + states[THREAD_STATE_OFF_CPU].total_ns;
        threads += ran[i] > 0;
        ready += ran[i] ? states[THREAD_STATE_RUNNABLE].total_ns : 0;
        sum += ran[i];
        if (ran[i] > most_ns) {
            most_ns = ran[i];
            most = c;
        }
    }
    for (uint32_t i = 0; i < all->thread_count; i++)
        at_work += ran[i] >= FEW_NS && (double)ran[i] >= AT_WORK_SHARE * (double)sum;
    free(ran);
    if (ready > sum) /* CPUs are scarce */
        return;
    if (at_work < 2 || (double)sum > AT_A_TIME_MOST * (double)h->run_ns ||
        (double)(sum + ready) < AT_A_TIME_LEAST * (double)h->run_ns)
        return;
    finding_rows_add(h, FINDING_ROW_LITTLE_PARALLELISM, threads, most->thread, sum,
                     h->run_ns * threads, table_event(h->view, most->start));
}

void wait_patterns_add_findings(struct finding_rows *hinting)
{
    wait_patterns_check_waits(hinting);
    wait_patterns_check_creation(hinting);
    wait_patterns_check_alternation(hinting);
    wait_patterns_check_running(hinting);
}
