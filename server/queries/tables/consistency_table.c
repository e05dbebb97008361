/* Table of consistency errors: where measured and attributed times break their own rules
 * (server/analysis/timing_consistency.h), and sums do not add up (consistency_rows.h). */
#include "base/alloc.h"
#include "server/run/cpu_placement.h"
#include "server/queries/tables/attribution_cells.h"
#include "server/queries/attribution_cache.h"
#include "server/queries/tables/consistency_rows.h"
#include "server/queries/tables/lifetime_sweep.h"
#include "server/analysis/timing_consistency.h"

#include <stdlib.h>

enum consistency_column { RULE, THREAD, IS, SHOULD, EVENT, COUNT, SHOULD_COUNT };

static const struct column_definition consistency_table_columns[] = {
    [RULE] = {"rule", "violated rule", .kind = TABLE_TEXT},
    [THREAD] = {"thread", "thread", .kind = TABLE_LINE},
    [IS] = {"actual_ns", "actual", .kind = TABLE_NS},
    [SHOULD] = {"expected_ns", "expected", .kind = TABLE_NS},
    [EVENT] = {"event", "event", .kind = TABLE_EVENT},
    [COUNT] = {"actual_count", "actual count", .kind = TABLE_COUNT},
    [SHOULD_COUNT] = {"expected_count", "expected count", .kind = TABLE_COUNT},
};

struct consistency_work {
    struct attribution_cells causing;
    struct timing_consistency sound;
    struct lifetime_sweep sweep;
    struct consistency_rows summed;
    const struct table_view *view;
    int64_t *filled; /* by thread index: the sum of its states */
    size_t room;
    uint32_t task; /* index of the next thread whose placements are checked */
    bool swept, added, begun, stood;
};

static void *consistency_table_begin(const struct table_view *view, char **problem)
{
    struct consistency_work *w = xcalloc(1, sizeof *w);
    w->view = w->summed.view = view;
    if (attribution_cells_begin(&w->causing, view, problem))
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

const struct table_preset preset_sound = {.what = "sound",
                                          .begin = consistency_table_begin,
                                          .step = consistency_table_step,
                                          .fill = consistency_table_fill,
                                          .free = free_work,
                                          .tells_all = true};
