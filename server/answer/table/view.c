/* What presets ask of what a table is about. */
#include "server/answer/table/table.h"
#include "server/run/did.h"
#include "wire/region.h"
#include "server/run/places.h"

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
    const struct target_kind *kind =
        run_target_kind(run, run_kind_name(run, order_line_kind(run->order, line)));
    return !kind || kind->threads;
}

/* Does it end with an event of the thread's own? */
static bool is_own(const struct interval *interval) { return interval->is != INTERVAL_SEGMENT; }

/* How many of the first intervals lie in the past: those up to the last that ends with an event in it. */
static size_t count_past(const struct table_view *view, const struct course_of *course)
{
    size_t low = 0, high = course->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2, i = middle;
        while (i < high && !is_own(&course->items[i]))
            i++;
        if (i < high && reach_has(view->past, course->items[i].position))
            low = i + 1;
        else
            high = middle;
    }
    return low;
}

int64_t table_until(const struct table_view *view, const struct course_of *course)
{
    int64_t until = INT64_MAX;
    if (view->past) {
        size_t n = count_past(view, course);
        bool began = course->start != NO_POSITION && reach_has(view->past, course->start);
        until = n ? course->items[n - 1].to_ns : began ? course->start_ns : INT64_MIN;
    }
    return until < view->to_ns ? until : view->to_ns;
}

struct table_place table_place(const struct table_view *view, uint32_t place)
{
    uint32_t site = place ? places_site(view->run, place) : 0;
    if (!site)
        return (struct table_place){0};
    const struct site *is = &view->run->site_list[site - 1];
    return (struct table_place){is->process, is->address};
}

static struct table_place site_of(const struct did_path *path)
{
    return (struct table_place){path->process,
                                path->site ? path->site - 1 : 0}; /* the call itself */
}

/* In a path of calls, after the last one that ended in it. */
static struct table_cell calls_step(const struct table_view *view, struct step step)
{
    if (!step.from)
        return cell_text("(thread)");
    const struct did_path *path = did_path(view->run, step.from);
    struct table_place function = {path->process, path->function}, after = {0};
    if (path->scope == SCOPE_OTHER)
        return cell_text("(other)");
    if (path->scope == SCOPE_WAITED)
        return cell_text(run_type_name(view->run, path->type));
    if (path->scope == SCOPE_NAMED)
        return (struct table_cell){.is = CELL_NAME, .place = function};
    if (step.to)
        after = site_of(did_path(view->run, step.to));
    struct table_cell cell = cell_step(CELL_STEP_CALLS, function, after);
    cell.between.caller = site_of(path);
    return cell;
}

struct table_cell table_step(const struct table_view *view, uint32_t code)
{
    if (!code)
        return (struct table_cell){0};
    struct step step = steps_at(&view->measured->steps, code);
    if (step.is == STEP_CALLS)
        return calls_step(view, step);
    return cell_step((enum cell_step)step.is, table_place(view, step.from),
                     table_place(view, step.to));
}

struct ref table_event(const struct table_view *view, uint64_t position)
{
    const struct order *order = view->run->order;
    if (position == NO_POSITION || position < order_first(order) || position >= order_count(order))
        return (struct ref){0};
    struct event event = order_event(order, position);
    return (struct ref){event.line, event.number};
}

int64_t table_length(const struct table_view *view)
{
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (uint32_t i = 0; i < view->measured->thread_count; i++) {
        int64_t begin, end;
        if (!states_life(&view->lives, &view->measured->threads[i], &begin, &end))
            continue;
        from = begin < from ? begin : from;
        to = end > to ? end : to;
    }
    return to > from ? to - from : 0;
}
