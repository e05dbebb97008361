/* What follows from what the connection tells: another run, more of it, the end of it. */
#ifndef CLIENTS_VIEW_SESSION_H
#define CLIENTS_VIEW_SESSION_H

#include "clients/view/link.h"
#include <glib.h>

struct session {
    uint64_t damage_told; /* 1 + events that were said to be unreadable; 0: nothing was said */
    gint64 map_us;        /* when the map was asked for last */
    guint quiet;          /* timer: the run has stopped growing */
};

extern const struct link_ears session_ears; /* their user: a struct view */

#endif
