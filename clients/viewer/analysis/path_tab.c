/* The tab Critical Path: the code segments on the critical path. */
#include "clients/viewer/analysis/tab_list.h"
#include "clients/viewer/diagram/path_overlay.h"

/* Marks all pieces of the path in the selected code segment. */
static void path_tab_on_row_selected(struct view *view, const struct result_table *t, int row)
{
    uint32_t step = result_table_find_column(t, "segment");
    if (row >= 0 && step < t->column_count)
        path_overlay_mark_step(view, &result_table_cells(t, (uint32_t)row)[step]);
}

const struct tab page_path = {
    .name = "path",
    .title = "Critical Path",
    .preset = "path",
    .row_kind = "",
    .empty_text = "Critical path not computed yet.",
    .tooltip = "Code on the critical path",
    .selected = path_tab_on_row_selected,
};
