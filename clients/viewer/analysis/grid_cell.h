/* The cells of a grid (grid.h): their widgets, and their comparison. */
#ifndef CLIENTS_VIEWER_ANALYSIS_GRID_CELL_H
#define CLIENTS_VIEWER_ANALYSIS_GRID_CELL_H

#include "wire/table_rows.h"

#include <gtk/gtk.h>

/* Creates the widget of a cell of this column; first: it can be expanded and collapsed, if its row
 * has others below it. */
void grid_cell_setup(GtkListItem *item, const struct table_column *column, bool first);
/* Binds it to its row; deep: some rows of the table can be expanded, so the others are indented. */
void grid_cell_bind(GtkListItem *item, bool deep);
void grid_cell_fill(GtkListItem *item, const char *text);
/* chars: length of its longest text: up to a maximum for its kind of column, the column gets space
 * for all of it. */
void grid_cell_widen(GtkListItem *item, const struct table_column *column, glong chars);
void grid_cell_set_sentences(
    GtkListItem *item); /* its text is sentences: call once, after grid_cell_setup */
void grid_cell_set_code(
    GtkListItem *item); /* its text is program text: call once, after grid_cell_setup */
void grid_cell_set_shade(GtkListItem *item,
                         double grey); /* of the background: 0: none, 1: the darkest */
/* instead of text: 0: none, 1: the longest */
void grid_cell_set_bar(GtkListItem *item, double part);

bool grid_cell_is_number(const struct table_cell *cell);
int grid_cell_compare(const struct table_cell *a,
                      const struct table_cell *b); /* numbers; missing ones are least */
/* Returns a hash of its contents, 0 for values; equal for equal contents. */
guint64 grid_cell_key(const struct table_cell *cell, unsigned kind);

#endif
