/* A table as it is shown: rows and columns to look at, to sort, to choose from; a tree, where rows
 * have depth.
 *
 * Where the next table has the same rows their cells are filled anew and nothing moves; else what
 * is selected, what is shut and how far it is scrolled are kept as far as these rows are still
 * there. */
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

/* name: as assistive technologies say it.  columns: constants, a name of NULL ends them; NULL: all
 * of the table that are no details.  Freed with its widget. */
struct grid *grid_new(struct view *view, const char *name, const struct grid_column *columns,
                      const struct grid_callbacks *ears, void *user);
void grid_style(struct grid *grid, const unsigned *styles); /* by its columns, constants */
GtkWidget *grid_widget(struct grid *grid);
void grid_show(struct grid *grid, const struct result_table *table); /* borrowed until the next */
void grid_refresh(struct grid *grid); /* lines have other names */
int grid_selected(const struct grid *grid); /* a row of the table; -1: none */
void grid_select(struct grid *grid, int row);
void grid_reveal(struct grid *grid, int row); /* selects it, telling nobody, and scrolls to it */
void grid_seek(struct grid *grid, int row); /* scrolls to it */
void grid_focus(struct grid *grid); /* as soon as there is a row */
void grid_print(struct grid *grid, FILE *f); /* depth and cells of each row by tabs, as shown */

#endif
