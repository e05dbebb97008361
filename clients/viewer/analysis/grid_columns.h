/* The columns of a grid (grid.h): what stands in their cells, and how rows are sorted by them. */
#ifndef CLIENTS_VIEWER_ANALYSIS_GRID_COLUMNS_H
#define CLIENTS_VIEWER_ANALYSIS_GRID_COLUMNS_H

#include "clients/connection/result_table.h"
#include "wire/limits.h"

#include <gtk/gtk.h>

struct view;

/* A column: what stands in it, and what stands there in rows that have nothing of that. */
struct grid_column {
    const char *name, *other; /* of the table's columns; other: or NULL */
    const char *title; /* NULL: as the table calls it */
};

/* Styles: bits. */
#define GRID_BLANK 1u /* nothing and none stand as nothing */
#define GRID_SHADED 2u /* in grey by the row's share; `other`: a range of numbers ends there */
#define GRID_BAR 4u /* a bar as long as the row's share, instead of words */
#define GRID_CODE 8u /* text of a program */
#define GRID_WORDS 16u /* sentences */

/* Set by the grid: view, widget (a GtkColumnView), wanted, and the table, each time there is
 * another one. */
struct grid_columns {
    struct view *view;
    GtkWidget *widget;
    const struct grid_column *wanted; /* NULL: all */
    const unsigned *styles; /* of those; NULL: plain */
    const struct result_table *table;
    bool deep; /* rows of it have others below them */
    struct grid_shown_column { /* of the table, and what stands in for it; column_count: nothing */
        uint32_t column, other;
        unsigned style;
        glong chars; /* of its longest text, as far as that was looked at */
    } shown[LIMIT_TABLE_COLUMNS];
    uint32_t shown_count, column_count; /* column_count: of the table that they were made for */
    double most; /* the greatest share of a row */
};

/* Of the first table; those of the next are the same. */
void grid_columns_make(struct grid_columns *columns);
/* What stands in a row of the table, in the n-th column that is shown; new memory. */
char *grid_columns_text(struct grid_columns *columns, uint32_t row, uint32_t shown);
void grid_columns_resort(struct grid_columns *columns); /* rows stay, figures have changed */

#endif
