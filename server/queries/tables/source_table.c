/* Table of the source: the costs of each place of the code (line_spots.h), from the same sums as
 * the tables of calls, waits and the critical path.  A function's self time is placed at its begin,
 * as the place within it is known only at its calls and events.  The client converts places to
 * source lines by the debug information and merges places of one line. */
#include "server/queries/tables/line_spots.h"

#include "base/alloc.h"
#include "server/queries/attribution_cache.h"
#include "server/queries/interval_cache.h"
#include "server/queries/tables/attribution_cells.h"
#include "server/queries/tables/path_baseline.h"
#include "server/analysis/wait_groups.h"
#include "server/analysis/critical_path.h"
#include "server/timing/call_profile.h"
#include "server/run/event_times.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>

enum source_stage { EXPLAIN, GROUP, FOLLOW, RUN, CALLS, DONE };

struct source_work {
    const struct table_view *view;
    struct attribution_cells causing;
    struct wait_groups groups;
    uint64_t again; /* generation of the intervals; 0: groups of a part, which are not kept */
    struct critical_path path;
    struct line_spots spots;
    struct call_contexts *contexts; /* NULL: for a part of the run, calls are not known */
    uint64_t taken; /* number of region readings when the request came */
    uint32_t next; /* index of the current thread */
    size_t item; /* index of its current interval */
    uint32_t measured; /* number of threads that measured their calls */
    enum source_stage stage;
};

static uint32_t kind_of(const void *context, uint32_t line)
{
    const struct run *run = context;
    return order_line_kind(run->order, line);
}

static bool is_whole(const struct table_view *view)
{
    return !view->past && view->from_ns == INT64_MIN && view->to_ns == INT64_MAX;
}

/* Sets the same groups as the table of waits, so that both share them. */
static void source_table_add_groups(struct source_work *w, const struct table_view *view)
{
    bool kept = is_whole(view) && !view->request->line_count;
    struct wait_grouping grouping = {.by = GROUP_PLACE,
                                     .which = PATH_EXPANDED,
                                     .from_ns = w->causing.from_ns,
                                     .until_ns = kept ? NULL : w->causing.until_ns,
                                     .until_count = w->causing.until_count,
                                     .kind = kind_of,
                                     .context = view->run};
    w->again = kept ? interval_cache_generation(view->run) : 0;
    if (kept) {
        w->groups = attribution_cache_acquire(view->run, w->causing.since, grouping);
        return;
    }
    w->groups.why = attribution_cache_get(view->run, w->causing.since);
    w->groups.charges.communication = attribution_cache_communication();
    w->groups.grouping = grouping;
}

static void source_table_request_calls(struct source_work *w, const struct table_view *view)
{
    w->contexts =
        (struct call_contexts *)(uintptr_t)&view->run->contexts; /* only `wanted` changes */
    w->contexts->wanted = view->run->programs.connected > 0;
    w->taken = w->contexts->taken;
}

static void *source_table_begin(const struct table_view *view, struct error *error)
{
    struct source_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    if (!attribution_cells_begin(&w->causing, view, error)) {
        attribution_cells_free(&w->causing);
        free(w);
        return NULL;
    }
    source_table_add_groups(w, view);
    path_baseline_begin_path(&w->path, view, path_baseline_target(view));
    if (is_whole(view))
        source_table_request_calls(w, view);
    return w;
}

/* ---- waits and their causes ---- */

static void add_group(struct source_work *w, const struct wait_group *group)
{
    struct line_spots *s = &w->spots;
    uint32_t place = line_spots_place(s, w->view->run, table_place(w->view, group->place));
    struct line_spot *spot = line_spots_at(s, LINE_SPOT_WAIT, place, group->type);
    const struct wait_record *longest = &w->view->measured->waits[group->first];
    spot->waited_ns += group->waited_ns;
    spot->waits += group->waits;
    line_spots_show(spot, group->most_ns, longest->begin, longest->thread);
    for (uint32_t i = 0; i < group->cause_count; i++) {
        const struct wait_group_cause *cause = &w->groups.causes[group->causes[i]];
        struct segment_id pair = wait_attribution_pair(w->groups.why, cause->pair);
        line_spots_step(s, w->view, pair.step)->made_ns += cause->ns;
    }
}

static bool source_table_step_groups(struct source_work *w, uint64_t *budget)
{
    size_t before = w->groups.done;
    bool whole = wait_groups_step(&w->groups, *budget / 8 + 1);
    uint64_t spent = 8 * (w->groups.done - before);
    *budget = spent < *budget ? *budget - spent : 0;
    for (uint32_t i = 0; whole && i < w->groups.count; i++)
        add_group(w, &w->groups.items[i]);
    return whole;
}

/* ---- critical path and running time ---- */

static void add_piece(struct source_work *w, const struct path_piece *p)
{
    int64_t from = p->from_ns > w->view->from_ns ? p->from_ns : w->view->from_ns,
            ns = p->to_ns - from;
    if (ns <= 0)
        return;
    struct line_spot *spot =
        p->step || p->is != PATH_STARTS
            ? line_spots_step(&w->spots, w->view, p->step)
            : line_spots_at(&w->spots, LINE_SPOT_NOWHERE, 0, SPOT_NOWHERE_STARTS);
    spot->path_ns += ns;
    line_spots_show(spot, ns, p->position, p->thread);
}

static bool source_table_step_path(struct source_work *w, uint64_t budget)
{
    if (!critical_path_step(&w->path, budget))
        return false;
    for (size_t i = 0; i < w->path.count; i++)
        add_piece(w, &w->path.pieces[i]);
    return true;
}

static void add_interval(struct source_work *w, const struct thread_timeline *c, size_t i,
                         int64_t until_ns)
{
    const struct interval *in = &c->items[i];
    int64_t from = interval_begin(c, i), to = in->to_ns < until_ns ? in->to_ns : until_ns;
    from = from > w->view->from_ns ? from : w->view->from_ns;
    if (in->is != INTERVAL_RUNS || to <= from)
        return;
    struct line_spot *spot = line_spots_step(&w->spots, w->view, in->step);
    spot->ran_ns += to - from;
    line_spots_show(spot, to - from, in->position, c->thread);
}

/* Adds the running time of the threads that count. */
static bool source_table_step_runs(struct source_work *w, uint64_t *budget)
{
    for (; w->next < w->causing.until_count; w->next++, w->item = 0) {
        const struct thread_timeline *c = &w->view->measured->threads[w->next];
        for (; w->item < c->count; w->item++, --*budget) {
            if (!*budget)
                return false;
            add_interval(w, c, w->item, w->causing.until_ns[w->next]);
        }
    }
    w->next = 0;
    return true;
}

/* ---- calls ---- */

/* Returns the call site of a context: its return address less 1, as events have a place within
 * the call. */
static struct table_place called_from(const struct call_context_thread *thread,
                                      const struct call_context *c)
{
    return (struct table_place){thread->process, c->sums.is.site ? c->sums.is.site - 1 : 0};
}

/* Returns the place of a context's self time: the begin of its function; for another scope the
 * call site or, if that is unknown, the enclosing function. */
static struct table_place own_place(const struct call_context_thread *thread, uint32_t index)
{
    const struct call_context *c = &thread->items[index];
    struct table_place from = called_from(thread, c);
    if (c->sums.is.scope != SCOPE_FUNCTION && from.address)
        return from;
    while (index && thread->items[index].sums.is.scope != SCOPE_FUNCTION)
        index = thread->items[index].sums.is.parent;
    return (struct table_place){thread->process, index ? thread->items[index].sums.is.function : 0};
}

/* Returns the number of the spot of a context's calls: contexts of one spot are summed as those of
 * one function are. */
static uint32_t spot_of(struct source_work *w, const struct call_context_thread *thread,
                        uint32_t index)
{
    const struct call_context *c = &thread->items[index];
    bool function = snapshot_scope_is_function(&c->sums.is);
    struct table_place callee = {thread->process, function ? c->sums.is.function : 0};
    uint32_t from = line_spots_place(&w->spots, w->view->run, called_from(thread, c)),
             to = line_spots_place(&w->spots, w->view->run, callee);
    return (uint32_t)(line_spots_at(&w->spots, LINE_SPOT_CALL, from, to) - w->spots.items) + 1;
}

static struct line_spot *own_spot(struct source_work *w, const struct call_context_thread *thread,
                                  uint32_t index)
{
    uint32_t at = line_spots_place(&w->spots, w->view->run, own_place(thread, index));
    return at ? line_spots_at(&w->spots, LINE_SPOT_SELF, at, 0)
              : line_spots_at(&w->spots, LINE_SPOT_NOWHERE, 0, SPOT_NOWHERE_SELF);
}

static void add_own(struct source_work *w, const struct call_context_thread *thread, uint32_t index)
{
    struct call_sums sums = call_profile_for_context(thread, &thread->items[index]);
    struct line_spot *spot = own_spot(w, thread, index);
    spot->self_ns += sums.self_ns;
    spot->timed |= sums.timed;
    if (!spot->thread)
        spot->thread = thread->line;
}

static void add_called(struct source_work *w, const struct call_function *f)
{
    struct line_spot *spot = &w->spots.items[f->scope - 1];
    spot->calls += f->sums.calls;
    spot->called_ns += f->sums.self_ns;
    spot->total_ns += f->sums.total_ns;
    spot->timed |= f->sums.timed;
    spot->landed |= f->sums.total && f->sums.timed;
}

static void add_thread(struct source_work *w, const struct call_context_thread *thread)
{
    if (thread->count < 2 || !table_wants(w->view, thread->line))
        return;
    struct call_profile calls = {0};
    uint32_t *spots = xcalloc(thread->count, sizeof *spots);
    for (uint32_t i = 1; i < thread->count; i++) {
        if (thread->items[i].sums.is.scope == SCOPE_EDGE)
            continue;
        spots[i] = spot_of(w, thread, i);
        add_own(w, thread, i);
    }
    call_profile_add(&calls, thread, spots);
    for (size_t i = 1; i < calls.function_count; i++)
        add_called(w, &calls.functions[i]);
    call_profile_free(&calls);
    free(spots);
    w->measured++;
}

/* (In a live run it waits for the newest sums.) */
static bool source_table_step_calls(struct source_work *w, uint64_t *budget)
{
    struct call_contexts *all = w->contexts;
    if (all && w->view->run->programs.connected && all->taken == w->taken && all->wanted)
        return false;
    for (; all && w->next < all->count; w->next++) {
        const struct call_context_thread *thread = &all->threads[w->next];
        if (!*budget)
            return false;
        *budget -= *budget < thread->count + 1 ? *budget : thread->count + 1;
        add_thread(w, thread);
    }
    return true;
}

/* ---- stages ---- */

static bool source_table_run_stage(struct source_work *w, uint64_t *budget)
{
    switch (w->stage) {
    case EXPLAIN:
        return attribution_cells_prepare(&w->causing, budget);
    case GROUP:
        return source_table_step_groups(w, budget);
    case FOLLOW:
        return source_table_step_path(w, *budget);
    case RUN:
        return source_table_step_runs(w, budget);
    case CALLS:
        return source_table_step_calls(w, budget);
    default:
        return true;
    }
}

static bool source_table_step(void *work, uint64_t *budget)
{
    struct source_work *w = work;
    while (w->stage != DONE && *budget && source_table_run_stage(w, budget))
        w->stage++;
    return w->stage == DONE;
}

static void add_notes(const struct source_work *w, struct result_table *t)
{
    if (!w->contexts)
        table_add_note(t, "calls are sums over each thread's lifetime and are omitted for a part "
                          "of the run");
    else if (!w->measured)
        table_add_note(t,
                       "no function profile: compile with poetcc -profile and enable calls (poet "
                       "record -m, POET_MEASURE) to have calls, self and total");
    else
        table_add_note(t, "self time is shown at the first line of the function; its distribution "
                          "over lines is unknown");
}

static void source_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct source_work *w = work;
    w->view = view;
    t->title = xstrdup("source");
    line_spots_fill(&w->spots, view, t);
    add_notes(w, t);
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct source_work *w = work;
    attribution_cache_release(w->causing.run, w->groups, w->again);
    attribution_cells_free(&w->causing);
    critical_path_free(&w->path);
    line_spots_free(&w->spots);
    free(w);
}

static const char *const source_table_groupings[] = {"place", NULL};

const struct table_preset preset_source = {.what = "source",
                                           .by = source_table_groupings,
                                           .begin = source_table_begin,
                                           .step = source_table_step,
                                           .fill = source_table_fill,
                                           .free = free_work};
