/* Sorting a table by its columns: allowed only while all rows are loaded, as its owner reports. */
#ifndef CLIENTS_VIEWER_SIDEBAR_LIST_SORTING_H
#define CLIENTS_VIEWER_SIDEBAR_LIST_SORTING_H

#include <gtk/gtk.h>

#define SORTING_COLUMNS 8u

/* Zero-initialized except list and hint. */
struct list_sorting {
    GtkColumnView *list; /* borrowed */
    GtkWidget *hint; /* visible while sorting is impossible; borrowed */
    GtkColumnViewColumn *columns[SORTING_COLUMNS]; /* of the list, in the order of its sorters */
    GtkSorter *sorters[SORTING_COLUMNS];
    unsigned count;
    bool able;
};

/* Adds a column, whose rows are compared by `compare`. */
void list_sorting_add(struct list_sorting *sorting, GtkColumnViewColumn *column,
                      GCompareDataFunc compare, gpointer data);
/* Returns a sorted model of the model, of which it takes ownership. */
GListModel *list_sorting_model(struct list_sorting *sorting, GListModel *model);
/* false: also removes the sorting */
void list_sorting_allow(struct list_sorting *sorting, bool able);
bool list_sorting_is_on(const struct list_sorting *sorting);
/* call when the contents of rows have changed */
void list_sorting_refresh(struct list_sorting *sorting);
void list_sorting_free(struct list_sorting *sorting);

#endif
