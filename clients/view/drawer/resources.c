/* What the operating system said of processes and threads. */
#include "clients/view/drawer/figured.h"
#include "clients/view/drawer/pages.h"

static GtkWidget *above(struct view *view) { return figured_above(view, FIGURED_RESOURCES); }

static void selected(struct view *view, const struct shown_table *t, int row)
{
    figured_select(view, FIGURED_RESOURCES, t, row);
}

static void take(struct view *view, enum news news) { figured_take(view, FIGURED_RESOURCES, news); }
static void clear(struct view *view) { figured_clear(view, FIGURED_RESOURCES); }

const struct page page_resources = {
    .name = "resources",
    .title = "Resources",
    .what = "usage",
    .by = "thread",
    .nothing =
        "Nothing was said of it: only programs on the server's machine, told over a Unix socket, are looked at.",
    .about = "What the operating system says: processor time, memory, input and output",
    .above = above,
    .selected = selected,
    .take = take,
    .clear = clear,
};
