#include "server/queries/tables/time_bounds.h"

#include "base/alloc.h"
#include "server/timing/call_profile.h"

#include <stdlib.h>

enum bounds_column { SCOPE, CALLS, ELAPSED_MIN, ELAPSED_MAX, THREAD_NS, THREAD_COUNT };

#define SOURCE "instrumented calls"
static const struct column_definition time_bounds_columns[] = {
    [SCOPE] = {"function", "function", .kind = TABLE_PLACE, .source = SOURCE},
    [CALLS] = {"calls", "calls", .kind = TABLE_COUNT, .source = SOURCE},
    [ELAPSED_MIN] = {"elapsed_min_ns", "elapsed (lower bound)", .kind = TABLE_NS, .source = SOURCE},
    [ELAPSED_MAX] = {"elapsed_max_ns", "upper bound", .kind = TABLE_NS, .source = SOURCE},
    [THREAD_NS] = {"thread_ns", "summed over threads", .kind = TABLE_NS, .source = SOURCE},
    [THREAD_COUNT] = {"thread_count", "in threads", .kind = TABLE_COUNT, .source = SOURCE},
};

static void time_bounds_add_thread(struct time_bounds *b, const struct table_view *view,
                                   const struct call_context_thread *thread)
{
    struct call_profile calls = {0};
    uint32_t *scopes = scope_numbers_of(&b->scopes, view->run, thread);
    call_profile_add(&calls, thread, scopes);
    b->items = array_reserve_zeroed(b->items, &b->room, b->scopes.count + 1, sizeof *b->items);
    for (size_t i = 1; i < calls.function_count; i++) {
        const struct call_sums *s = &calls.functions[i].sums;
        struct time_bound *to = &b->items[calls.functions[i].scope];
        to->calls += s->calls;
        to->all_ns += s->total_ns;
        to->longest_ns = s->total_ns > to->longest_ns ? s->total_ns : to->longest_ns;
        to->threads += s->calls > 0;
        to->timed |= s->timed && s->total;
    }
    call_profile_free(&calls);
    free(scopes);
}

static void time_bounds_add_columns(struct result_table *t)
{
    table_add_columns(t, time_bounds_columns,
                      sizeof time_bounds_columns / sizeof *time_bounds_columns);
    for (uint32_t i = 0; i < t->column_count; i++)
        t->columns[i].exact = i != ELAPSED_MIN && i != ELAPSED_MAX;
}

static void time_bounds_add_row(const struct time_bounds *b, const struct table_view *view,
                                uint32_t scope, struct result_table *t)
{
    const struct time_bound *is = &b->items[scope];
    struct table_cell *cells = is->calls ? table_add_row(t, 0, (struct event_id){0}) : NULL;
    int64_t run_ns = table_length(view);
    if (!cells)
        return;
    cells[SCOPE] = scope_numbers_cell(&b->scopes, view->run, scope);
    cells[CALLS] = table_cell_number((int64_t)is->calls);
    cells[THREAD_COUNT] = table_cell_number(is->threads);
    if (!is->timed)
        return;
    int64_t most_ns = is->all_ns > run_ns && run_ns >= is->longest_ns ? run_ns : is->all_ns;
    cells[ELAPSED_MIN] = table_cell_number(is->longest_ns);
    cells[ELAPSED_MAX] = table_cell_number(most_ns);
    cells[THREAD_NS] = table_cell_number(is->all_ns);
}

bool time_bounds_step(struct time_bounds *b, const struct table_view *view, uint64_t *budget)
{
    const struct call_contexts *all = &view->run->contexts;
    for (; b->next < all->count; b->next++) {
        const struct call_context_thread *thread = &all->threads[b->next];
        if (!*budget)
            return false;
        *budget -= *budget < thread->count + 1 ? *budget : thread->count + 1;
        if (thread->count > 1 && table_wants(view, thread->line))
            time_bounds_add_thread(b, view, thread);
    }
    return true;
}

void time_bounds_fill(const struct time_bounds *b, const struct table_view *view,
                      struct result_table *t)
{
    t->title = xstrdup("elapsed time per function: bounds");
    time_bounds_add_columns(t);
    for (uint32_t i = 1; i < b->room && i <= b->scopes.count; i++)
        time_bounds_add_row(b, view, i, t);
    table_add_note(t,
                   "lower bound: the longest single thread; upper bound: the sum over threads, or "
                   "the run; exact with POET_MEASURE=calls=every");
    table_arrange(t, view->request, "elapsed_min_ns");
}

void time_bounds_free(struct time_bounds *b)
{
    free(b->items);
    scope_numbers_free(&b->scopes);
    *b = (struct time_bounds){0};
}
