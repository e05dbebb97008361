#include "clients/viewer/analysis/metric_page.h"

#include "clients/viewer/diagram/viewer.h"

#include <string.h>

static const struct {
    const char *page, *name, *meter;
    enum series_group group;
} all[METRIC_PAGES] = {
    [METRIC_PAGE_MEMORY] = {"memory", "Heap size over time", "heap_live", SERIES_MEMORY},
    [METRIC_PAGE_USAGE] = {"resources", "Selected metric over time", "resident", SERIES_USAGE},
    [METRIC_PAGE_METRICS] = {"meters", "Selected metric over time", "", SERIES_OWN},
};

static char *key_of(enum metric_page page) { return g_strconcat("figured ", all[page].page, NULL); }

static struct metric_curve *metric_page_curve_of(struct view *view, enum metric_page page)
{
    char *key = key_of(page);
    struct metric_curve *box = g_object_get_data(G_OBJECT(view->window), key);
    g_free(key);
    return box;
}

GtkWidget *metric_page_curve_above(struct view *view, enum metric_page page)
{
    struct metric_curve *box =
        metric_curve_new(view, all[page].group, all[page].name, all[page].meter);
    char *key = key_of(page);
    g_object_set_data(G_OBJECT(view->window), key, box);
    g_free(key);
    return metric_curve_widget(box);
}

static const char *text_view_of(const struct result_table *t, int row, const char *column)
{
    uint32_t at = result_table_find_column(t, column);
    const struct table_cell *cell =
        at < t->column_count ? &result_table_cells(t, (uint32_t)row)[at] : NULL;
    return cell && cell->is == CELL_TEXT ? cell->text : "";
}

void metric_page_select(struct view *view, enum metric_page page, const struct result_table *t,
                        int row)
{
    uint32_t at = result_table_find_column(t, "thread");
    const struct table_cell *thread =
        row >= 0 && at < t->column_count ? &result_table_cells(t, (uint32_t)row)[at] : NULL;
    const char *meter = row >= 0 ? text_view_of(t, row, "metric") : "";
    if (*meter)
        metric_curve_choose(metric_page_curve_of(view, page), text_view_of(t, row, "program"),
                            thread && thread->is == CELL_LINE ? thread->line : 0, meter);
}

void metric_page_on_notification(struct view *view, enum metric_page page, enum notification what)
{
    metric_curve_on_notification(metric_page_curve_of(view, page), what);
}

void metric_page_clear(struct view *view, enum metric_page page)
{
    metric_curve_clear(metric_page_curve_of(view, page));
}

static int metric_page_find_kind(const char *page)
{
    int i = 0;
    while (i < METRIC_PAGES && strcmp(all[i].page, page) != 0)
        i++;
    return i;
}

bool metric_page_is_busy(struct view *view, const char *page)
{
    int i = metric_page_find_kind(page);
    return i < METRIC_PAGES &&
           metric_curve_is_busy(metric_page_curve_of(view, (enum metric_page)i));
}

void metric_page_print(struct view *view, const char *page, FILE *f)
{
    int i = metric_page_find_kind(page);
    if (i < METRIC_PAGES)
        metric_curve_print(metric_page_curve_of(view, (enum metric_page)i), f);
}
