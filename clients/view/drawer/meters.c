/* What descriptions, and meters of one's own, count and time. */
#include "clients/view/drawer/figured.h"
#include "clients/view/drawer/pages.h"

static GtkWidget *above(struct view *view) { return figured_above(view, FIGURED_METERS); }

static void selected(struct view *view, const struct shown_table *t, int row)
{
    figured_select(view, FIGURED_METERS, t, row);
}

static void take(struct view *view, enum news news) { figured_take(view, FIGURED_METERS, news); }
static void clear(struct view *view) { figured_clear(view, FIGURED_METERS); }

const struct page page_meters = {
    .name = "meters",
    .title = "Meters",
    .what = "meters",
    .by = "",
    .nothing = "No meter is known: poet.h and docs/config.md tell how to have some.",
    .about = "What meters counted and timed over the events",
    .above = above,
    .selected = selected,
    .take = take,
    .clear = clear,
};
