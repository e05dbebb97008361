/* Reactions to the connection's events: another run, growth of the run, its end. */
#ifndef CLIENTS_VIEWER_VIEWER_SESSION_H
#define CLIENTS_VIEWER_VIEWER_SESSION_H

#include "clients/viewer/state/server_link.h"

struct view;

/* their user pointer: a struct view */
extern const struct server_link_callbacks viewer_session_callbacks;

/* From here on, runs open at their end, in marks, instead of showing the whole run. */
void viewer_session_open_at_end(struct view *view);

#endif
