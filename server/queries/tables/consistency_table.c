/* Table of consistency errors: where measured and attributed times break their own rules
 * (server/analysis/timing_consistency.h), and sums of calls and heap do not add up
 * (server/timing/profile_consistency.h). */
#include "base/alloc.h"
#include "server/analysis/timing_consistency.h"
#include "server/queries/attribution_cache.h"
#include "server/queries/tables/attribution_cells.h"
#include "server/queries/tables/lifetime_sweep.h"
#include "server/queries/tables/scope_numbers.h"
#include "server/queries/tables/table_query.h"
#include "server/run/activity_store.h"
#include "server/run/cpu_placement.h"
#include "server/run/heap_totals.h"
#include "server/timing/profile_consistency.h"

#include <stdlib.h>

/* ---- rows about calls and heap: sums that do not add up ---- */

#define CONSISTENCY_ROWS_MAX 1000u /* maximum number of violations kept */

struct consistency_rows {
    const struct table_view *view;
    struct summed_violation {
        uint8_t account; /* an enum account: the violated rule */
        uint32_t thread; /* thread line; 0: the violation is that of a process */
        int64_t is, should;
    } *breaches;
    size_t count, room;
    uint64_t broken; /* all violations, including those not kept */
    uint32_t next, thread; /* next process, next thread */
};

static void consistency_rows_add_violation(void *context, enum account account, int64_t is,
                                           int64_t should)
{
    struct consistency_rows *s = context;
    s->broken++;
    if (s->count == CONSISTENCY_ROWS_MAX)
        return;
    s->breaches = array_reserve(s->breaches, &s->room, s->count + 1, sizeof *s->breaches);
    s->breaches[s->count++] = (struct summed_violation){(uint8_t)account, s->thread, is, should};
}

/* ---- calls ---- */

/* Returns how long a thread can have been in calls.  A task of a runtime is in calls from its
 * first time on a worker thread until it is deleted. */
static int64_t time_for_calls(const struct consistency_rows *s,
                              const struct thread_timeline *course,
                              const struct call_context_thread *thread)
{
    size_t count;
    const struct placement_interval *items =
        placements_for_task(cpu_states_tasks(s->view->lives.spans), thread->line, &count);
    int64_t from_ns = course->start_ns, to_ns = course->end_ns,
            as_of_ns = (int64_t)(thread->head.time_ns - s->view->run->clock.start_ns);
    if (count && items->from_ns < from_ns)
        from_ns = items->from_ns;
    if (count && as_of_ns > to_ns)
        to_ns = as_of_ns;
    return to_ns - from_ns;
}

/* Checks the lifetime of a thread that is known from its begin to its end. */
static void consistency_rows_check_lifetime(struct consistency_rows *s,
                                            const struct call_profile *calls,
                                            const struct call_context_thread *thread)
{
    const struct thread_timeline *course = intervals_for_thread(s->view->measured, thread->line);
    if (course && course->start_ns != INTERVALS_NEVER && course->end_ns != INTERVALS_NEVER &&
        !table_note_unknown_before(s->view, course))
        profile_consistency_life(calls, time_for_calls(s, course, thread),
                                 consistency_rows_add_violation, s);
}

static void consistency_rows_check_calls(struct consistency_rows *s,
                                         const struct call_context_thread *thread)
{
    struct scope_numbers scopes = {0};
    struct call_profile calls = {0};
    uint32_t *of = scope_numbers_of(&scopes, s->view->run, thread);
    call_profile_add(&calls, thread, of);
    profile_consistency_contexts(&s->view->run->contexts, thread, consistency_rows_add_violation,
                                 s);
    profile_consistency_calls(&calls, consistency_rows_add_violation, s);
    consistency_rows_check_lifetime(s, &calls, thread);
    call_profile_free(&calls);
    free(of);
    scope_numbers_free(&scopes);
}

static void consistency_rows_check_segments(struct consistency_rows *s, uint32_t line)
{
    const struct run *run = s->view->run;
    const struct activity_span *span, *before = NULL;
    for (uint64_t i = activity_first(run, line); (span = activity_span(run, line, i)); i++) {
        const struct code_segment *steps = activity_steps(run, line, span);
        int64_t sum_ns = 0;
        for (uint16_t k = 0; k < span->count; k++)
            sum_ns += (int64_t)steps[k].ticks; /* validated: no overflow */
        if (before)
            profile_consistency_steps(sum_ns, span->time_ns - before->time_ns,
                                      consistency_rows_add_violation, s);
        before = span;
    }
}

/* ---- the heap ---- */

/* Returns whether the sums and blocks of a process are final: they are read for the last time
 * when it has exited; in a run without a known end that can be earlier. */
static bool is_whole(const struct consistency_rows *s, const struct heap_process *process)
{
    const struct run *run = s->view->run;
    return process->has_blocks && process->blocks_ns >= process->at_ns && run->clock.ended_ns &&
           !run->file.unfinished && !run->processes.items[process->process].connected;
}

/* Checks that the blocks that were not freed are those of the sums.  A thread that was killed,
 * or still existed at exit(), may have been about to record a block, so a difference of one per
 * thread is allowed. */
static void consistency_rows_check_heap(struct consistency_rows *s,
                                        const struct heap_process *process)
{
    const struct run *run = s->view->run;
    uint64_t taken = 0, freed = 0, left = process->blocks_left, threads = 0;
    struct map seen = {0};
    for (size_t i = 0; i < heap_totals_count(run); i++) {
        const struct heap_allocated *t = heap_totals_at(run, i);
        if (t->process != process->process)
            continue;
        taken += t->blocks;
        freed += t->freed + t->elsewhere; /* by the allocating thread; by others */
        threads += !map_get(&seen, t->thread, 0);
        map_put(&seen, t->thread, 0, s);
    }
    map_free(&seen);
    for (size_t i = 0; i < heap_totals_block_count(run); i++)
        left += heap_totals_block_at(run, i)->process == process->process;
    uint64_t is = taken - freed, apart = is > left ? is - left : left - is;
    s->thread = 0;
    profile_consistency_live(taken, freed, apart <= threads && taken >= freed ? is : left,
                             consistency_rows_add_violation, s);
}

/* Checks some of the data; `summed` must be zero-initialized except `view`.  Returns true when all
 * is checked. */
static bool consistency_rows_step(struct consistency_rows *s, uint64_t *budget)
{
    const struct run *run = s->view->run;
    const struct call_contexts *all = &run->contexts;
    for (; s->next < all->count; s->next++) {
        const struct call_context_thread *thread = &all->threads[s->next];
        if (!*budget)
            return false;
        *budget -= *budget < thread->count + 1 ? *budget : thread->count + 1;
        s->thread = thread->line;
        if (thread->count < 2 || !table_wants(s->view, thread->line) ||
            (thread->process < run->processes.count &&
             run->processes.items[thread->process].connected))
            continue; /* in a live run the sums change while they are read */
        consistency_rows_check_calls(s, thread);
        consistency_rows_check_segments(s, thread->line);
    }
    for (; s->next < all->count + heap_totals_process_count(run); s->next++) {
        const struct heap_process *process = heap_totals_process_at(run, s->next - all->count);
        if (is_whole(s, process))
            consistency_rows_check_heap(s, process);
    }
    return true;
}

static void consistency_rows_free(struct consistency_rows *s)
{
    free(s->breaches);
    *s = (struct consistency_rows){0};
}

/* ---- the table ---- */

enum consistency_column { RULE, THREAD, IS, SHOULD, EVENT, COUNT, SHOULD_COUNT };

static const struct column_definition consistency_table_columns[] = {
    [RULE] = {"rule", "violated rule", .kind = TABLE_TEXT},
    [THREAD] = {"thread", .kind = TABLE_LINE},
    [IS] = {"actual_ns", .kind = TABLE_NS},
    [SHOULD] = {"expected_ns", .kind = TABLE_NS},
    [EVENT] = {"event", .kind = TABLE_EVENT},
    [COUNT] = {"actual_count", .kind = TABLE_COUNT},
    [SHOULD_COUNT] = {"expected_count", .kind = TABLE_COUNT},
};

struct consistency_work {
    struct attribution_cells causing;
    struct timing_consistency sound;
    struct lifetime_sweep sweep;
    struct consistency_rows summed;
    const struct table_view *view;
    int64_t *filled; /* by thread index: the sum of its states */
    size_t room;
    uint32_t task; /* index of the next thread to check the placements of */
    bool swept, added, begun, stood;
};

static void *consistency_table_begin(const struct table_view *view, struct error *error)
{
    struct consistency_work *w = xcalloc(1, sizeof *w);
    w->view = w->summed.view = view;
    if (attribution_cells_begin(&w->causing, view, error))
        return w;
    attribution_cells_free(&w->causing);
    free(w);
    return NULL;
}

static bool consistency_check_lifetimes(struct consistency_work *w, uint64_t *budget)
{
    struct lifetime_piece piece;
    enum lifetime_sweep_result is;
    w->filled = array_reserve_zeroed(w->filled, &w->room, w->view->measured->thread_count,
                                     sizeof *w->filled);
    while ((is = lifetime_sweep_next(&w->sweep, w->view, budget, &piece)) == LIFETIME_SWEEP_PIECE) {
        struct thread_states sums;
        thread_states_sum(&w->view->lives, piece.course, piece.from_ns, piece.to_ns, &sums);
        for (unsigned state = 0; state < THREAD_STATES; state++)
            w->filled[piece.course - w->view->measured->threads] += sums.of[state].total_ns;
    }
    return is == LIFETIME_SWEEP_DONE;
}

/* Checks that a lifetime that lies completely in the range is as long as the sum of its states. */
static void consistency_check_lifetime(struct consistency_work *w, uint32_t thread)
{
    const struct table_view *view = w->view;
    const struct thread_timeline *course = &view->measured->threads[thread];
    int64_t from, to;
    if (!thread_states_lifetime(&view->lives, course, &from, &to) || from < view->from_ns ||
        to > table_until(view, course) || w->filled[thread] == to - from)
        return;
    timing_violation_add(&w->sound,
                         (struct violation){TIMING_RULE_LIFE, course->thread, course->start,
                                            w->filled[thread], to - from});
}

/* Two rings are converted by two clocks: placements that overlap by less count as successive. */
#define APART_NS 1000

static void consistency_check_task(struct consistency_work *w, uint32_t line)
{
    size_t count;
    const struct placement_interval *items =
        placements_for_task(cpu_states_tasks(cpu_placement_states(w->view->run)), line, &count);
    for (size_t i = 1; (i = placements_overlap(items, count, i)) < count; i++)
        if (items[i - 1].to_ns - items[i].from_ns > APART_NS)
            timing_violation_add(&w->sound,
                                 (struct violation){TIMING_RULE_TASK, line, NO_POSITION,
                                                    items[i].from_ns, items[i - 1].to_ns});
}

/* Checks that placements do not overlap: those of each task as a whole, regardless of the range. */
static bool consistency_check_placements(struct consistency_work *w, uint64_t *budget)
{
    const struct placements *tasks = cpu_states_tasks(cpu_placement_states(w->view->run));
    const struct intervals *all = w->view->measured;
    if (!tasks)
        return true;
    for (; w->task < all->thread_count; w->task++) {
        size_t count;
        placements_for_task(tasks, all->threads[w->task].thread, &count);
        if (!*budget)
            return false;
        *budget -= 1 + count < *budget ? 1 + count : *budget;
        if (table_wants(w->view, all->threads[w->task].thread))
            consistency_check_task(w, all->threads[w->task].thread);
    }
    for (uint32_t on = 1; on <= placements_carriers(tasks); on++) {
        const struct placement_carrier *c = placements_carrier_at(tasks, on);
        if (c->crossed)
            timing_violation_add(&w->sound,
                                 (struct violation){TIMING_RULE_CARRIER, c->crossed_line,
                                                    NO_POSITION, c->crossed_is, c->crossed_should});
    }
    return true;
}

static bool consistency_table_step(void *work, uint64_t *budget)
{
    struct consistency_work *w = work;
    if (!w->swept && !(w->swept = consistency_check_lifetimes(w, budget)))
        return false;
    if (!w->added && !(w->added = consistency_rows_step(&w->summed, budget)))
        return false;
    if (!attribution_cells_prepare(&w->causing, budget))
        return false;
    if (!w->begun)
        timing_consistency_begin(&w->sound, w->view->measured,
                                 attribution_cache_get(w->view->run, w->causing.since));
    w->begun = true;
    if (!w->stood)
        w->stood = timing_consistency_step(&w->sound, *budget);
    else
        return consistency_check_placements(w, budget);
    *budget = 0;
    return false;
}

static void add_summed(const struct consistency_work *w, struct result_table *t)
{
    for (size_t i = 0; i < w->summed.count; i++) {
        const struct summed_violation *b = &w->summed.breaches[i];
        struct table_cell *cells = table_add_row(t, 0, (struct event_id){0});
        if (!cells)
            break;
        bool counts = profile_consistency_check_counts(b->account);
        cells[RULE] = table_cell_text(profile_account_name(b->account));
        cells[THREAD] = table_cell_line(b->thread);
        cells[counts ? COUNT : IS] = table_cell_number(b->is);
        cells[counts ? SHOULD_COUNT : SHOULD] = table_cell_number(b->should);
        table_row_line(t, b->thread);
    }
    if (w->summed.broken > w->summed.count)
        table_add_note(t, "and %llu more sums",
                       (unsigned long long)(w->summed.broken - w->summed.count));
}

static void consistency_table_fill(void *work, const struct table_view *view,
                                   struct result_table *t)
{
    struct consistency_work *w = work;
    t->title = xstrdup("consistency errors");
    table_add_columns(t, consistency_table_columns,
                      sizeof consistency_table_columns / sizeof *consistency_table_columns);
    for (uint32_t i = 0; i < w->sweep.thread && i < view->measured->thread_count; i++)
        if (table_wants(view, view->measured->threads[i].thread))
            consistency_check_lifetime(w, i);
    for (size_t i = 0; i < w->sound.count; i++) {
        const struct violation *b = &w->sound.breaches[i];
        struct event_id at = table_event(view, b->position);
        struct table_cell *cells = table_add_row(t, 0, at);
        if (!cells)
            break;
        cells[RULE] = table_cell_text(timing_rule_name(b->rule));
        cells[THREAD] = table_cell_line(b->thread);
        cells[IS] = table_cell_number(b->is_ns);
        cells[SHOULD] = table_cell_number(b->should_ns);
        cells[EVENT] = table_cell_event(at);
        table_row_line(t, b->thread);
    }
    add_summed(w, t);
    if (w->sound.broken > w->sound.count)
        table_add_note(t, "and %llu more", (unsigned long long)(w->sound.broken - w->sound.count));
}

static void free_work(void *work)
{
    struct consistency_work *w = work;
    timing_consistency_free(&w->sound);
    consistency_rows_free(&w->summed);
    attribution_cells_free(&w->causing);
    free(w->filled);
    free(w);
}

const struct table_preset preset_consistency = {.what = "consistency",
                                                .begin = consistency_table_begin,
                                                .step = consistency_table_step,
                                                .fill = consistency_table_fill,
                                                .free = free_work,
                                                .tells_all = true};
