/* What was taken from the heap and not given back. */
#include "clients/view/drawer/figured.h"
#include "clients/view/drawer/pages.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/view.h"

static GtkWidget *above(struct view *view) { return figured_above(view, FIGURED_MEMORY); }

static void selected(struct view *view, const struct shown_table *t, int row)
{
    figured_select(view, FIGURED_MEMORY, t, row);
    struct ref before = row < 0 ? (struct ref){0} : t->rows[row].event;
    if (before.line) /* its thread's last event before it was taken */
        jump_to_event(view, before, NO_POSITION);
}

static void take(struct view *view, enum news news) { figured_take(view, FIGURED_MEMORY, news); }
static void clear(struct view *view) { figured_clear(view, FIGURED_MEMORY); }

const struct page page_memory = {
    .name = "memory",
    .title = "Memory",
    .what = "memory",
    .by = "",
    .nothing = "Nothing is known of its heap: start it with poet record -m memory.",
    .none = "All that it took itself was given back.",
    .about =
        "What was taken from the heap and never given back, by place and thread; a row leads to the "
        "event before its first block",
    .above = above,
    .selected = selected,
    .take = take,
    .clear = clear,
};
