/* A table widget: rows and columns with sorting and selection; a tree, if rows have depth.
 *
 * If the next table has the same rows, their cells are updated in place; otherwise selection,
 * collapsed rows and scroll position are kept as far as the rows still exist. */
#ifndef CLIENTS_VIEWER_ANALYSIS_GRID_H
#define CLIENTS_VIEWER_ANALYSIS_GRID_H

#include "clients/viewer/analysis/grid_columns.h"

#include <gtk/gtk.h>
#include <stdio.h>

struct view;
struct grid;

struct grid_callbacks {
    void (*selected)(void *user, int row); /* of the table; -1: none any more */
    void (*activated)(void *user, int row); /* Enter, or a double click */
    void (*pointed)(void *user, int row); /* Ctrl and a click */
};

/* name: for assistive technologies. columns: constants, terminated by a NULL name; NULL: all that
 * are not details. Freed with its widget. */
struct grid *grid_new(struct view *view, const char *name, const struct grid_column *columns,
                      const struct grid_callbacks *ears, void *user);
void grid_style(struct grid *grid, const unsigned *styles); /* by its columns, constants */
GtkWidget *grid_widget(struct grid *grid);
/* borrowed until the next call */
void grid_show(struct grid *grid, const struct result_table *table);
void grid_refresh(struct grid *grid); /* line labels have changed */
int grid_selected(const struct grid *grid); /* a row of the table; -1: none */
void grid_select(struct grid *grid, int row);
/* selects it without calling `selected`, and scrolls to it */
void grid_reveal(struct grid *grid, int row);
void grid_seek(struct grid *grid, int row); /* scrolls to it */
void grid_focus(struct grid *grid); /* as soon as there is a row */
/* depth and cells of each row separated by tabs, as shown */
void grid_print(struct grid *grid, FILE *f);

#endif
