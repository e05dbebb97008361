/* What is kept between two uses, in $XDG_CONFIG_HOME/poet/view.conf.  Whoever changes one tells
 * NOTIFY_SETTINGS. */
#ifndef CLIENTS_VIEWER_STATE_VIEWER_SETTINGS_H
#define CLIENTS_VIEWER_STATE_VIEWER_SETTINGS_H

#include "clients/connection/view_state.h"
#include "render/scene_paint.h"

#include <stdbool.h>

struct viewer_settings {
    struct view_style look;
    bool tint; /* every fourth row */
    bool reselect; /* an event that is scrolled away hands over to the next one of its line */
    bool busy_rows;  /* rows with nothing in view are left out */
    bool panel, map, drawer; /* are they shown? */
    bool path, tints; /* the critical path; waits by class: drawn over the picture? */
    int drawer_px; /* how high the drawer is */
    char *drawer_page; /* the one that was looked at; NULL: the first */
    bool dark_follows; /* the desktop says whether the window is dark */
    int names_px; /* how wide names are; 0: as wide as the longest */
    int width_px, height_px; /* of the window when it was closed, not maximized */
    bool maximized;
    char *editor; /* a command; empty or NULL: $VISUAL, $EDITOR, or whatever the desktop has */
    char **recent; /* sources that were opened before, the latest first; NULL: none */
};

void viewer_settings_load(
    struct viewer_settings *settings); /* what cannot be read is as at first */
void viewer_settings_save(const struct viewer_settings *settings);
/* Puts a source before all others that were opened.  NULL and `latest` are not kept. */
void viewer_settings_remember(struct viewer_settings *settings, const char *source);
struct paint_theme viewer_settings_theme(const struct viewer_settings *settings);

#endif
