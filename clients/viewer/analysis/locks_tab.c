/* The tab Locks: how long each lock was held and waited for, by which threads. */
#include "clients/viewer/analysis/lock_details.h"
#include "clients/viewer/analysis/tab.h"
#include "clients/viewer/diagram/viewer.h"

/* Returns the lock of a row, or of the row that it belongs to; 0: none. */
static uint32_t locks_tab_lock_at(const struct result_table *t, int row)
{
    uint32_t object = result_table_find_column(t, "object");
    while (row > 0 && t->rows[row].depth)
        row--;
    const struct table_cell *cell =
        row < 0 || object == t->column_count ? NULL : &result_table_cells(t, (uint32_t)row)[object];
    return cell && cell->is == CELL_LINE ? cell->line : 0;
}

static void locks_tab_on_row_selected(struct view *view, const struct result_table *t, int row)
{
    uint32_t lock = locks_tab_lock_at(t, row);
    if (lock)
        lock_details_show(view, lock);
}

static void locks_tab_on_table(struct view *view, const struct result_table *t)
{
    (void)t;
    lock_details_refresh(view);
}

static void locks_tab_clear(struct view *view) { lock_details_show(view, 0); }

static const struct tab_aside locks_tab_details = {.share = 0.5,
                                                   .widget = lock_details_widget,
                                                   .is_busy = lock_details_are_busy,
                                                   .print = lock_details_print};

static const struct grid_column locks_tab_columns[] = {
    {"object", "thread", "lock, thread"}, {"acquisitions", NULL, NULL}, {"held_ns", NULL, NULL},
    {"longest_hold_ns", NULL, NULL},      {"waits", NULL, NULL},        {"waited_ns", NULL, NULL},
    {"longest_wait_ns", NULL, NULL},      {"location", NULL, NULL},     {0}};

const struct tab page_locks = {
    .name = "locks",
    .title = "Locks",
    .preset = "locks",
    .row_kind = "",
    .empty_text = "No locks were acquired.",
    .tooltip = "How often and how long each lock was held and waited for; a row leads to its "
               "holders and waiters along time",
    .columns = locks_tab_columns,
    .aside = &locks_tab_details,
    .on_row_selected = locks_tab_on_row_selected,
    .on_table = locks_tab_on_table,
    .clear = locks_tab_clear,
};
