/* What else the run could have done: orders that did not happen, and under each what its threads did. */
#include "clients/source/otherwise.h"
#include "clients/view/drawer/pages.h"
#include "clients/view/parts/marked.h"
#include "clients/view/picture/view.h"

#include <stdlib.h>

/* The rows of a finding are one row, and those below it. */
static uint32_t end_of(const struct shown_table *t, uint32_t head)
{
    uint32_t end = head + 1;
    while (end < t->row_count && t->rows[end].depth)
        end++;
    return end;
}

static void mark_row(struct view *view, const struct shown_table *t, uint32_t row)
{
    static const char *const events[] = {"event", "then_event"};
    for (size_t i = 0; i < G_N_ELEMENTS(events); i++) {
        uint32_t column = table_find(t, events[i]);
        const struct table_cell *cell =
            column < t->column_count ? &table_cells(t, row)[column] : NULL;
        if (cell && cell->is == CELL_EVENT)
            marked_add(&view->marked, &cell->event, 1);
    }
}

/* Of a finding the events of all who take part, of one of them its own. */
static void chosen(struct view *view, const struct shown_table *t, int row)
{
    if (row < 0)
        return;
    uint32_t first = (uint32_t)row, end = t->rows[first].depth ? first + 1 : end_of(t, first);
    for (uint32_t i = first; i < end; i++)
        mark_row(view, t, i);
}

/* What is said in words stands in one column, instead of the parts of which it was made. */
static void remake(struct view *view, struct shown_table *t)
{
    struct table_names names = {the_book(view), view->link.sites};
    uint32_t said = table_find(t, "kind");
    char *kind = NULL;
    if (t->problem || said == t->column_count)
        return;
    for (uint32_t i = 0; i < t->row_count; i++) {
        char *text;
        if (!t->rows[i].depth) {
            g_free(kind);
            kind = g_strdup(otherwise_kind(t, i));
            text = otherwise_finding(t, i);
        } else {
            text = otherwise_part(&names, t, i, kind ? kind : "");
        }
        struct table_cell *cell = &table_cells(t, i)[said];
        if (cell->is == CELL_TEXT)
            free(cell->text);
        *cell = (struct table_cell){.is = CELL_TEXT, .text = text};
    }
    g_free(kind);
}

static const struct grid_column columns[] = {
    {"number", NULL, NULL}, {"kind", NULL, NULL}, {"event", NULL, NULL}, {0}};
static const unsigned styles[] = {0, GRID_WORDS, GRID_BLANK};

const struct page page_maybe = {
    .name = "maybe",
    .title = "Maybe",
    .what = "maybe",
    .by = "",
    .nothing = "Nothing was found that could have been otherwise.",
    .about =
        "What else the run could have done: locks that could be a deadlock, calls that nobody would hear, what only "
        "luck has put in this order.  poet provoke makes it happen",
    .columns = columns,
    .styles = styles,
    .chosen = chosen,
    .remake = remake,
};
