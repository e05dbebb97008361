/* The viewer: one window on one run, live or not.
 *
 * It never holds the order: it asks for a window of placed events, makes a scene of
 * the answer and paints it.  At most one request is under way; the newest wish
 * replaces any that waits. */
#ifndef CLIENTS_VIEW_VIEW_H
#define CLIENTS_VIEW_VIEW_H

#include "clients/source/label.h"
#include "clients/source/source.h"
#include "render/lettering.h"
#include "render/page.h"
#include "wire/asked.h"

#include <gtk/gtk.h>

#define REQUEST_VIEW 1u
#define REQUEST_SAVE 2u

struct view {
    GtkWidget *window, *canvas, *across, *down, *details, *details_box, *status, *title, *subtitle,
        *follow_button, *runs, *stack, *empty_text, *empty_button;
    GtkAdjustment *across_at, *down_at;
    /* the connection */
    struct source source;
    bool connected, has_run;
    guint watch;
    struct sites *sites;
    uint32_t known;
    char *run_names; /* what the list of runs shows */
    /* where we are */
    enum anchor anchor;
    uint64_t position;
    double fraction;
    int32_t from;
    bool follow;
    double zoom;
    /* what is shown */
    struct shown_window shown;
    struct scene *scene;
    struct ref selected;
    bool asked, ask_again, moving; /* moving: we set the scroll bars ourselves */
    /* saving */
    char *save_path;
    bool save_whole;
};

/* link.c: the connection */
bool link_open(struct view *view, const char *what); /* NULL: the default endpoint */
void link_close(struct view *view);
void link_ask(struct view *view);           /* for the window that is wanted now */
void link_ask_save(struct view *view);      /* for the whole run */
void link_select(struct view *view, const char *run);

/* canvas.c: the picture */
GtkWidget *canvas_new(struct view *view);
uint32_t canvas_columns(const struct view *view); /* that fit the width */
void canvas_show(struct view *view, struct shown_window *window); /* takes it */
void canvas_details(struct view *view);
bool canvas_key(struct view *view, guint key, GdkModifierType state);
void canvas_follow(struct view *view, bool follow);

/* file.c: opening and saving */
void file_open(struct view *view);
void file_connect(struct view *view);
void file_save(struct view *view);
void file_write(struct view *view, struct shown_window *window); /* a whole run came */

/* window.c */
void window_new(GtkApplication *application, const char *source);
void window_say(struct view *view, const char *format, ...) G_GNUC_PRINTF(2, 3);
void window_titles(struct view *view);
void window_empty(struct view *view, const char *text);

#endif
