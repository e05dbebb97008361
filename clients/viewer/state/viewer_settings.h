/* Persistent settings, in $XDG_CONFIG_HOME/poet/view.conf. Code that changes one sends
 * NOTIFY_SETTINGS. */
#ifndef CLIENTS_VIEWER_STATE_VIEWER_SETTINGS_H
#define CLIENTS_VIEWER_STATE_VIEWER_SETTINGS_H

#include "clients/connection/view_state.h"
#include "render/scene_paint.h"

#include <stdbool.h>

struct viewer_settings {
    struct view_style look;
    bool tint; /* shade every fourth row */
    /* when the selected event is scrolled out of view, select the next one of its line */
    bool reselect;
    bool busy_rows;  /* hide rows without visible events */
    bool panel, map, drawer; /* whether they are visible */
    bool path, overview_path; /* the critical path is drawn over marks, over state bands */
    bool tints; /* wait classes are drawn over both */
    int drawer_px; /* height of the analysis pane */
    char *drawer_page; /* its last visible tab; NULL: the first */
    bool dark_follows; /* the window is dark if the desktop is */
    int names_px; /* width of names; 0: that of the longest */
    int width_px, height_px; /* of the window when it was closed, not maximized */
    bool maximized;
    char *editor; /* a command; empty or NULL: $VISUAL, $EDITOR, or the desktop's default */
    char **recent; /* recent sources, the latest first; NULL: none */
};

void viewer_settings_load(
    struct viewer_settings *settings); /* settings that cannot be read keep their defaults */
void viewer_settings_save(const struct viewer_settings *settings);
/* Makes a source the most recent one. NULL and `latest` are ignored. */
void viewer_settings_remember(struct viewer_settings *settings, const char *source);
struct paint_theme viewer_settings_theme(const struct viewer_settings *settings);

#endif
