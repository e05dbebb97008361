/* Table of broken rules: events by which the program breaks a rule of its environment, as its
 * run-time system reports them (role "violation" of a target description).  A row has all of one
 * rule at one place, and their first event. */
#include "base/alloc.h"
#include "server/queries/tables/table_query.h"
#include "server/run/call_sites.h"
#include "server/run/event_times.h"

#include <stdlib.h>
#include <string.h>

enum violations_column { RULE, THREAD, OBJECT, COUNT, LOCATION, EVENT };

static const struct column_definition violations_columns[] = {
    [RULE] = {"rule", .kind = TABLE_TEXT},          [THREAD] = {"thread", .kind = TABLE_LINE},
    [OBJECT] = {"object", .kind = TABLE_LINE},      [COUNT] = {"count", .kind = TABLE_COUNT},
    [LOCATION] = {"location", .kind = TABLE_PLACE}, [EVENT] = {"event", .kind = TABLE_EVENT},
};

struct violation_group {
    const char *rule; /* owned by the run */
    struct order_event first;
    uint64_t position; /* of `first` */
    uint32_t place;
    int64_t count;
};

/* Returns the rule: what the run-time system says of the event, else what the description says of
 * its type. */
static const char *violations_rule(const struct run *run, const struct order_event *e)
{
    const struct run_text *text = run_texts(run, (struct event_id){e->line, e->number});
    const struct target_event *look =
        run_event_type(run, e->line, e->type, (enum relation)e->relation);
    return text ? text->text : look && look->text ? look->text : run_type_name(run, e->type);
}

static bool violations_counts(const struct table_view *view, const struct order_event *e,
                              uint64_t position)
{
    const struct thread_timeline *course = intervals_for_thread(view->measured, e->thread);
    int64_t at_ns = event_times_fitted(view->run, position),
            until_ns = course ? table_until(view, course) : view->to_ns;
    return table_wants(view, e->thread) && at_ns >= view->from_ns && at_ns <= until_ns;
}

/* Returns all groups, in the order of their first events; their number is *count. */
static struct violation_group *violations_groups(const struct table_view *view, size_t *count)
{
    const struct intervals *all = view->measured;
    struct violation_group *groups = NULL;
    size_t room = 0;
    *count = 0;
    for (size_t i = 0; i < all->violation_count; i++) {
        uint64_t position = all->violations[i];
        if (!table_event(view, position).line)
            continue;
        struct order_event e = order_event(view->run->order, position);
        uint32_t place = e.site ? call_sites_for_line(view->run, e.site) : 0;
        const char *rule = violations_rule(view->run, &e);
        size_t k = 0;
        if (!violations_counts(view, &e, position))
            continue;
        while (k < *count && (groups[k].place != place || strcmp(groups[k].rule, rule) != 0))
            k++;
        if (k == *count) {
            groups = array_reserve(groups, &room, k + 1, sizeof *groups);
            groups[(*count)++] = (struct violation_group){rule, e, position, place, 0};
        }
        groups[k].count++;
    }
    return groups;
}

static void violations_fill(void *work, const struct table_view *view, struct result_table *t)
{
    size_t count;
    struct violation_group *groups = violations_groups(view, &count);
    (void)work;
    t->title = xstrdup("rules violated");
    table_add_columns(t, violations_columns,
                      sizeof violations_columns / sizeof *violations_columns);
    for (size_t i = 0; i < count; i++) {
        const struct violation_group *g = &groups[i];
        struct event_id at = table_event(view, g->position);
        struct table_cell *cells = table_add_row(t, 0, at);
        if (!cells)
            break;
        cells[RULE] = table_cell_text(g->rule);
        cells[THREAD] = table_cell_line(g->first.thread);
        if (g->first.about || g->first.line != g->first.thread)
            cells[OBJECT] = table_cell_line(g->first.about ? g->first.about : g->first.line);
        cells[COUNT] = table_cell_number(g->count);
        if (g->place)
            cells[LOCATION] = table_cell_place(table_place(view, g->place));
        cells[EVENT] = table_cell_event(at);
        table_row_line(t, g->first.thread);
    }
    free(groups);
    table_arrange(t, view->request, NULL);
}

const struct table_preset preset_violations = {.what = "violations", .fill = violations_fill};
