/* A tab of the analysis pane: a table that is requested while it is visible, and the effect of
 * selecting a row.
 *
 * A tab is a file here with a `const struct tab`, and an entry in PAGES. */
#ifndef CLIENTS_VIEWER_ANALYSIS_TAB_H
#define CLIENTS_VIEWER_ANALYSIS_TAB_H

#include "clients/viewer/analysis/grid.h"
#include "clients/viewer/state/notifications.h"
#include "render/document.h"

#include <gtk/gtk.h>

struct view;
struct tab_instance;

/* A widget beside the table of a tab, or beside what replaces it. */
struct tab_aside {
    double share; /* of the width, until it is dragged */
    GtkWidget *(*widget)(struct view *view);
    bool (*is_busy)(struct view *view); /* it awaits a response; or NULL */
    void (*print)(struct view *view, FILE *f); /* for scripts */
};

struct tab {
    const char *name, *title; /* for actions; for display */
    /* the request: a preset, and what a row stands for ("": the preset's default) */
    const char *preset, *row_kind;
    const char *empty_text; /* message if there are no rows, */
    const char *no_rows_text; /* and if there are no rows, but a total; NULL: the same */
    const char *tooltip; /* tooltip of its title */
    const struct grid_column *columns; /* NULL: all that are not details */
    const unsigned *styles; /* of these (grid.h); NULL: plain */
    GtkWidget *(*header)(struct view *view); /* above the table; or NULL */
    /* A row was selected, its lines and its event are marked: additional effects; or NULL. -1: no
     * row is selected any more. */
    void (*selected)(struct view *view, const struct result_table *table, int row);
    /* Exactly this row was selected, whether it has an event or belongs to one; or NULL. */
    void (*on_row_selected)(struct view *view, const struct result_table *table, int row);
    void (*pointed)(struct view *view); /* Ctrl and a click on the selected row; or NULL */
    /* Returns the widget to show instead of the table; NULL, or returns NULL: the table. */
    GtkWidget *(*replacement)(struct view *view);
    const struct tab_aside *aside; /* or NULL */
    void (*on_notification)(struct view *view,
                            enum notification what); /* while it is visible; or NULL */
    void (*clear)(struct view *view); /* another run; or NULL */
    /* why its table is about the whole run even if a range of time is selected; NULL: it is about
     * the range */
    const char *whole_run;
    /* Each of these may be NULL. */
    void (*on_created)(struct view *view, struct tab_instance *paged); /* once */
    void (*request)(struct view *view, struct table_request *request); /* adds to the request */
    /* Makes the received table into the one to be shown. */
    void (*rewrite)(struct view *view, struct result_table *table);
    /* a new table was received */
    void (*on_table)(struct view *view, const struct result_table *table);
    /* Returns which rows are shown, allocated by GLib; NULL: all. */
    bool *(*filter_rows)(struct view *view, const struct result_table *table);
    /* Selects in the replacement; returns false if the table is shown. */
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
/* seen: the tab is visible. */
void tab_notify(struct tab_instance *paged, enum notification what, bool seen);
void tab_clear(struct tab_instance *paged); /* another run */
void tab_focus(struct tab_instance *paged);
/* instead of rows; NULL: rows are shown */
const char *tab_message(const struct tab_instance *paged);
/* whether its table is requested, or about to be */
bool tab_is_busy(const struct tab_instance *paged);
void tab_request(struct tab_instance *paged); /* its request has changed */
void tab_filter(struct tab_instance *paged); /* its row filter has changed */
bool tab_is_shown(const struct tab_instance *paged); /* whether it is visible */
bool tab_has_rows(const struct tab_instance *paged);
const struct result_table *tab_table(const struct tab_instance *paged); /* the one shown */
/* Saves the visible contents as an image; returns false with the reason in *why. */
bool tab_save(struct tab_instance *paged, const char *file, const char **why);
/* For scripts: select the n-th row in the server's order; do what Enter does; print it. */
void tab_select(struct tab_instance *paged, int row);
void tab_enter(struct tab_instance *paged);
void tab_print(struct tab_instance *paged, FILE *f);
void tab_print_aside(struct tab_instance *paged, FILE *f);

/* The list of all tabs of the analysis pane, in display order. */
#define PAGES(X)                                                                                   \
    X(states)                                                                                      \
    X(threads)                                                                                     \
    X(concurrency)                                                                                 \
    X(waits)                                                                                       \
    X(locks)                                                                                       \
    X(state) X(path) X(calls) X(loops) X(source) X(memory) X(resources) X(meters) X(predictions)
#define PAGE_DECLARE(name) extern const struct tab page_##name;
PAGES(PAGE_DECLARE)

/* ---- tab controls ---- */

/* A form of the table: the state of the action is its name. */
struct tab_form {
    const char *name, *label, *tooltip;
};

/* Adds an action of the window; state NULL: it has none. */
GSimpleAction *tab_controls_add_action(struct view *view, const char *name,
                                       const GVariantType *type, GVariant *state, GCallback does);
/* Returns a row of linked buttons, one for each form, that activate "win.ACTION". */
GtkWidget *tab_controls_forms(const char *action, const struct tab_form *forms, size_t count);
/* Sets the action's state to the form of that name; returns its index, `count` if there is none. */
size_t tab_controls_choose(GSimpleAction *action, GVariant *wanted, const struct tab_form *forms,
                           size_t count);
/* Returns a row for the controls, which scrolls if it is wider than the pane; sets *row. */
GtkWidget *tab_controls_row(GtkWidget **row);

#endif
