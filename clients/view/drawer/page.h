/* A page of the drawer: a table that is asked for while it is looked at, and what choosing a row of it does.
 *
 * A page is a file here with a `const struct page`, and a row of the table in pages.h. */
#ifndef CLIENTS_VIEW_DRAWER_PAGE_H
#define CLIENTS_VIEW_DRAWER_PAGE_H

#include "clients/view/drawer/grid.h"
#include "clients/view/parts/news.h"
#include "render/page.h"

#include <gtk/gtk.h>

struct view;
struct paged;

struct page {
    const char *name, *title; /* for actions; for people */
    const char *what,
        *by; /* the question: a preset, and what a row stands for ("": as the preset has it) */
    const char *nothing; /* what is said where there is no row, */
    const char *none; /* and where there are none, but a total; NULL: the same */
    const char *about; /* what it shows, for who points at its name */
    const struct grid_column *columns; /* NULL: all that are no details */
    const unsigned *styles; /* of those (columns.h); NULL: plain */
    GtkWidget *(*above)(struct view *view); /* stands above the table; or NULL */
    /* A row is selected, its lines and its event are marked: more to do; or NULL.  -1: none is any more. */
    void (*selected)(struct view *view, const struct shown_table *table, int row);
    /* The same, of the very row, whether it is of an event or belongs to one; or NULL. */
    void (*chosen)(struct view *view, const struct shown_table *table, int row);
    void (*pointed)(struct view *view); /* Ctrl and a click on the selected row; or NULL */
    /* What is shown instead of the table, now; NULL, or returns NULL: the table. */
    GtkWidget *(*instead)(struct view *view);
    void (*take)(struct view *view, enum news news); /* while it is looked at; or NULL */
    void (*clear)(struct view *view); /* another run; or NULL */
    /* Each of these may be NULL. */
    void (*made)(struct view *view, struct paged *paged); /* once */
    void (*request)(struct view *view, struct table_request *request); /* more of the question */
    /* Makes another table of the one that came, to be shown in its place. */
    void (*remake)(struct view *view, struct shown_table *table);
    void (*told)(struct view *view, const struct shown_table *table); /* another one is here */
    /* Which rows are shown, new memory of GLib's; or returns NULL: all. */
    bool *(*keeps)(struct view *view, const struct shown_table *table);
    /* Of what is shown instead: false where that is the table. */
    bool (*select)(struct view *view, int row);
    bool (*enter)(struct view *view);
    bool (*focus)(struct view *view);
    bool (*print)(struct view *view, FILE *f);
    bool (*write)(struct view *view, const struct page_options *options, const char *file,
                  const char **why);
};

struct paged *page_new(struct view *view, const struct page *page);
GtkWidget *page_widget(struct paged *paged);
const struct page *page_of(const struct paged *paged);
/* seen: it is looked at. */
void page_tell(struct paged *paged, enum news news, bool seen);
void page_clear(struct paged *paged); /* another run */
void page_focus(struct paged *paged);
const char *page_said(const struct paged *paged); /* instead of rows; NULL: rows are shown */
bool page_busy(const struct paged *paged); /* is its table asked for, or about to be? */
void page_ask(struct paged *paged); /* its question is another one */
void page_filter(struct paged *paged); /* it keeps other rows */
bool page_seen(const struct paged *paged); /* is it looked at? */
bool page_has_rows(const struct paged *paged);
const struct shown_table *page_table(const struct paged *paged); /* that is shown */
/* As it is seen, as a picture; NULL, or what went wrong. */
const char *page_save(struct paged *paged, const char *file);
/* For scripts: selects the n-th row of the table as the server tells it; does what Enter does; writes it. */
void page_select(struct paged *paged, int row);
void page_enter(struct paged *paged);
void page_print(struct paged *paged, FILE *f);

#endif
