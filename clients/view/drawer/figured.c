#include "clients/view/drawer/figured.h"

#include "clients/view/picture/view.h"

#include <string.h>

static const struct {
    const char *page, *name, *meter;
    enum curve_group group;
} all[FIGUREDS] = {
    [FIGURED_MEMORY] = {"memory", "What was taken from the heap, over time", "heap_live",
                        CURVE_MEMORY},
    [FIGURED_RESOURCES] = {"resources", "The selected figure over time", "resident", CURVE_USAGE},
    [FIGURED_METERS] = {"meters", "The selected meter over time", "", CURVE_OWN},
};

static char *key_of(enum figured page) { return g_strconcat("figured ", all[page].page, NULL); }

static struct curvebox *box_of(struct view *view, enum figured page)
{
    char *key = key_of(page);
    struct curvebox *box = g_object_get_data(G_OBJECT(view->window), key);
    g_free(key);
    return box;
}

GtkWidget *figured_above(struct view *view, enum figured page)
{
    struct curvebox *box = curvebox_new(view, all[page].group, all[page].name, all[page].meter);
    char *key = key_of(page);
    g_object_set_data(G_OBJECT(view->window), key, box);
    g_free(key);
    return curvebox_widget(box);
}

static const char *text_of(const struct shown_table *t, int row, const char *column)
{
    uint32_t at = table_find(t, column);
    const struct table_cell *cell =
        at < t->column_count ? &table_cells(t, (uint32_t)row)[at] : NULL;
    return cell && cell->is == CELL_TEXT ? cell->text : "";
}

void figured_select(struct view *view, enum figured page, const struct shown_table *t, int row)
{
    uint32_t at = table_find(t, "thread");
    const struct table_cell *thread =
        row >= 0 && at < t->column_count ? &table_cells(t, (uint32_t)row)[at] : NULL;
    const char *meter = row >= 0 ? text_of(t, row, "meter") : "";
    if (*meter)
        curvebox_choose(box_of(view, page), text_of(t, row, "program"),
                        thread && thread->is == CELL_LINE ? thread->line : 0, meter);
}

void figured_take(struct view *view, enum figured page, enum news news)
{
    curvebox_take(box_of(view, page), news);
}

void figured_clear(struct view *view, enum figured page) { curvebox_clear(box_of(view, page)); }

static int figured_of(const char *page)
{
    int i = 0;
    while (i < FIGUREDS && strcmp(all[i].page, page) != 0)
        i++;
    return i;
}

bool figured_busy(struct view *view, const char *page)
{
    int i = figured_of(page);
    return i < FIGUREDS && curvebox_busy(box_of(view, (enum figured)i));
}

void figured_print(struct view *view, const char *page, FILE *f)
{
    int i = figured_of(page);
    if (i < FIGUREDS)
        curvebox_print(box_of(view, (enum figured)i), f);
}
