/* What was taken from the heap and not given back. */
#include "clients/view/drawer/figured.h"
#include "clients/view/drawer/pages.h"

static GtkWidget *above(struct view *view) { return figured_above(view, FIGURED_MEMORY); }

static void selected(struct view *view, const struct shown_table *t, int row)
{
    figured_select(view, FIGURED_MEMORY, t, row);
}

static void take(struct view *view, enum news news) { figured_take(view, FIGURED_MEMORY, news); }
static void clear(struct view *view) { figured_clear(view, FIGURED_MEMORY); }

const struct page page_memory = {
    .name = "memory",
    .title = "Memory",
    .what = "memory",
    .by = "",
    .nothing = "Nothing is known of its heap: start it with poet record -m memory.",
    .about = "What was taken from the heap and never given back, by place and thread",
    .above = above,
    .selected = selected,
    .take = take,
    .clear = clear,
};
