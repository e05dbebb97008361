#include "clients/viewer/sidebar/list_sorting.h"

void list_sorting_add(struct list_sorting *sorting, GtkColumnViewColumn *column,
                      GCompareDataFunc compare, gpointer data)
{
    g_return_if_fail(sorting->count < SORTING_COLUMNS);
    sorting->columns[sorting->count] = column;
    sorting->sorters[sorting->count++] = GTK_SORTER(gtk_custom_sorter_new(compare, data, NULL));
}

GListModel *list_sorting_model(struct list_sorting *sorting, GListModel *model)
{
    GtkSorter *all = gtk_column_view_get_sorter(sorting->list);
    return G_LIST_MODEL(gtk_sort_list_model_new(model, g_object_ref(all)));
}

void list_sorting_allow(struct list_sorting *sorting, bool able)
{
    gtk_widget_set_visible(sorting->hint, !able);
    if (able == sorting->able)
        return;
    sorting->able = able;
    if (!able)
        gtk_column_view_sort_by_column(sorting->list, NULL, GTK_SORT_ASCENDING);
    for (unsigned i = 0; i < sorting->count; i++)
        gtk_column_view_column_set_sorter(sorting->columns[i], able ? sorting->sorters[i] : NULL);
}

bool list_sorting_is_on(const struct list_sorting *sorting)
{
    GtkSorter *all = gtk_column_view_get_sorter(sorting->list);
    return sorting->able && gtk_sorter_get_order(all) != GTK_SORTER_ORDER_NONE;
}

void list_sorting_refresh(struct list_sorting *sorting)
{
    for (unsigned i = 0; i < sorting->count; i++)
        gtk_sorter_changed(sorting->sorters[i], GTK_SORTER_CHANGE_DIFFERENT);
}

void list_sorting_free(struct list_sorting *sorting)
{
    for (unsigned i = 0; i < sorting->count; i++)
        g_clear_object(&sorting->sorters[i]);
    sorting->count = 0;
}
