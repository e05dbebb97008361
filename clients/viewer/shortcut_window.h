/* The window of keyboard shortcuts. */
#ifndef CLIENTS_VIEWER_SHORTCUT_WINDOW_H
#define CLIENTS_VIEWER_SHORTCUT_WINDOW_H

#include "clients/viewer/action_setup.h"

struct shortcut_tables {
    const struct action *actions; /* in their groups */
    size_t action_count;
    const struct line_key *lines;
    size_t line_count;
};

void shortcut_window_show(struct view *view, const struct shortcut_tables *shortcuts);

#endif
