/* Findings about lock contention: locks, and semaphores with units that their holders release. */
#include "base/alloc.h"
#include "base/extremes.h"
#include "base/map.h"
#include "server/queries/tables/finding_rows.h"

#include <stdlib.h>

#define ALWAYS_SHARE 0.8 /* minimum share of the run in which any thread waits for the object */
#define DISPLACED_LEAST_NS 10000000 /* minimum time for which the holder of a lock was displaced, */
#define DISPLACED_SHARE 0.8 /* and its minimum share of a wait for the lock */
#define RETAKEN_LEAST 4u /* minimum number of times that others acquired it again during a wait */

/* The waits of one thread for one object. */
struct contended_lock {
    uint32_t thread, about;
    int64_t ns, longest_ns;
    uint32_t longest; /* index of the longest wait */
    uint64_t waits;
    /* Waits in which another thread acquired the object at least twice. */
    int64_t passed_ns, passed_longest_ns;
    uint32_t passed_longest; /* index of the longest of these waits */
    uint64_t passed; /* how often another thread acquired it again */
    uint32_t passer; /* index of the last such wait interval, in the longest of them */
};

/* The time in which any thread waited for one object. */
struct lock_convoy {
    uint32_t about, longest; /* object; index of the longest wait */
    int64_t ns, longest_ns;
    int64_t from_ns; /* what is counted lies from this time on */
    uint64_t waits;
};

struct lock_contention {
    struct finding_rows *hinting;
    struct contended_lock *items;
    uint32_t count;
    size_t room;
    struct map index;
    struct lock_convoy *sieges;
    uint32_t siege_count;
    size_t siege_room;
    struct map siege_of;
    uint32_t *seen; /* by thread index: 1 + index of the last wait of which it ended an interval */
};

static const struct intervals *lock_contention_intervals(const struct lock_contention *f)
{
    return f->hinting->view->measured;
}

/* Returns whether a holder's release ended the wait: of a lock; or of a unit, as of a semaphore.
 * (A wait for a signal, and then for a lock, counts as a wait for the signal.) */
static bool lock_contention_is_contended(const struct intervals *all, const struct wait_record *w)
{
    return w->about && (w->class == WAIT_CONTENTION ||
                        (w->count && all->segments[w->segment].class == WAIT_CONTENTION));
}

static struct contended_lock *lock_contention_for_lock(struct lock_contention *f, uint32_t thread,
                                                       uint32_t about)
{
    return MAP_ITEM(&f->index, thread, about, f->items, f->count, f->room,
                    (struct contended_lock){.thread = thread, .about = about});
}

/* Returns how often in a wait a thread acquired the object that had acquired it before in that
 * wait; sets *again to the last such wait interval. */
static uint32_t count_again(struct lock_contention *f, size_t wait, uint32_t *again)
{
    const struct intervals *all = lock_contention_intervals(f);
    const struct wait_record *w = &all->waits[wait];
    uint32_t passed = 0;
    for (uint32_t i = w->segment; i < w->segment + w->count; i++) {
        const struct thread_timeline *c = intervals_for_thread(all, all->segments[i].thread);
        if (!c)
            continue;
        uint32_t *seen = &f->seen[c - all->threads];
        if (*seen == wait + 1) {
            passed++;
            *again = i;
        }
        *seen = (uint32_t)wait + 1;
    }
    return passed;
}

static void add_wait(struct lock_contention *f, size_t wait, int64_t ns)
{
    const struct wait_record *w = &lock_contention_intervals(f)->waits[wait];
    struct contended_lock *fight = lock_contention_for_lock(f, w->thread, w->about);
    uint32_t again = 0, passed = count_again(f, wait, &again);
    fight->ns += ns;
    fight->waits++;
    if (ns > fight->longest_ns) {
        fight->longest_ns = ns;
        fight->longest = (uint32_t)wait;
    }
    if (!passed)
        return;
    fight->passed += passed;
    fight->passed_ns += ns;
    if (ns > fight->passed_longest_ns) {
        fight->passed_longest_ns = ns;
        fight->passed_longest = (uint32_t)wait;
        fight->passer = again;
    }
}

/* Adds a wait to the time in which any thread waited for its object.  Waits come sorted by their
 * end, the last first, so the part that is not counted yet lies before the counted time. */
static void lock_contention_add_convoy(struct lock_contention *f, size_t wait, int64_t ns)
{
    const struct wait_record *w = &lock_contention_intervals(f)->waits[wait];
    const struct table_view *view = f->hinting->view;
    uintptr_t known = (uintptr_t)map_get(&f->siege_of, w->about, 0);
    if (!known) {
        f->sieges = array_reserve(f->sieges, &f->siege_room, f->siege_count + 1, sizeof *f->sieges);
        f->sieges[f->siege_count++] =
            (struct lock_convoy){.about = w->about, .from_ns = view->to_ns};
        known = f->siege_count;
        map_put(&f->siege_of, w->about, 0, (void *)known);
    }
    struct lock_convoy *s = &f->sieges[known - 1];
    int64_t from_ns = w->from_ns > view->from_ns ? w->from_ns : view->from_ns,
            until_ns = finding_rows_until(f->hinting, w->thread),
            to_ns = w->to_ns < s->from_ns ? w->to_ns : s->from_ns;
    to_ns = to_ns < until_ns ? to_ns : until_ns;
    s->ns += to_ns > from_ns ? to_ns - from_ns : 0;
    s->from_ns = from_ns < s->from_ns ? from_ns : s->from_ns;
    s->waits++;
    if (ns > s->longest_ns) {
        s->longest_ns = ns;
        s->longest = (uint32_t)wait;
    }
}

static void lock_contention_find_waits(struct lock_contention *f)
{
    const struct intervals *all = lock_contention_intervals(f);
    for (size_t i = all->wait_count; i-- > 0;) {
        const struct wait_record *w = &all->waits[i];
        int64_t ns = lock_contention_is_contended(all, w) ? finding_rows_wait_ns(f->hinting, w) : 0;
        if (!ns || !table_wants(f->hinting->view, w->thread))
            continue;
        add_wait(f, i, ns);
        lock_contention_add_convoy(f, i, ns);
    }
}

/* ---- findings by object ---- */

/* Adds a finding for all threads that wait long for it; the one that waits longest is named. */
static void add_lock(struct lock_contention *f, const struct contended_lock *all,
                     const struct contended_lock *worst, uint32_t threads, int64_t lives_ns)
{
    const struct wait_record *w = &lock_contention_intervals(f)->waits[worst->longest];
    enum finding_row_kind kind =
        w->class == WAIT_CONTENTION ? FINDING_ROW_LOCK : FINDING_ROW_SEMAPHORE;
    struct table_cell *cells = finding_rows_add(f->hinting, kind, threads, worst->thread, all->ns,
                                                lives_ns, table_event(f->hinting->view, w->begin));
    if (!cells)
        return;
    if (w->count)
        finding_rows_release(f->hinting, cells,
                             &lock_contention_intervals(f)->segments[w->segment + w->count - 1]);
    finding_rows_wait(f->hinting, cells, w, all->waits);
}

/* Adds a finding if any thread waits for the object nearly all the time. */
static void lock_contention_check_convoy(struct lock_contention *f, uint32_t about)
{
    const struct lock_convoy *s = &f->sieges[(uintptr_t)map_get(&f->siege_of, about, 0) - 1];
    const struct wait_record *w = &lock_contention_intervals(f)->waits[s->longest];
    if (s->ns < FEW_NS || (double)s->ns < ALWAYS_SHARE * (double)f->hinting->run_ns)
        return;
    struct table_cell *cells =
        finding_rows_add(f->hinting, FINDING_ROW_SATURATED, 1, w->thread, s->ns, f->hinting->run_ns,
                         table_event(f->hinting->view, w->begin));
    if (cells)
        finding_rows_wait(f->hinting, cells, w, s->waits);
}

static int by_object(const void *a, const void *b)
{
    const struct contended_lock *x = a, *y = b;
    return x->about != y->about ? (x->about < y->about ? -1 : 1)
           : x->ns != y->ns     ? (x->ns > y->ns ? -1 : 1)
                                : 0;
}

static void lock_contention_check_locks(struct lock_contention *f)
{
    if (f->count)
        qsort(f->items, f->count, sizeof *f->items, by_object);
    for (uint32_t i = 0, end; i < f->count; i = end) {
        const struct contended_lock *worst = &f->items[i];
        struct contended_lock all = {.about = worst->about};
        uint32_t threads = 0;
        int64_t lives_ns = 0;
        for (end = i; end < f->count && f->items[end].about == worst->about; end++) {
            const struct contended_lock *one = &f->items[end];
            int64_t life_ns = finding_rows_life(f->hinting, one->thread);
            if (one->ns < FEW_NS || (double)one->ns < LIFE_SHARE * (double)life_ns)
                continue;
            all.ns += one->ns;
            all.waits += one->waits;
            lives_ns += life_ns;
            threads++;
        }
        if (threads)
            add_lock(f, &all, worst, threads, lives_ns);
        if (threads > 1)
            lock_contention_check_convoy(f, all.about);
    }
}

/* Adds a finding for the waiter of each object that was overtaken for the longest time; entries
 * of an object are adjacent. */
static void lock_contention_check_reacquired(struct lock_contention *f)
{
    for (uint32_t i = 0, end; i < f->count; i = end) {
        const struct contended_lock *worst = &f->items[i];
        for (end = i; end < f->count && f->items[end].about == f->items[i].about; end++)
            if (f->items[end].passed_ns > worst->passed_ns)
                worst = &f->items[end];
        int64_t life_ns = finding_rows_life(f->hinting, worst->thread);
        if (worst->passed < RETAKEN_LEAST || worst->passed_ns < FEW_NS ||
            (double)worst->passed_ns < LIFE_SHARE * (double)life_ns)
            continue;
        const struct wait_record *w = &lock_contention_intervals(f)->waits[worst->passed_longest];
        struct table_cell *cells =
            finding_rows_add(f->hinting, FINDING_ROW_OVERTAKEN, 1, worst->thread, worst->passed_ns,
                             life_ns, table_event(f->hinting->view, w->begin));
        if (!cells)
            return;
        finding_rows_release(f->hinting, cells,
                             &lock_contention_intervals(f)->segments[worst->passer]);
        finding_rows_wait(f->hinting, cells, w, worst->passed);
    }
}

/* Adds a finding for the wait in which the holder was displaced for the longest time. */
static void lock_contention_check_displaced(struct lock_contention *f)
{
    const struct table_view *view = f->hinting->view;
    const struct intervals *all = lock_contention_intervals(f);
    uint32_t worst = 0, worst_by = 0;
    int64_t most_ns = 0, waited_ns = 1;
    for (uint32_t i = 0; i < all->segment_count; i++) {
        const struct wait_interval *s = &all->segments[i];
        const struct wait_record *w = &all->waits[s->wait];
        int64_t ns = s->class == WAIT_CONTENTION ? finding_rows_segment_ns(f->hinting, i) : 0;
        uint32_t by = 0;
        if (ns < DISPLACED_LEAST_NS || ns <= most_ns || !table_wants(view, w->thread))
            continue;
        int64_t least_ns = int64_max(int64_max(most_ns + 1, DISPLACED_LEAST_NS),
                                     (int64_t)(DISPLACED_SHARE * (double)ns)),
                displaced_ns = cpu_states_displaced_ns(view->lives.spans, all, s->thread,
                                                       s->to_ns - ns, s->to_ns, least_ns, &by);
        if (!displaced_ns || by == w->thread)
            continue;
        worst = i;
        worst_by = by;
        most_ns = displaced_ns;
        waited_ns = ns;
    }
    const struct wait_record *w = most_ns ? &all->waits[all->segments[worst].wait] : NULL;
    struct table_cell *cells =
        w ? finding_rows_add(f->hinting, FINDING_ROW_PREEMPTED, 1, w->thread, most_ns,
                             finding_rows_life(f->hinting, w->thread), table_event(view, w->begin))
          : NULL;
    if (!cells)
        return;
    finding_rows_release(f->hinting, cells, &all->segments[worst]);
    finding_rows_wait(f->hinting, cells, w, 1);
    cells[FINDING_ROW_ON_CPU] = table_cell_line(worst_by);
    cells[FINDING_ROW_WAITED] = table_cell_number(waited_ns);
}

void lock_contention_add_findings(struct finding_rows *hinting)
{
    struct lock_contention f = {.hinting = hinting};
    f.seen = xcalloc(hinting->view->measured->thread_count + 1, sizeof *f.seen);
    lock_contention_find_waits(&f);
    lock_contention_check_locks(&f);
    lock_contention_check_reacquired(&f);
    lock_contention_check_displaced(&f);
    free(f.seen);
    free(f.items);
    free(f.sieges);
    map_free(&f.index);
    map_free(&f.siege_of);
}
