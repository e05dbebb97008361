/* The columns of a grid (grid.h): the texts of their cells, and sorting by column. */
#ifndef CLIENTS_VIEWER_ANALYSIS_GRID_COLUMNS_H
#define CLIENTS_VIEWER_ANALYSIS_GRID_COLUMNS_H

#include "clients/connection/result_table.h"
#include "wire/limits.h"

#include <gtk/gtk.h>

struct view;

/* A column, and an alternative for rows without a value in it. */
struct grid_column {
    const char *name, *other; /* names of columns of the table; other: or NULL */
    const char *title; /* NULL: the table's */
};

/* Styles: bits. */
#define GRID_BLANK 1u /* zero and missing values are blank */
#define GRID_SHADED 2u /* in grey by the row's share; `other`: the end of a range of numbers */
#define GRID_BAR 4u /* a bar in proportion to the row's share, instead of text */
#define GRID_CODE 8u /* program text */
#define GRID_WORDS 16u /* sentences */

/* Set by the grid: view, widget (a GtkColumnView), wanted, and the table whenever it changes. */
struct grid_columns {
    struct view *view;
    GtkWidget *widget;
    const struct grid_column *wanted; /* NULL: all */
    const unsigned *styles; /* of these columns; NULL: plain */
    const struct result_table *table;
    bool deep; /* some rows have others below them */
    struct grid_shown_column { /* of the table, and its alternative; column_count: none */
        uint32_t column, other;
        unsigned style;
        glong chars; /* of its longest text, as far as examined */
    } shown[LIMIT_TABLE_COLUMNS];
    uint32_t shown_count;
    guint key; /* of the columns of the table that they were made for */
    double most; /* the greatest share of a row */
};

/* Creates the columns, unless they are those of the last table; widens them for longer texts. */
void grid_columns_make(struct grid_columns *columns);
/* Returns the text of a row in the n-th visible column; new memory. */
char *grid_columns_text(struct grid_columns *columns, uint32_t row, uint32_t shown);
/* call when values have changed, but not rows */
void grid_columns_resort(struct grid_columns *columns);

#endif
