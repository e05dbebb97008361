/* What else the run could have done: orders that did not happen, and under each what its threads did. */
#include "clients/view/drawer/pages.h"
#include "clients/view/parts/marked.h"
#include "clients/view/picture/view.h"

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

const struct page page_maybe = {
    .name = "maybe",
    .title = "Maybe",
    .what = "maybe",
    .by = "",
    .nothing = "Nothing was found that could have been otherwise.",
    .about =
        "What else the run could have done: locks that could be a deadlock, calls that nobody would hear, what only "
        "luck has put in this order.  poet provoke makes it happen",
    .chosen = chosen,
};
