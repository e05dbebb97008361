#include "clients/view/panels/ran.h"

#include "clients/view/picture/view.h"
#include "wire/event.h"

#include <string.h>

/* Of larger runs nobody who only clicks asks for what takes a look at all of it, but for who has opened the drawer. */
#define EVENTS_MOST 1000000u

static void on_told(void *user)
{
    struct ran *r = user;
    if (!r->spells.fresh)
        return;
    r->spells.fresh = false;
    r->told(r->view);
}

void ran_clear(struct ran *r)
{
    tabled_clear(&r->spells);
    r->of = (struct ref){0};
}

/* What it did up to the event, and what from then on: one of both ran. */
void ran_ask(struct ran *r, const struct shown_event *e)
{
    struct view *view = r->view;
    if (ref_equal(r->of, e->at))
        return;
    ran_clear(r);
    if (!e->thread || !view->link.connected || !view->link.has_run ||
        (!view->settings.drawer && view->link.count > EVENTS_MOST))
        return;
    r->of = e->at;
    r->spells.link = &view->link;
    r->spells.told = on_told;
    r->spells.user = r;
    struct table_request request = tabled_request("spells", "");
    request.from = (struct table_end){.is = TABLE_AT_NS, .at = e->time_ns - 1};
    request.to = (struct table_end){.is = TABLE_AT_NS, .at = e->time_ns + 1};
    request.lines = g_new(uint32_t, 1);
    request.lines[request.line_count++] = e->thread;
    tabled_ask(&r->spells, &request);
}

static int column_of(const struct shown_table *t, const char *name)
{
    for (uint32_t i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* Where it came to another one just then, neither is said. */
const char *ran_said(const struct ran *r, struct ref at)
{
    const struct shown_table *t = &r->spells.table;
    int on = ref_equal(r->of, at) && !t->problem ? column_of(t, "processor") : -1;
    const char *said = NULL;
    for (uint32_t i = 0; on >= 0 && i < t->row_count; i++) {
        const struct table_cell *cell = &table_cells(t, i)[on];
        const char *here = cell->is == CELL_TEXT ? cell->text : NULL;
        if (said && here && strcmp(said, here) != 0)
            return NULL;
        said = here ? here : said;
    }
    return said;
}
