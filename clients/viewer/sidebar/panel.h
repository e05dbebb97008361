/* Panels beside the diagram, of which one page is visible at a time.
 *
 * A panel is a file here with a `const struct panel`, and an entry in PANELS below. It has its own
 * state and sends its own requests; notifications tell it about everything else. */
#ifndef CLIENTS_VIEWER_SIDEBAR_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_PANEL_H

#include "clients/viewer/state/notifications.h"
#include "wire/event_types.h"
#include "wire/trace_view.h"

#include <gtk/gtk.h>
#include <stdbool.h>
#include <stdint.h>

struct view;

struct panel {
    const char *name, *title; /* of its page: for actions; for display */
    GtkWidget *(*build)(struct view *view);
    void (*on_notification)(struct view *view, enum notification what); /* or NULL */
    void (*clear)(struct view *view); /* another run; or NULL */
};

/* In the order of their pages. */
#define PANELS(X) X(event) X(find) X(waiting) X(trouble) X(notes) X(text)
#define PANEL_DECLARE(name) extern const struct panel panel_##name;
PANELS(PANEL_DECLARE)

/* Shows a page; also the side panel, if it is hidden. */
void panel_show(struct view *view, const char *name);
/* Returns whether the first page is shown. */
bool panel_is_first(struct view *view);
/* Shows the first page. */
void panel_back(struct view *view);

/* Sets the state of a panel, which is freed with the window by g_free. */
void panel_keep(struct view *view, const struct panel *panel, void *state);
void *panel_state(const struct view *view, const struct panel *panel);

/* ---- all panels: panels.c ---- */

/* Returns the sidebar with all panels. */
GtkWidget *panels_new(struct view *view);
/* Empties all of them, for another run. */
void panels_clear(struct view *view);

/* ---- row lists: the rows of a panel that are links to events ---- */

/* Returns a new list, which does not scroll. */
GtkWidget *row_list_rows(struct view *view);
/* Returns what contains a new list, which is *list; nothing: a text for the empty list. */
GtkWidget *row_list_new(struct view *view, GtkWidget **list, const char *nothing);
/* Adds a row, at line 0: that is not a link. */
void row_list_add(GtkWidget *list, const char *markup, struct event_id at);
/* Adds a row that activates an action, a constant such as "win.show-memory", and goes to the event,
 * if any. */
void row_list_add_action(GtkWidget *list, const char *markup, struct event_id at,
                         const char *action);
void row_list_clear(GtkWidget *list);

/* ---- blocked panel ---- */

/* Returns the event of the longest wait; NULL: none. */
const struct event_info *blocked_panel_oldest(struct view *view);
/* Returns the number of threads that sleep in untraced calls; in a live run, that have slept
 * long. */
unsigned blocked_panel_asleep(struct view *view);
/* Adds a row about these, if there are any, and one about each of the first `most` sleepers. */
void blocked_panel_add_sleepers(struct view *view, GtkWidget *list, size_t most);

/* The worst diagnosis of the blocked threads, and their number: in a live run, those that have
 * waited long. */
enum blocked_worst {
    BLOCKED_NONE,
    BLOCKED_ASLEEP, /* none is blocked; the number of those that sleep in untraced calls */
    BLOCKED_SOME,
    BLOCKED_LIKELY_HANG, /* no traced thread can wake them */
    BLOCKED_VIOLATION, /* blocked or not: the program broke a rule of its environment */
    BLOCKED_HANG,
    BLOCKED_DEADLOCK
};
enum blocked_worst blocked_panel_worst(struct view *view, unsigned *count);

/* ---- event panel ---- */

/* Returns whether the panel is about to be updated. */
bool event_panel_is_busy(struct view *view);

/* ---- notes panel ---- */

void notes_panel_set_note(struct view *view, struct event_id at,
                          const char *text); /* text NULL: deletes it */
bool notes_panel_go_to(struct view *view,
                       uint64_t number); /* numbered from 1; returns false if there is none */
/* Gets the first and the last note in the order of the log. Returns false if there are fewer than
 * two. */
bool notes_panel_first_and_last(const struct view *view, struct event_id ends[2]);

/* ---- search panel ---- */

void search_panel_text(struct view *view, const char *text); /* as if typed */
void search_panel_focus(struct view *view);
/* searches all events with the call site of the selected event */
void search_panel_site(struct view *view);
/* Finds events like the selected ones: one at its call site, two in their order. */
void search_panel_similar(struct view *view);
void search_panel_leave(struct view *view); /* ends the search; its text stays in the entry */
/* From the selected event, else from the visible part: 1: the next hit, -1: the previous one, 0:
 * this or the next one. */
void search_panel_next(struct view *view, int step);

#endif
