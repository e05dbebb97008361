/* What decided how long the run took. */
#include "clients/view/drawer/pages.h"
#include "clients/view/picture/thick.h"

/* All stretches of the path that are this step. */
static void selected(struct view *view, const struct shown_table *t, int row)
{
    uint32_t step = table_find(t, "step");
    if (row >= 0 && step < t->column_count)
        thick_mark(view, &table_cells(t, (uint32_t)row)[step]);
}

const struct page page_path = {
    .name = "path",
    .title = "Path",
    .what = "path",
    .by = "",
    .nothing = "No path is known yet.",
    .about = "The critical path: which steps decided how long the run took",
    .selected = selected,
};
