/* Sorting a table by its columns: only while all of it is here, which whoever owns it says. */
#ifndef CLIENTS_VIEW_PANELS_SORTING_H
#define CLIENTS_VIEW_PANELS_SORTING_H

#include <gtk/gtk.h>

#define SORTING_COLUMNS 8u

/* Zero-initialised but for list and hint. */
struct sorting {
    GtkColumnView *list; /* borrowed */
    GtkWidget *hint; /* is seen while it cannot be sorted; borrowed */
    GtkColumnViewColumn *columns[SORTING_COLUMNS]; /* of the list, as the sorters are its */
    GtkSorter *sorters[SORTING_COLUMNS];
    unsigned count;
    bool able;
};

/* Rows are compared by `compare` where they are sorted by that column. */
void sorting_add(struct sorting *sorting, GtkColumnViewColumn *column, GCompareDataFunc compare,
                 gpointer data);
/* What the list shows of a model: the same, as it is sorted.  Takes the model. */
GListModel *sorting_model(struct sorting *sorting, GListModel *model);
void sorting_allow(struct sorting *sorting, bool able); /* no: it is unsorted, too */
bool sorting_is_on(const struct sorting *sorting);
void sorting_again(struct sorting *sorting); /* rows say something else now */
void sorting_free(struct sorting *sorting);

#endif
