/* Table of calls: how often each function was called, and its times (server/timing/call_profile.h).
 */
#include "base/alloc.h"
#include "base/map.h"
#include "server/queries/tables/calls_rows.h"
#include "server/queries/tables/creator_functions.h"
#include "server/queries/tables/overlaps.h"
#include "server/queries/tables/scope_numbers.h"
#include "server/queries/tables/table_query.h"
#include "server/run/run.h"
#include "server/timing/call_contexts.h"
#include "server/timing/intervals.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

/* The calls of one thread, or of all threads. */
struct calls_timed {
    uint32_t line; /* of the thread; 0: all */
    struct call_profile calls;
    int64_t life_ns;
};

struct calls_work {
    const struct table_view *view;
    struct call_contexts *all;
    uint64_t taken; /* number of region readings when the request came */
    struct scope_numbers scopes;
    struct creator_functions makers;
    struct overlaps overlaps;
    struct calls_timed *called;
    size_t called_count, called_room;
    uint32_t next; /* index of the next thread to add */
    uint32_t threads; /* number of threads that count */
    uint32_t processes; /* number of their processes */
    bool *seen; /* by process: whether it is counted */
    size_t seen_room;
    struct snapshot_head head; /* sums and maxima of these threads */
    uint32_t blind; /* number of threads with unknown CPU time */
    int64_t life_ns, as_of_ns;
    /* Time of calls before the first events of their threads, and after the last. */
    int64_t beyond_ns;
    double cost_ps;
    bool by_thread;
    bool forgotten; /* begins of threads were discarded: their lifetimes are not known */
    bool narrowed; /* only a part of a thread's lifetime is requested */
    uint32_t times; /* maximum number of snapshots of any thread */
    int64_t from_ns, to_ns; /* range that the snapshots cover, over all threads */
};

static bool has_range(const struct table_view *view)
{
    return view->from_ns != INT64_MIN || view->to_ns != INT64_MAX;
}

static void *calls_table_begin(const struct table_view *view, struct error *error)
{
    if (view->past) {
        error_set(error, "the function profile is recorded over time and is unknown for the "
                         "causal past of an event");
        return NULL;
    }
    if (strcmp(view->request->by, "cpu") == 0) {
        error_set(
            error,
            "calls are recorded as sums per thread, without times, and cannot be separated by CPU; "
            "poet states --by cpu shows on which CPU a thread ran, --by thread, or --threads, "
            "shows calls by thread");
        return NULL;
    }
    struct calls_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    w->by_thread = strcmp(view->request->by, "thread") == 0;
    w->all = (struct call_contexts *)(uintptr_t)&view->run->contexts; /* only `wanted` changes */
    w->all->wanted = view->run->programs.connected > 0;
    w->taken = w->all->taken;
    if (!has_range(view))
        overlaps_begin(&w->overlaps, view);
    return w;
}

/* ---- sums ---- */

static int64_t as_of_ns(const struct table_view *view, const struct call_context_thread *thread)
{
    return (int64_t)(thread->head.time_ns - view->run->clock.start_ns);
}

/* Returns the time from a thread's first event to its exit or, if it runs or was killed, to the
 * end of its lifetime; sets its begin. */
static int64_t calls_table_lifetime_of(const struct table_view *view,
                                       const struct call_context_thread *thread, int64_t *begin_ns)
{
    const struct thread_timeline *course = intervals_for_thread(view->measured, thread->line);
    int64_t from_ns, to_ns;
    if (!course || !thread_states_lifetime(&view->lives, course, &from_ns, &to_ns))
        return 0;
    if (course->start_ns != INTERVALS_NEVER)
        from_ns = course->start_ns;
    if (course->end_ns != INTERVALS_NEVER)
        to_ns = course->end_ns;
    *begin_ns = from_ns;
    return to_ns - from_ns;
}

static struct calls_timed *called_of(struct calls_work *w, uint32_t line)
{
    uint32_t of = w->by_thread ? line : 0;
    for (size_t i = w->called_count; i > 0; i--)
        if (w->called[i - 1].line == of)
            return &w->called[i - 1];
    w->called = array_reserve(w->called, &w->called_room, w->called_count + 1, sizeof *w->called);
    w->called[w->called_count] = (struct calls_timed){.line = of};
    return &w->called[w->called_count++];
}

static void note_head(struct calls_work *w, const struct call_context_thread *thread)
{
    const struct snapshot_head *head = &thread->head;
    int64_t at_ns = as_of_ns(w->view, thread);
    w->seen = array_reserve_zeroed(w->seen, &w->seen_room, thread->process + 1, sizeof *w->seen);
    w->processes += !w->seen[thread->process];
    w->seen[thread->process] = true;
    w->blind += (head->flags & SNAPSHOT_BLIND) != 0;
    w->head.folded += head->folded;
    w->head.deep += head->deep;
    w->head.mismatched += head->mismatched;
    w->head.backwards += head->backwards;
    w->head.enter_ps = head->enter_ps > w->head.enter_ps ? head->enter_ps : w->head.enter_ps;
    w->head.exit_ps = head->exit_ps > w->head.exit_ps ? head->exit_ps : w->head.exit_ps;
    w->as_of_ns = !w->threads || at_ns < w->as_of_ns ? at_ns : w->as_of_ns;
}

/* Adds the sums of a thread.  They can exceed its lifetime: a task is in calls before it is
 * declared, and still when its end is recorded. */
static void add_sums(struct calls_work *w, const struct call_context_thread *thread,
                     int64_t life_ns)
{
    struct calls_timed *called = called_of(w, thread->line);
    uint32_t *scopes = scope_numbers_of(&w->scopes, w->view->run, thread);
    int64_t self_ns = call_profile_self(thread);
    if (self_ns > life_ns && !w->forgotten) {
        w->beyond_ns += self_ns - life_ns;
        life_ns = self_ns;
    }
    struct map within = {0};
    creator_functions_within(&w->makers, w->view, &w->scopes, thread->line, &within);
    called->calls.by_site = table_option(w->view->request, "points") != NULL;
    called->calls.within = &within;
    called->calls.concurrent = overlaps_of(&w->overlaps, w->next);
    call_profile_add(&called->calls, thread, scopes);
    called->calls.within = NULL;
    called->calls.concurrent = NULL;
    map_free(&within);
    free(scopes);
    called->life_ns += life_ns;
    w->life_ns += life_ns;
    note_head(w, thread);
    w->threads++;
}

/* Converts a time of the run to the program's clock. */
static uint64_t clock_of(const struct table_view *view, int64_t ns)
{
    uint64_t start_ns = view->run->clock.start_ns;
    return ns < 0 && (uint64_t)-ns >= start_ns ? 1 : start_ns + (uint64_t)ns;
}

static void note_part(struct calls_work *w, int64_t from_ns, int64_t to_ns)
{
    w->from_ns = !w->threads || from_ns < w->from_ns ? from_ns : w->from_ns;
    w->to_ns = !w->threads || to_ns > w->to_ns ? to_ns : w->to_ns;
}

/* Adds the calls of a thread between the two snapshots that the range selects. */
static void add_part(struct calls_work *w, const struct call_context_thread *thread,
                     int64_t begin_ns, int64_t life_ns)
{
    const struct table_view *view = w->view;
    int64_t from_ns = view->from_ns, to_ns = view->to_ns, end_ns = begin_ns + life_ns;
    if (begin_ns >= to_ns || end_ns <= from_ns)
        return;
    struct profile_range part =
        profile_range_make(thread, from_ns == INT64_MIN ? 0 : clock_of(view, from_ns),
                           to_ns == INT64_MAX ? UINT64_MAX : clock_of(view, to_ns));
    uint32_t times = call_contexts_times(thread);
    int64_t first_ns =
                part.from_ns ? (int64_t)(part.from_ns - view->run->clock.start_ns) : begin_ns,
            last_ns = as_of_ns(view, &part.thread);
    last_ns = last_ns < end_ns ? last_ns : end_ns;
    w->times = times > w->times ? times : w->times;
    w->narrowed |= begin_ns < from_ns || end_ns > to_ns;
    note_part(w, first_ns, last_ns);
    add_sums(w, &part.thread, last_ns > first_ns ? last_ns - first_ns : 0);
    profile_range_free(&part);
}

static void add_thread(struct calls_work *w, const struct call_context_thread *thread)
{
    int64_t begin_ns = 0;
    if (thread->count < 2 || !table_wants(w->view, thread->line))
        return;
    int64_t life_ns = calls_table_lifetime_of(w->view, thread, &begin_ns);
    w->forgotten = !has_range(w->view) && order_first(w->view->run->order) > 0;
    if (has_range(w->view))
        add_part(w, thread, begin_ns, life_ns);
    else
        add_sums(w, thread, w->forgotten ? 0 : life_ns);
}

/* (In a live run it waits for the newest sums.) */
static bool calls_table_step(void *work, uint64_t *budget)
{
    struct calls_work *w = work;
    if (w->view->run->programs.connected && w->all->taken == w->taken && w->all->wanted)
        return false;
    if (!overlaps_step(&w->overlaps, budget))
        return false;
    for (; w->next < w->all->count; w->next++) {
        const struct call_context_thread *thread = &w->all->threads[w->next];
        if (!*budget)
            return false;
        *budget -= *budget < thread->count + 1 ? *budget : thread->count + 1;
        add_thread(w, thread);
    }
    return true;
}

/* ---- table ---- */

static struct calls_rows rows_of(struct calls_work *w, struct result_table *t)
{
    return (struct calls_rows){.run = w->view->run,
                               .scopes = &w->scopes,
                               .table = t,
                               .life_ns = w->life_ns,
                               .part = has_range(w->view),
                               .raw = w->view->request->flags & TABLE_RAW};
}

/* Uses measured times as lifetimes, on which shares are based, if begins of threads were
 * discarded. */
static void calls_table_measure_lifetimes(struct calls_work *w)
{
    if (w->forgotten)
        w->life_ns = 0;
    for (size_t i = 0; i < w->called_count && w->forgotten; i++) {
        struct call_sums one = call_profile_all(&w->called[i].calls);
        w->called[i].life_ns = one.self_ns;
        w->life_ns += one.self_ns;
    }
}

static struct call_sums calls_table_sum_threads(const struct calls_work *w)
{
    struct call_sums all = {0};
    for (size_t i = 0; i < w->called_count; i++) {
        struct call_sums one = call_profile_all(&w->called[i].calls);
        call_profile_sum(&all, &one);
    }
    return all;
}

/* Sets the samples of all threads and their CPU time, also of those that are in no function. */
static void calls_table_count_samples(const struct calls_work *w, struct calls_rows *rows)
{
    for (size_t i = 0; i < w->called_count; i++)
        for (size_t f = 0; f < w->called[i].calls.function_count; f++) {
            const struct call_sums *s = &w->called[i].calls.functions[f].sums;
            rows->sampled |= s->sampled;
            rows->samples += s->samples;
            rows->sampled_ns += s->sampled ? s->cpu_ns : 0;
        }
}

/* Returns whether the number of concurrent calls is exact; a thread's own count is an upper
 * bound. */
static bool overlaps_known(const struct calls_work *w)
{
    return w->overlaps.known && w->overlaps.whole;
}

static void add_concurrent(const struct calls_work *w, const struct call_sums *all,
                           struct result_table *t)
{
    if (overlaps_known(w) || calls_rows_shows_times(calls_rows_form(w->view->request)))
        return;
    if (w->processes > 1)
        table_add_note(t,
                       "concurrent covers the threads of one process only; for overlap between "
                       "these %u processes see poet calls --cases (POET_MEASURE=calls=every)",
                       w->processes);
    if (all->concurrent)
        table_add_note(
            t, "concurrent is an upper bound: a thread asleep in an untraced call counts as "
               "running; it is exact with POET_MEASURE=calls=every and context-switch "
               "records, once the program has ended");
}

/* Returns how many threads recorded something; or how many were created and recorded nothing, and
 * hence no calls. */
static uint32_t calls_table_count_threads(const struct table_view *view, bool recorded)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->measured->thread_count; i++) {
        const struct thread_timeline *c = &view->measured->threads[i];
        bool started = c->start_ns != INTERVALS_NEVER;
        count += (recorded ? started : !started && c->made_ns != INTERVALS_NEVER) &&
                 table_wants(view, c->thread) && table_lives(view, c->thread);
    }
    return count;
}

static void add_silent(const struct calls_work *w, struct result_table *t)
{
    uint32_t silent = has_range(w->view) ? 0 : calls_table_count_threads(w->view, false);
    if (silent)
        table_add_note(t,
                       "%u created thread%s recorded nothing; %s calls are missing (see poet stat "
                       "for what was not traced)",
                       silent, silent == 1 ? "" : "s", silent == 1 ? "its" : "their");
}

static void add_unmeasured(const struct calls_work *w, struct result_table *t)
{
    uint32_t recorded = calls_table_count_threads(w->view, true),
             uncalled = recorded > w->threads ? recorded - w->threads : 0;
    if (untraced_reasons_calls(w->view->run) && uncalled)
        table_add_note(t,
                       "calls of up to %u thread%s are missing: measurements could not be shared "
                       "with the server (limit on file size, out of memory, or a slow server)",
                       uncalled, uncalled == 1 ? "" : "s");
}

static void add_lost(const struct calls_work *w, const struct call_sums *all,
                     struct result_table *t)
{
    const struct snapshot_head *h = &w->head;
    if (w->blind)
        table_add_note(
            t,
            "the CPU time of calls is unknown for %u thread%s: a seccomp filter forbids reading "
            "the CPU clock",
            w->blind, w->blind == 1 ? "" : "s");
    if (all->cpu && !all->blind && all->running_ns)
        table_add_note(
            t,
            "%.3f ms of calls that had not returned are not in CPU: whether they ran since they "
            "last resumed is unknown; CPU is empty where that exceeds 1 %% of self",
            (double)all->running_ns / 1e6);
    if (h->folded)
        table_add_note(t,
                       "%llu calls exceeded the table and are counted as (other) in the tree; the "
                       "sums of their functions include them",
                       (unsigned long long)h->folded);
    if (h->deep && !all->sampled)
        table_add_note(t, "%llu calls exceeded the maximum depth and were not timed",
                       (unsigned long long)h->deep);
    if (h->mismatched)
        table_add_note(t, "%llu returns without a matching entry",
                       (unsigned long long)h->mismatched);
    if (h->backwards)
        table_add_note(t, "%llu counters decreased or were invalid; maxima are used",
                       (unsigned long long)h->backwards);
}

static void add_counted(const struct call_sums *all, struct result_table *t)
{
    if (all->counted)
        table_add_note(
            t, "%llu calls were counted but not timed; their time is in their callers%s",
            (unsigned long long)all->counted,
            all->since_ns
                ? "; where timing stopped during the run (since), times cover the calls before"
                : "");
}

static void add_nested(const struct call_sums *all, struct result_table *t)
{
    if (all->nested_ns)
        table_add_note(
            t,
            "totals are sums over threads: %.3f ms of them (nested_ns) are on threads that the "
            "same function created; poet calls --elapsed shows wall-clock time",
            (double)all->nested_ns / 1e6);
}

static double calls_table_percent(double part, double of) { return of > 0 ? 100 * part / of : 0; }

static void add_footer(const struct calls_work *w, const struct call_sums *all,
                       struct result_table *t)
{
    double ms = 1e6, life = (double)w->life_ns;
    int64_t unaccounted = w->life_ns - all->self_ns;
    unsigned long long calls = (unsigned long long)all->calls;
    const char *s = w->threads == 1 ? "" : "s";
    if (!all->timed) {
        table_add_note(t, "%llu calls in %u thread%s (counted, not timed)", calls, w->threads, s);
        return;
    }
    if (w->forgotten) {
        table_add_note(
            t,
            "%.3f ms measured in %u thread%s since they started (base of all shares, as their "
            "lifetime was discarded by --keep); %llu calls, instrumentation overhead about "
            "%.3f ms: %.1f + %.1f ns per call",
            life / ms, w->threads, s, calls, all->cost_ps / 1e9, w->head.enter_ps / 1e3,
            w->head.exit_ps / 1e3);
        return;
    }
    table_add_note(t,
                   "total %.3f ms in %u thread%s, %.3f ms (%.2f %%) outside functions, %llu calls, "
                   "instrumentation overhead about %.3f ms (%.2f %%): %.1f + %.1f ns per call",
                   life / ms, w->threads, s, (double)unaccounted / ms,
                   calls_table_percent((double)unaccounted, life), calls, all->cost_ps / 1e9,
                   calls_table_percent(all->cost_ps / 1e3, life), w->head.enter_ps / 1e3,
                   w->head.exit_ps / 1e3);
    if (w->beyond_ns >= 1000)
        table_add_note(
            t,
            "%.3f ms of the total are before the first or after the last events of threads, in "
            "calls open there",
            (double)w->beyond_ns / ms);
}

static void add_samples(const struct calls_work *w, const struct call_sums *all,
                        const struct calls_rows *rows, struct result_table *t)
{
    double ms = 1e6, cpu_ms = (double)rows->sampled_ns / ms, life = (double)w->life_ns,
           waited_ms = (double)(all->self_ns - all->cpu_ns) / ms;
    table_add_note(t,
                   "total %.3f ms in %u thread%s: %.3f ms on a CPU (%llu samples, one in %.3f ms), "
                   "%.3f ms in traced waits, %.3f ms off the CPU otherwise",
                   life / ms, w->threads, w->threads == 1 ? "" : "s", cpu_ms,
                   (unsigned long long)rows->samples,
                   rows->samples ? cpu_ms / (double)rows->samples : cpu_ms, waited_ms,
                   life / ms - cpu_ms - waited_ms);
    uint32_t recorded = has_range(w->view) ? 0 : calls_table_count_threads(w->view, true);
    if (recorded > w->threads)
        table_add_note(t,
                       "%u further threads ended without a sample and a wait, and are not included",
                       recorded - w->threads);
    table_add_note(t, "times of functions are estimates from samples, ± is half of the 95 %% "
                      "confidence interval of self; times of waits are measured, their calls are "
                      "exact; the number of calls of functions is unknown");
    if (w->head.deep)
        table_add_note(t,
                       "%llu stacks could not be followed to the start of the thread: they are "
                       "below (callers not known) in the tree",
                       (unsigned long long)w->head.deep);
}

static bool calls_table_is_sampled(const struct calls_work *w)
{
    for (uint32_t i = 0; i < w->all->count; i++)
        if (w->all->threads[i].head.flags & SNAPSHOT_SAMPLED)
            return true;
    return false;
}

static void add_notes(const struct calls_work *w, const struct call_sums *all,
                      const struct calls_rows *rows, struct result_table *t)
{
    if (!w->threads && w->all->count && has_range(w->view)) {
        table_add_note(t, "no thread with a function profile existed in this range");
        return;
    }
    if (!w->threads && w->all->count && w->view->request->line_count) {
        table_add_note(t, "none of the selected lines is a thread with a function profile; poet "
                          "states lists the threads");
        return;
    }
    if (!w->threads && untraced_reasons_calls(w->view->run)) {
        add_unmeasured(w, t);
        return;
    }
    if (!w->threads && calls_table_is_sampled(w)) {
        table_add_note(t, "no thread was running when a sample was due: too little CPU time");
        return;
    }
    if (!w->threads) {
        table_add_note(t,
                       "no function profile: compile with poetcc -profile and enable calls (poet "
                       "record -m, POET_MEASURE); not available for programs connected over TCP");
        return;
    }
    if (has_range(w->view))
        table_add_note(
            t,
            "covers %.3f s to %.3f s: profile snapshots are about 1 s apart, at times of "
            "each thread's own, and are not interpolated",
            (double)w->from_ns / 1e9, (double)w->to_ns / 1e9);
    if (rows->sampled)
        add_samples(w, all, rows, t);
    else
        add_footer(w, all, t);
    if (w->view->run->programs.connected)
        table_add_note(t, "sums are as of %.3f s", (double)w->as_of_ns / 1e9);
    add_counted(all, t);
    add_nested(all, t);
    add_concurrent(w, all, t);
    add_silent(w, t);
    if (!has_range(w->view))
        add_unmeasured(w, t);
    add_lost(w, all, t);
}

static void add_rows(struct calls_work *w, struct calls_rows *rows, enum calls_form form)
{
    /* (the client adds inlined functions to the paths, and makes the list of functions) */
    enum calls_form form_rows = rows->points && form == CALLS_FLAT ? CALLS_TREE : form;
    for (size_t i = 0; i < w->called_count; i++) {
        struct calls_timed *one = &w->called[i];
        rows->calls = &one->calls;
        rows->depth = 0;
        if (w->by_thread)
            calls_rows_thread(rows, one->line, one->life_ns);
        call_profile_find_cycles(&one->calls);
        calls_rows_add(rows, form_rows);
        if (form == CALLS_WALL)
            calls_rows_outside(rows, one->life_ns);
    }
}

static void calls_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct calls_work *w = work;
    calls_table_measure_lifetimes(w);
    struct calls_rows rows = rows_of(w, t);
    struct call_sums all = calls_table_sum_threads(w);
    enum calls_form form = calls_rows_form(view->request);
    calls_table_count_samples(w, &rows);
    w->view = view;
    if (w->narrowed && w->times < 2 &&
        !table_option(view->request, "coarse")) { /* coarse: as precise as is known */
        t->problem = xstrdup("only the final profile of this run was saved: it cannot be "
                             "restricted to a range");
        return;
    }
    t->title = xstrdup("calls");
    calls_rows_columns(t, form, overlaps_known(w), rows.sampled);
    rows.points = rows.sampled && table_option(view->request, "points");
    if (rows.points)
        calls_rows_add_points(t);
    add_rows(w, &rows, form);
    calls_rows_total(&rows, &all);
    add_notes(w, &all, &rows, t);
    if (form == CALLS_CYCLES && !t->row_count && w->threads)
        table_add_note(t, "no recursion cycles");
    if (!rows.points) /* (the client does it, when it has added inlined functions) */
        table_arrange(t, view->request, calls_rows_sort(form));
    if (rows.cut)
        table_add_note(t, "call paths deeper than %d are truncated", CALLS_ROWS_DEPTH);
}

static void free_work(void *work)
{
    struct calls_work *w = work;
    for (size_t i = 0; i < w->called_count; i++)
        call_profile_free(&w->called[i].calls);
    free(w->called);
    free(w->seen);
    scope_numbers_free(&w->scopes);
    creator_functions_free(&w->makers);
    overlaps_free(&w->overlaps);
    free(w);
}

static const char *const calls_table_groupings[] = {"function", "path", "thread", "cpu", NULL};

const struct table_preset preset_calls = {.what = "calls",
                                          .by = calls_table_groupings,
                                          .begin = calls_table_begin,
                                          .step = calls_table_step,
                                          .fill = calls_table_fill,
                                          .free = free_work};
