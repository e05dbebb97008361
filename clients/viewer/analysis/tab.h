/* A page of the drawer: a table that is asked for while it is looked at, and what choosing a row of
 * it does.
 *
 * A page is a file here with a `const struct page`, and a row of the table in tab_list.h. */
#ifndef CLIENTS_VIEWER_ANALYSIS_TAB_H
#define CLIENTS_VIEWER_ANALYSIS_TAB_H

#include "clients/viewer/analysis/grid.h"
#include "clients/viewer/state/notifications.h"
#include "render/document.h"

#include <gtk/gtk.h>

struct view;
struct tab_instance;

struct tab {
    const char *name, *title; /* for actions; for people */
    const char *preset,
        *row_kind; /* the question: a preset, and what a row stands for ("": as the preset has it) */
    const char *empty_text; /* what is said where there is no row, */
    const char *no_rows_text; /* and where there are none, but a total; NULL: the same */
    const char *tooltip; /* what it shows, for who points at its name */
    const struct grid_column *columns; /* NULL: all that are no details */
    const unsigned *styles; /* of those (grid_columns.h); NULL: plain */
    GtkWidget *(*header)(struct view *view); /* stands above the table; or NULL */
    /* A row is selected, its lines and its event are marked: more to do; or NULL.  -1: none is any
     * more. */
    void (*selected)(struct view *view, const struct result_table *table, int row);
    /* The same, of the very row, whether it is of an event or belongs to one; or NULL. */
    void (*on_row_selected)(struct view *view, const struct result_table *table, int row);
    void (*pointed)(struct view *view); /* Ctrl and a click on the selected row; or NULL */
    /* What is shown instead of the table, now; NULL, or returns NULL: the table. */
    GtkWidget *(*replacement)(struct view *view);
    void (*on_notification)(struct view *view,
                            enum notification news); /* while it is looked at; or NULL */
    void (*clear)(struct view *view); /* another run; or NULL */
    /* Each of these may be NULL. */
    void (*on_created)(struct view *view, struct tab_instance *paged); /* once */
    void (*request)(struct view *view, struct table_request *request); /* more of the question */
    /* Makes another table of the one that came, to be shown in its place. */
    void (*rewrite)(struct view *view, struct result_table *table);
    void (*on_table)(struct view *view, const struct result_table *table); /* another one is here */
    /* Which rows are shown, new memory of GLib's; or returns NULL: all. */
    bool *(*filter_rows)(struct view *view, const struct result_table *table);
    /* Of what is shown instead: false where that is the table. */
    bool (*select)(struct view *view, int row);
    bool (*enter)(struct view *view);
    bool (*focus)(struct view *view);
    bool (*print)(struct view *view, FILE *f);
    bool (*write)(struct view *view, const struct document_options *options, const char *file,
                  const char **why);
};

struct tab_instance *tab_new(struct view *view, const struct tab *page);
GtkWidget *tab_widget(struct tab_instance *paged);
const struct tab *tab_definition(const struct tab_instance *paged);
/* seen: it is looked at. */
void tab_notify(struct tab_instance *paged, enum notification news, bool seen);
void tab_clear(struct tab_instance *paged); /* another run */
void tab_focus(struct tab_instance *paged);
const char *
tab_message(const struct tab_instance *paged); /* instead of rows; NULL: rows are shown */
bool tab_is_busy(const struct tab_instance *paged); /* is its table asked for, or about to be? */
void tab_request(struct tab_instance *paged); /* its question is another one */
void tab_filter(struct tab_instance *paged); /* it keeps other rows */
bool tab_is_shown(const struct tab_instance *paged); /* is it looked at? */
bool tab_has_rows(const struct tab_instance *paged);
const struct result_table *tab_table(const struct tab_instance *paged); /* that is shown */
/* As it is seen, as a picture; NULL, or what went wrong. */
const char *tab_save(struct tab_instance *paged, const char *file);
/* For scripts: selects the n-th row of the table as the server tells it; does what Enter does;
 * writes it. */
void tab_select(struct tab_instance *paged, int row);
void tab_enter(struct tab_instance *paged);
void tab_print(struct tab_instance *paged, FILE *f);

#endif
