/* Functions for presets about the range and the threads of a table. */
#include "server/queries/tables/table_query.h"
#include "server/run/activity_store.h"
#include "wire/profile_region.h"
#include "server/run/call_sites.h"

#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

bool table_wants(const struct table_view *view, uint32_t line)
{
    const struct table_request *r = view->request;
    return !r->line_count ||
           bsearch(&line, r->lines, r->line_count, sizeof *r->lines, by_number) != NULL;
}

bool table_lives(const struct table_view *view, uint32_t line)
{
    const struct run *run = view->run;
    const struct target_line_type *kind =
        target_list_line_type(&run->targets, run_kind_name(run, order_line_kind(run->order, line)));
    return !kind || kind->threads;
}

/* Returns whether it ends with an event of the thread itself. */
static bool is_own(const struct interval *interval) { return interval->is != INTERVAL_SEGMENT; }

/* Returns how many of the first intervals lie in the past: those up to the last one that ends with
 * an event in it. */
static size_t count_past(const struct table_view *view, const struct thread_timeline *course)
{
    size_t low = 0, high = course->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2, i = middle;
        while (i < high && !is_own(&course->items[i]))
            i++;
        if (i < high && cone_contains(view->past, course->items[i].position))
            low = i + 1;
        else
            high = middle;
    }
    return low;
}

int64_t table_until(const struct table_view *view, const struct thread_timeline *course)
{
    int64_t until = INT64_MAX;
    if (view->past) {
        size_t n = count_past(view, course);
        bool began = course->start != NO_POSITION && cone_contains(view->past, course->start);
        until = n ? course->items[n - 1].to_ns : began ? course->start_ns : INT64_MIN;
    }
    return until < view->to_ns ? until : view->to_ns;
}

struct table_place table_place(const struct table_view *view, uint32_t place)
{
    uint32_t site = place ? call_sites_site(view->run, place) : 0;
    if (!site)
        return (struct table_place){0};
    const struct site *is = &view->run->sites.items[site - 1];
    return (struct table_place){is->process, is->address};
}

static struct table_place site_of(const struct activity_path *path)
{
    return (struct table_place){path->process,
                                path->site ? path->site - 1 : 0}; /* the call itself */
}

/* Returns a cell for a code segment in a path of calls, after the last call that ended in it. */
static struct table_cell calls_step(const struct table_view *view, struct code_segment_key step)
{
    if (!step.from)
        return table_cell_text("(thread)");
    const struct activity_path *path = activity_path(view->run, step.from);
    struct table_place function = {path->process, path->function}, after = {0};
    if (path->scope == SCOPE_OTHER)
        return table_cell_text("(other)");
    if (path->scope == SCOPE_WAITED)
        return table_cell_text(run_type_name(view->run, path->type));
    if (path->scope == SCOPE_NAMED)
        return (struct table_cell){.is = CELL_NAME, .place = function};
    if (step.to)
        after = site_of(activity_path(view->run, step.to));
    struct table_cell cell = table_cell_step_name(CELL_STEP_CALLS, function, after);
    cell.between.caller = site_of(path);
    return cell;
}

struct table_cell table_step(const struct table_view *view, uint32_t code)
{
    if (!code)
        return (struct table_cell){0};
    struct code_segment_key step = code_segments_at(&view->measured->steps, code);
    if (step.is == STEP_CALLS)
        return calls_step(view, step);
    return table_cell_step_name((enum cell_step_kind)step.is, table_place(view, step.from),
                                table_place(view, step.to));
}

struct event_id table_event(const struct table_view *view, uint64_t position)
{
    const struct order *order = view->run->order;
    if (position == NO_POSITION || position < order_first(order) || position >= order_count(order))
        return (struct event_id){0};
    struct order_event event = order_event(order, position);
    return (struct event_id){event.line, event.number};
}

struct table_cell table_site_cell(const struct table_view *view, uint32_t thread, uint64_t position)
{
    const struct run *run = view->run;
    if (!table_event(view, position).line)
        return (struct table_cell){0};
    struct order_event event = order_event(run->order, position);
    if (!event.site || (event.thread != thread && event.line != thread))
        return (struct table_cell){0};
    return table_cell_place(table_place(view, call_sites_for_line(run, event.site)));
}

int64_t table_length(const struct table_view *view)
{
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (uint32_t i = 0; i < view->measured->thread_count; i++) {
        int64_t begin, end;
        if (!thread_states_lifetime(&view->lives, &view->measured->threads[i], &begin, &end))
            continue;
        from = begin < from ? begin : from;
        to = end > to ? end : to;
    }
    return to > from ? to - from : 0;
}
