/* What stands beside the picture: panels, a page of one at a time.
 *
 * A panel is a file here with a `const struct panel`, and a row of the table in panel.c.  It has its own
 * state and asks its own questions; of all else it hears by news. */
#ifndef CLIENTS_VIEW_PANELS_PANEL_H
#define CLIENTS_VIEW_PANELS_PANEL_H

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

/* What may concern a panel. */
enum news {
    NEWS_SHOWN,     /* its page is looked at now */
    NEWS_SELECTED,  /* another event is selected, or none */
    NEWS_PICTURE,   /* there is another picture, or other names in it */
    NEWS_STANDS,    /* how what is seen stands to the selected event is known */
    NEWS_RELATED,   /* more is known of how the selected events stand to each other and to all others */
    NEWS_GROWN,     /* the log is longer */
    NEWS_QUIET,     /* a run has begun to be shown, or has stopped growing */
};

struct panel {
    const char *name, *title; /* of its page: for actions; for people */
    GtkWidget *(*build)(struct view *view);
    void (*take)(struct view *view, enum news news); /* or NULL */
    void (*clear)(struct view *view);                /* another run; or NULL */
};

GtkWidget *panels_new(struct view *view);
void panels_tell(struct view *view, enum news news); /* all; SHOWN is told by their pages alone */
void panels_clear(struct view *view);
void panel_show(struct view *view, const char *name);

/* What a panel keeps, freed with the window by g_free. */
void panel_keep(struct view *view, const struct panel *panel, void *state);
void *panel_state(const struct view *view, const struct panel *panel);

/* All that there are; each in the file of its name. */
extern const struct panel panel_event, panel_find, panel_waiting, panel_trouble, panel_bookmarks,
    panel_text;

#endif
