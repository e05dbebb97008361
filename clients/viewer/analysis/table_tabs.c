/* The tabs that are a table alone: Potential Bugs, the predicted bugs with what their threads did
 * below each; Critical Path, the code segments on it; and Loops, of programs compiled with
 * poetcc -profile=loops. */
#include "clients/connection/finding_text.h"
#include "clients/connection/loop_tables.h"
#include "clients/viewer/analysis/tab.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/highlights.h"

#include <stdlib.h>

/* Returns the index after the rows of a finding: its head, and those below it. */
static uint32_t end_of(const struct result_table *t, uint32_t head)
{
    uint32_t end = head + 1;
    while (end < t->row_count && t->rows[end].depth)
        end++;
    return end;
}

static void mark_row(struct view *view, const struct result_table *t, uint32_t row)
{
    static const char *const events[] = {"event", "second_event"};
    for (size_t i = 0; i < G_N_ELEMENTS(events); i++) {
        uint32_t column = result_table_find_column(t, events[i]);
        const struct table_cell *cell =
            column < t->column_count ? &result_table_cells(t, row)[column] : NULL;
        if (cell && cell->is == CELL_EVENT)
            highlights_add(&view->highlights, &cell->event, 1);
    }
}

/* Marks the events of all participants of a finding, or of a single participant. */
static void findings_on_row_selected(struct view *view, const struct result_table *t, int row)
{
    if (row < 0)
        return;
    uint32_t first = (uint32_t)row, end = t->rows[first].depth ? first + 1 : end_of(t, first);
    for (uint32_t i = first; i < end; i++)
        mark_row(view, t, i);
}

/* Puts the text of each row into one column, in place of the kind. */
static void findings_reword_table(struct view *view, struct result_table *t)
{
    struct table_names names = {view_metadata(view), view->server_link.sites};
    uint32_t kind_column = result_table_find_column(t, "kind");
    enum finding_kind kind = FINDING_KIND_COUNT;
    if (t->problem || kind_column == t->column_count)
        return;
    for (uint32_t i = 0; i < t->row_count; i++) {
        char *text;
        if (!t->rows[i].depth) {
            kind = finding_text_kind(t, i);
            text = finding_text_summary(t, i);
        } else {
            text = finding_text_participant(&names, t, i, kind);
        }
        struct table_cell *cell = &result_table_cells(t, i)[kind_column];
        if (cell->is == CELL_TEXT)
            free(cell->text);
        *cell = (struct table_cell){.is = CELL_TEXT, .text = text};
    }
}

static const struct grid_column findings_shown_columns[] = {
    {"number", NULL, NULL}, {"kind", NULL, NULL}, {"event", NULL, NULL}, {0}};
static const unsigned findings_column_styles[] = {0, GRID_WORDS, GRID_BLANK};

const struct tab page_predictions = {
    .name = "predict",
    .title = "Potential Bugs",
    .preset = "predict",
    .row_kind = "",
    .empty_text = "No potential bugs found.",
    .tooltip = "Bugs that other schedules of this program could expose: deadlocks, lost wake-ups, "
               "atomicity and order violations.  poet confirm tries to reproduce them",
    .columns = findings_shown_columns,
    .styles = findings_column_styles,
    .on_row_selected = findings_on_row_selected,
    .whole_run = "predictions need all of it",
    .rewrite = findings_reword_table,
};

/* ---- Critical Path ---- */

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

/* ---- Loops ---- */

/* Makes the table of loops from the edges between basic blocks that the server sent. */
static void loops_tab_rewrite(struct view *view, struct result_table *t)
{
    struct table_names names = {view_metadata(view), view->server_link.sites};
    struct result_table loops = {0};
    if (t->problem)
        return;
    if (loop_table_make(&loops, &(struct loop_table_options){0}, &names, t)) {
        result_table_free(t);
        *t = loops;
    } else {
        result_table_free(&loops);
    }
}

const struct tab page_loops = {
    .name = "loops",
    .title = "Loops",
    .preset = "edges",
    .row_kind = "edge",
    .empty_text =
        "No loops were counted: they are in programs compiled with poetcc -profile=loops.",
    .tooltip = "How often each loop was entered and repeated, and its time",
    .rewrite = loops_tab_rewrite,
};
