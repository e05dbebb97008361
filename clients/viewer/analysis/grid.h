/* A table widget: rows and columns with sorting and selection; a tree, if rows have depth.
 *
 * If the next table has the same rows, their cells are updated in place; otherwise selection,
 * collapsed rows and scroll position are kept as far as the rows still exist. */
#ifndef CLIENTS_VIEWER_ANALYSIS_GRID_H
#define CLIENTS_VIEWER_ANALYSIS_GRID_H

#include "clients/connection/result_table.h"
#include "wire/limits.h"
#include "wire/table_rows.h"

#include <gio/gio.h>
#include <gtk/gtk.h>
#include <stdio.h>

struct view;

/* ---- columns: the texts of their cells, and sorting (grid_columns.c) ---- */

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

/* The rows of a table as GTK list items, in a tree: each has its index in the table and the rows
 * below it.
 *
 * The grid knows their contents (grid.h); an item emits "changed" when they change. */

#define GRID_TYPE_ROW (grid_row_get_type())
G_DECLARE_FINAL_TYPE(GridRow, grid_row, GRID, ROW, GObject)

struct _GridRow {
    GObject parent_instance;
    guint row; /* of the table */
    guint64 key; /* identifies it in the next table */
    GListStore *below; /* rows of greater depth; NULL: none */
};

/* Returns the rows of depth 0, with the others below them; the caller frees it. */
GPtrArray *grid_row_make_tree(const struct result_table *table);
/* Returns whether both have the same subjects in the same order, whatever their values. NULL: no
 * rows. */
bool grid_row_same_trees(GListModel *rows, GListModel *others);
/* Renumbers the rows from *number on, and emits "changed" for each. */
void grid_row_renumber(GListModel *rows, guint *number);

/* ---- the grid ---- */

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
