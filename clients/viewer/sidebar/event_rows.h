/* The rows of the table of events: positions, whose texts are fetched when they are displayed. */
#ifndef CLIENTS_VIEWER_SIDEBAR_EVENT_ROWS_H
#define CLIENTS_VIEWER_SIDEBAR_EVENT_ROWS_H

#include "wire/event_id.h"

#include <gtk/gtk.h>

struct event_list;
struct view;

/* One row: a position. */
#define POET_TYPE_ROW (poet_row_get_type())
G_DECLARE_FINAL_TYPE(PoetRow, poet_row, POET, ROW, GObject)
struct _PoetRow {
    GObject parent;
    uint64_t position;
};
enum event_row_cell { CELL_TIME, CELL_LINE, CELL_WHAT, CELL_ABOUT, CELL_SITE, CELLS };

struct event_row_entry {
    char *cells[CELLS];
    char *text; /* the full text */
    struct event_id at;
    int64_t time_ns;
};

#define POET_TYPE_ROWS (poet_rows_get_type())
G_DECLARE_FINAL_TYPE(PoetRows, poet_rows, POET, ROWS, GObject)
struct _PoetRows {
    GObject parent;
    struct view *view;
    struct event_list *events;
    GHashTable *entries, *asked; /* by position; by page */
    GHashTable *listing; /* the position from which a list was requested, by request id */
    guint count;
    bool hits; /* search hits, instead of all events */
};

/* Returns whether all of its rows are loaded. */
bool event_rows_are_complete(const PoetRows *rows);
uint64_t event_rows_position(const PoetRows *rows, guint index); /* in the order of the model */
/* Compares two rows by a column, and by position if they are equal. */
int event_rows_compare(const PoetRows *rows, const PoetRow *a, const PoetRow *b,
                       enum event_row_cell cell);

#endif
