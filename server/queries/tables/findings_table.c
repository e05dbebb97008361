/* Table of findings: what to look at first in a run.  Each is a fact above a stated threshold, with
 * the event to look at first. */
#include "base/alloc.h"
#include "server/queries/tables/finding_rows.h"
#include "server/queries/tables/cpu_source.h"
#include "server/analysis/critical_path.h"
#include "server/queries/interval_cache.h"
#include "server/run/event_times.h"

#include <stdlib.h>

#define READY_SHARE 0.1 /* minimum share of a lifetime in wake-up latency */
#define LEFT_SHARE 0.3 /* minimum share of the run from a thread's exit to its join */
#define UNEXPLAINED_SHARE 0.01 /* minimum share of all waiting time that is unattributed */
#define PATH_SHARE 0.6 /* minimum share of the critical path on one of several threads */
#define KEPT_SHARE 0.5 /* minimum share of all waiting for arrivals that is for one thread */

/* ---- the thread that arrives last ---- */

/* Waits of other threads for one thread's arrival, or its messages; waits for its end do not
 * count. */
struct finding_keepers {
    int64_t ns, longest_ns;
    uint32_t longest; /* index of the longest wait interval */
    uint64_t waits;
};

/* What keepers are searched among: the wait intervals that count, and whether that of a thread
 * which itself waited so meanwhile is followed to the thread that kept it. */
struct keeper_search {
    struct finding_rows *h;
    bool (*counts)(const struct table_view *view, const struct wait_interval *s);
    bool follows;
    uint64_t budget; /* of intervals to follow */
    int64_t *ns; /* by thread index: what it kept one wait interval */
    uint32_t *kept_by, kept_count; /* thread indices with such a time */
};

#define KEEPER_BUDGET 20000000u
#define KEEPER_DEPTH_MOST 64u /* of threads that wait for each other */

static bool is_meeting(const struct table_view *view, const struct wait_interval *s)
{
    const struct wait_record *w = &view->measured->waits[s->wait];
    return s->class == WAIT_RENDEZVOUS && w->about != s->thread;
}

/* Returns whether it is a part of a wait for a message. */
static bool is_receive(const struct table_view *view, const struct wait_interval *s)
{
    const struct wait_record *w = &view->measured->waits[s->wait];
    return s->class == WAIT_RENDEZVOUS &&
           interval_cache_category(view->run, w->begin) == CATEGORY_RECEIVE;
}

static void keeper_add(struct keeper_search *k, const struct thread_timeline *c, int64_t ns)
{
    uint32_t thread = (uint32_t)(c - k->h->view->measured->threads);
    if (!k->ns[thread])
        k->kept_by[k->kept_count++] = thread;
    k->ns[thread] += ns;
}

/* Adds the time of a thread that another one waited for; while it waited itself, the time of the
 * thread that it waited for. */
static void keeper_follow(struct keeper_search *k, uint32_t thread, int64_t from_ns, int64_t to_ns,
                          unsigned depth)
{
    const struct intervals *all = k->h->view->measured;
    const struct thread_timeline *c = intervals_for_thread(all, thread);
    if (!c || from_ns >= to_ns)
        return;
    for (size_t i = intervals_at(c, from_ns);
         k->follows && depth < KEEPER_DEPTH_MOST && k->budget && i < c->count && from_ns < to_ns;
         i++, k->budget--) {
        int64_t end_ns = c->items[i].to_ns < to_ns ? c->items[i].to_ns : to_ns;
        const struct wait_interval *s =
            c->items[i].is == INTERVAL_SEGMENT ? &all->segments[c->items[i].of] : NULL;
        if (end_ns <= from_ns)
            continue;
        if (s && k->counts(k->h->view, s))
            keeper_follow(k, s->thread, from_ns, end_ns, depth + 1);
        else
            keeper_add(k, c, end_ns - from_ns);
        from_ns = end_ns;
    }
    if (from_ns < to_ns)
        keeper_add(k, c, to_ns - from_ns);
}

/* Finds the threads that kept a wait interval, and for how long; returns its length, 0 if it does
 * not count. */
static int64_t keeper_search_segment(struct keeper_search *k, uint32_t segment)
{
    const struct table_view *view = k->h->view;
    const struct wait_interval *s = &view->measured->segments[segment];
    while (k->kept_count)
        k->ns[k->kept_by[--k->kept_count]] = 0;
    if (!table_wants(view, view->measured->waits[s->wait].thread) || !k->counts(view, s))
        return 0;
    int64_t ns = finding_rows_segment_ns(k->h, segment),
            begin_ns = wait_interval_begin(view->measured, segment),
            from_ns = begin_ns > view->from_ns ? begin_ns : view->from_ns;
    keeper_follow(k, s->thread, from_ns, from_ns + ns, 0);
    return ns;
}

/* Returns for how long a thread kept the one of its waiters that waited most: the run would hardly
 * be shorter by more if none had waited. */
static int64_t keeper_longest_waiter_ns(struct keeper_search *k, uint32_t thread)
{
    const struct intervals *all = k->h->view->measured;
    int64_t *by = xcalloc(all->thread_count, sizeof *by), most = 0;
    k->budget = KEEPER_BUDGET;
    for (uint32_t i = 0; i < all->segment_count; i++) {
        if (!keeper_search_segment(k, i) || !k->ns[thread])
            continue;
        const struct wait_record *w = &all->waits[all->segments[i].wait];
        int64_t *ns = &by[intervals_for_thread(all, w->thread) - all->threads];
        *ns += k->ns[thread];
        most = *ns > most ? *ns : most;
    }
    free(by);
    return most;
}

static void add_keeper(struct finding_rows *h, enum finding_row_kind kind, uint32_t thread,
                       const struct finding_keepers *k, int64_t all_ns, int64_t gain_ns)
{
    const struct wait_interval *s = &h->view->measured->segments[k->longest];
    const struct wait_record *w = &h->view->measured->waits[s->wait];
    if (kind == FINDING_ROW_BOTTLENECK &&
        interval_cache_category(h->view->run, w->begin) == CATEGORY_BARRIER)
        kind = FINDING_ROW_LATE_ARRIVAL;
    struct table_cell *cells =
        finding_rows_add(h, kind, 1, thread, k->ns, all_ns, table_event(h->view, w->begin));
    if (!cells)
        return;
    finding_rows_release(h, cells, s);
    finding_rows_wait(h, cells, w, k->waits);
    if (w->about == thread) /* a message from this thread alone */
        cells[FINDING_ROW_OBJECT] = (struct table_cell){0};
    if (cells[FINDING_ROW_GAIN].number > gain_ns)
        cells[FINDING_ROW_GAIN] = table_cell_number(gain_ns);
}

/* Sums up by thread for how long it kept others, and returns the sum of all. */
static int64_t keeper_sum(struct keeper_search *k, struct finding_keepers *by)
{
    int64_t all_ns = 0;
    for (uint32_t i = 0; i < k->h->view->measured->segment_count; i++) {
        all_ns += keeper_search_segment(k, i);
        for (uint32_t j = 0; j < k->kept_count; j++) {
            struct finding_keepers *of = &by[k->kept_by[j]];
            int64_t ns = k->ns[k->kept_by[j]];
            of->ns += ns;
            of->waits++;
            if (ns > of->longest_ns) {
                of->longest_ns = ns;
                of->longest = i;
            }
        }
    }
    return all_ns;
}

/* Adds the thread for which other threads mostly wait, as the search says. */
static void findings_table_check_holders(struct keeper_search search, enum finding_row_kind kind)
{
    const struct intervals *all = search.h->view->measured;
    struct finding_keepers *by = xcalloc(all->thread_count + 1, sizeof *by);
    search.ns = xcalloc(all->thread_count + 1, sizeof *search.ns);
    search.kept_by = xcalloc(all->thread_count + 1, sizeof *search.kept_by);
    search.budget = KEEPER_BUDGET;
    int64_t all_ns = keeper_sum(&search, by);
    for (uint32_t i = 0; i < all->thread_count && all->thread_count > 2; i++)
        if (by[i].ns >= FEW_NS && (double)by[i].ns > KEPT_SHARE * (double)all_ns &&
            (double)by[i].ns > LIFE_SHARE * (double)search.h->run_ns)
            add_keeper(search.h, kind, all->threads[i].thread, &by[i], all_ns,
                       keeper_longest_waiter_ns(&search, i));
    free(search.kept_by);
    free(search.ns);
    free(by);
}

/* ---- threads ---- */

/* Threads that were not joined, or had no CPU: their number, and the one with the longest time. */
struct finding_ends {
    const struct thread_timeline *worst;
    int64_t ns, all_ns, lives_ns;
    uint32_t count;
};

/* What is checked of each thread. */
struct finding_threads {
    struct finding_ends ends, without, unplaced, late;
    int64_t times; /* wake-ups of the late ones; 0: other times are among them */
};

static void add_end(struct finding_ends *ends, const struct thread_timeline *c, int64_t ns,
                    int64_t life_ns)
{
    ends->count++;
    ends->all_ns += ns;
    ends->lives_ns += life_ns;
    if (ns > ends->ns) {
        ends->ns = ns;
        ends->worst = c;
    }
}

/* Counts a thread that was long without a CPU, if its CPU time is known. */
static void findings_table_check_cpu_shortage(const struct table_view *view,
                                              const struct thread_timeline *c,
                                              const struct thread_states *s,
                                              struct finding_ends *without)
{
    if (!cpu_source_known(view, c))
        return;
    int64_t ready = s->of[THREAD_STATE_RUNNABLE].total_ns;
    if (ready >= FEW_NS && (double)ready > READY_SHARE * (double)s->life_ns)
        add_end(without, c, ready, s->life_ns);
}

static void findings_table_check_thread(struct finding_rows *h, const struct thread_timeline *c,
                                        struct finding_threads *threads)
{
    const struct table_view *view = h->view;
    const struct thread_states *s = finding_rows_states(h, c);
    if (!s->life_ns || !table_wants(view, c->thread) || !table_lives(view, c->thread))
        return;
    bool placed = cpu_states_is_placed_task(view->lives.spans, c->thread);
    findings_table_check_cpu_shortage(view, c, s, placed ? &threads->unplaced : &threads->without);
    int64_t ready = s->let_go_ns, left = s->of[THREAD_STATE_EXITED].total_ns;
    if (!placed && ready >= FEW_NS && (double)ready > READY_SHARE * (double)s->life_ns &&
        ready > s->active_ns) {
        add_end(&threads->late, c, ready, s->life_ns);
        if (!cpu_source_known(view, c)) /* else other times are among them */
            threads->times += (int64_t)s->of[THREAD_STATE_RUNNABLE].count;
    }
    if (left >= FEW_NS && (double)left > LEFT_SHARE * (double)h->run_ns)
        add_end(&threads->ends, c, left, s->life_ns);
}

static struct table_cell *add_without(struct finding_rows *h, enum finding_row_kind kind,
                                      const struct finding_ends *without)
{
    return without->count
               ? finding_rows_add(h, kind, without->count, without->worst->thread, without->all_ns,
                                  without->lives_ns, table_event(h->view, without->worst->start))
               : NULL;
}

static void add_late(struct finding_rows *h, const struct finding_threads *threads)
{
    struct table_cell *cells = add_without(h, FINDING_ROW_WAKEUP_LATENCY, &threads->late);
    if (cells && threads->times)
        cells[FINDING_ROW_COUNT] = table_cell_number(threads->times);
}

static void add_ends(struct finding_rows *h, const struct finding_ends *ends)
{
    if (ends->count)
        finding_rows_add(h, FINDING_ROW_LATE_JOIN, ends->count, ends->worst->thread, ends->ns,
                         h->run_ns, table_event(h->view, ends->worst->end));
}

/* Adds a finding for each wait that has not ended.  (If a program exited normally, its threads
 * may still wait.) */
static void findings_table_check_open_waits(struct finding_rows *h)
{
    for (size_t i = 0; !h->view->apart && i < h->view->lives.open_count; i++) {
        const struct wait_record *w = &h->view->lives.open[i];
        if (run_exited(h->view->run, w->thread) || w->unexplained == UNATTRIBUTED_DELETED)
            continue;
        struct table_cell *cells =
            finding_rows_add(h, FINDING_ROW_OPEN, 1, w->thread, w->to_ns - w->from_ns, h->run_ns,
                             table_event(h->view, w->begin));
        if (!cells)
            return;
        finding_rows_wait(h, cells, w, 0);
    }
}

static void findings_table_check_unattributed(struct finding_rows *h)
{
    const struct table_view *view = h->view;
    int64_t all = 0, unexplained = 0;
    const struct wait_record *most = NULL;
    for (size_t i = 0; i < view->measured->wait_count; i++) {
        const struct wait_record *w = &view->measured->waits[i];
        all += w->to_ns - w->from_ns;
        if (!w->unexplained)
            continue;
        unexplained += w->to_ns - w->from_ns;
        if (!most || w->to_ns - w->from_ns > most->to_ns - most->from_ns)
            most = w;
    }
    if (most && unexplained >= FEW_NS && (double)unexplained > UNEXPLAINED_SHARE * (double)all)
        finding_rows_add(h, FINDING_ROW_UNATTRIBUTED, 1, most->thread, unexplained, all,
                         table_event(view, most->begin));
}

/* ---- the critical path ---- */

struct finding_path_part { /* part of the path on one thread */
    int64_t ns, longest_ns;
    const struct path_piece *longest;
};

static void findings_table_check_critical_path(struct finding_rows *hinting,
                                               const struct critical_path *path)
{
    const struct table_view *view = hinting->view;
    const struct intervals *all = view->measured;
    struct finding_path_part *by = xcalloc(all->thread_count + 1, sizeof *by);
    uint32_t most = 0;
    int64_t length = 0;
    for (size_t i = 0; i < path->count; i++) {
        const struct path_piece *p = &path->pieces[i];
        int64_t from_ns = p->from_ns > view->from_ns ? p->from_ns : view->from_ns,
                ns = p->to_ns > from_ns ? p->to_ns - from_ns : 0;
        uint32_t thread = (uint32_t)(intervals_for_thread(all, p->thread) - all->threads);
        length += ns;
        by[thread].ns += ns;
        if (ns > by[thread].longest_ns) {
            by[thread].longest_ns = ns;
            by[thread].longest = p;
        }
        if (by[thread].ns > by[most].ns)
            most = thread;
    }
    const struct finding_path_part *h = &by[most];
    if (all->thread_count > 2 && h->ns >= FEW_NS && (double)h->ns > PATH_SHARE * (double)length &&
        table_wants(view, all->threads[most].thread)) {
        struct table_cell *cells =
            finding_rows_add(hinting, FINDING_ROW_PATH, 1, all->threads[most].thread, h->ns, length,
                             table_event(view, h->longest->position));
        if (cells && h->longest->step)
            cells[FINDING_ROW_LOCATION] = table_cell_place(table_place(
                view, code_segment_place(code_segments_at(&all->steps, h->longest->step))));
    }
    free(by);
}

/* ---- the table ---- */

static void *findings_table_begin(const struct table_view *view, struct error *error)
{
    struct critical_path *path = xcalloc(1, sizeof *path);
    (void)error;
    uint64_t at =
        view->past ? order_position(view->run->order, view->request->past_of) : NO_POSITION;
    if (at == NO_POSITION)
        critical_path_begin(path, view->measured, 0, view->to_ns);
    else
        critical_path_begin(path, view->measured, order_event(view->run->order, at).thread,
                            event_times_fitted(view->run, at));
    return path;
}

static bool findings_table_step(void *work, uint64_t *budget)
{
    return critical_path_step(work, *budget);
}

static void free_work(void *work)
{
    critical_path_free(work);
    free(work);
}

/* Returns the length of the part of the run in the range. */
static int64_t length_of(const struct table_view *view)
{
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (uint32_t i = 0; i < view->measured->thread_count; i++) {
        int64_t begin, end;
        const struct thread_timeline *c = &view->measured->threads[i];
        if (!thread_states_lifetime(&view->lives, c, &begin, &end) || table_until(view, c) <= begin)
            continue;
        end = table_until(view, c) < end ? table_until(view, c) : end;
        from = begin < from ? begin : from;
        to = end > to ? end : to;
    }
    from = from > view->from_ns ? from : view->from_ns;
    to = to < view->to_ns ? to : view->to_ns;
    return to > from ? to - from : 0;
}

static void findings_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct finding_rows h = {.view = view, .table = t, .run_ns = length_of(view)};
    struct finding_threads threads = {0};
    t->title = xstrdup("findings");
    finding_rows_columns(t);
    findings_table_check_open_waits(&h);
    findings_table_check_critical_path(&h, work);
    for (uint32_t i = 0; i < view->measured->thread_count; i++)
        findings_table_check_thread(&h, &view->measured->threads[i], &threads);
    add_late(&h, &threads);
    add_ends(&h, &threads.ends);
    add_without(&h, FINDING_ROW_CPU_CONTENTION, &threads.without);
    add_without(&h, FINDING_ROW_WORKERS, &threads.unplaced);
    lock_contention_add_findings(&h);
    findings_table_check_holders((struct keeper_search){.h = &h, .counts = is_meeting},
                                 FINDING_ROW_BOTTLENECK);
    findings_table_check_holders(
        (struct keeper_search){.h = &h, .counts = is_receive, .follows = true},
        FINDING_ROW_LATE_SENDER);
    wait_patterns_add_findings(&h);
    findings_table_check_unattributed(&h);
    table_arrange(t, view->request, "duration_ns");
    finding_rows_advise(&h);
    free(h.states);
    if (!t->row_count)
        table_add_note(t,
                       "no findings: no thread spends %.0f %% of its lifetime waiting for one "
                       "lock%s",
                       100 * LIFE_SHARE,
                       view->lives.open_count ? "" : ", none is blocked at the end");
}

const struct table_preset preset_findings = {.what = "findings",
                                             .begin = findings_table_begin,
                                             .step = findings_table_step,
                                             .fill = findings_table_fill,
                                             .free = free_work};
