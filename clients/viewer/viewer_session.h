/* What follows from what the connection tells: another run, more of it, the end of it. */
#ifndef CLIENTS_VIEWER_VIEWER_SESSION_H
#define CLIENTS_VIEWER_VIEWER_SESSION_H

#include "clients/viewer/state/server_link.h"

extern const struct server_link_callbacks viewer_session_callbacks; /* their user: a struct view */

#endif
