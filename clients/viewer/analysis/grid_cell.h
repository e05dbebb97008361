/* The cells of a grid (grid.h): how one looks, and how two stand to each other. */
#ifndef CLIENTS_VIEWER_ANALYSIS_GRID_CELL_H
#define CLIENTS_VIEWER_ANALYSIS_GRID_CELL_H

#include "wire/table_rows.h"

#include <gtk/gtk.h>

/* Makes the widget of a cell of this column; first: it can be opened and shut, where its row has
 * others below it. */
void grid_cell_setup(GtkListItem *item, const struct table_column *column, bool first);
/* Its row is there; deep: some rows of the table can be opened, the others leave room for that
 * sign. */
void grid_cell_bind(GtkListItem *item, bool deep);
void grid_cell_fill(GtkListItem *item, const char *text);
/* So many letters its longest text has: as far as a column of its kind goes it gets room for all of
 * them. */
void grid_cell_widen(GtkListItem *item, const struct table_column *column, glong chars);
void grid_cell_set_sentences(
    GtkListItem *item); /* its text is sentences: once, after grid_cell_setup */
void grid_cell_set_code(
    GtkListItem *item); /* its text is of a program: once, after grid_cell_setup */
void grid_cell_set_shade(GtkListItem *item,
                         double grey); /* behind its text: 0 none, 1 the darkest */
void grid_cell_set_bar(GtkListItem *item, double part); /* instead of text: 0 none, 1 the longest */

bool grid_cell_is_number(const struct table_cell *cell);
int grid_cell_compare(const struct table_cell *a,
                      const struct table_cell *b); /* numbers; none is least */
/* What it says of its row, 0 for figures; the same for cells that say the same. */
guint64 grid_cell_key(const struct table_cell *cell, unsigned kind);

#endif
