#include "clients/viewer/sidebar/event_placement.h"

#include "clients/viewer/diagram/viewer.h"
#include "wire/event_types.h"

#include <string.h>

/* For larger runs, a click does not trigger a query that examines the whole run; only an open
 * analysis pane does. */
#define EVENTS_MOST 1000000u

static void event_placement_on_table(void *user)
{
    struct event_placement *r = user;
    if (!r->spells.fresh)
        return;
    r->spells.fresh = false;
    r->on_table(r->view);
}

void event_placement_clear(struct event_placement *r)
{
    table_model_clear(&r->spells);
    r->of = (struct event_id){0};
}

/* Requests the intervals of the thread that end and begin at the event: it ran in one of them. */
void event_placement_request(struct event_placement *r, const struct event_info *e)
{
    struct view *view = r->view;
    if (event_id_equal(r->of, e->at))
        return;
    event_placement_clear(r);
    if (!e->thread || !view->server_link.connected || !view->server_link.has_run ||
        (!view->viewer_settings.drawer && view->server_link.count > EVENTS_MOST))
        return;
    r->of = e->at;
    r->spells.link = &view->server_link;
    r->spells.on_table = event_placement_on_table;
    r->spells.user = r;
    struct table_request request = table_model_request("intervals", "");
    request.from = (struct table_end){.is = TABLE_AT_NS, .at = e->time_ns - 1};
    request.to = (struct table_end){.is = TABLE_AT_NS, .at = e->time_ns + 1};
    request.lines = g_new(uint32_t, 1);
    request.lines[request.line_count++] = e->thread;
    table_model_send(&r->spells, &request);
}

static int column_of(const struct result_table *t, const char *name)
{
    for (uint32_t i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* Returns NULL if the worker thread changed at the event. */
const char *event_placement_text(const struct event_placement *r, struct event_id at)
{
    const struct result_table *t = &r->spells.table;
    int on = event_id_equal(r->of, at) && !t->problem ? column_of(t, "worker") : -1;
    const char *place = NULL;
    for (uint32_t i = 0; on >= 0 && i < t->row_count; i++) {
        const struct table_cell *cell = &result_table_cells(t, i)[on];
        const char *here = cell->is == CELL_TEXT ? cell->text : NULL;
        if (place && here && strcmp(place, here) != 0)
            return NULL;
        place = here ? here : place;
    }
    return place;
}
