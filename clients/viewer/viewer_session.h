/* Reactions to the connection's events: another run, growth of the run, its end. */
#ifndef CLIENTS_VIEWER_VIEWER_SESSION_H
#define CLIENTS_VIEWER_VIEWER_SESSION_H

#include "clients/viewer/state/server_link.h"

/* their user pointer: a struct view */
extern const struct server_link_callbacks viewer_session_callbacks;

#endif
