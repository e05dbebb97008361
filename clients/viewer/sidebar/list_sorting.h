/* Sorting a table by its columns: only while all of it is here, which whoever owns it says. */
#ifndef CLIENTS_VIEWER_SIDEBAR_LIST_SORTING_H
#define CLIENTS_VIEWER_SIDEBAR_LIST_SORTING_H

#include <gtk/gtk.h>

#define SORTING_COLUMNS 8u

/* Zero-initialised but for list and hint. */
struct list_sorting {
    GtkColumnView *list; /* borrowed */
    GtkWidget *hint; /* is seen while it cannot be sorted; borrowed */
    GtkColumnViewColumn *columns[SORTING_COLUMNS]; /* of the list, as the sorters are its */
    GtkSorter *sorters[SORTING_COLUMNS];
    unsigned count;
    bool able;
};

/* Rows are compared by `compare` where they are sorted by that column. */
void list_sorting_add(struct list_sorting *sorting, GtkColumnViewColumn *column,
                      GCompareDataFunc compare, gpointer data);
/* What the list shows of a model: the same, as it is sorted.  Takes the model. */
GListModel *list_sorting_model(struct list_sorting *sorting, GListModel *model);
void list_sorting_allow(struct list_sorting *sorting, bool able); /* no: it is unsorted, too */
bool list_sorting_is_on(const struct list_sorting *sorting);
void list_sorting_refresh(struct list_sorting *sorting); /* rows say something else now */
void list_sorting_free(struct list_sorting *sorting);

#endif
