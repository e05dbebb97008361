/* What follows from what the connection tells: another run, more of it, the end of it. */
#ifndef CLIENTS_VIEW_SESSION_H
#define CLIENTS_VIEW_SESSION_H

#include "clients/view/parts/link.h"

extern const struct link_ears session_ears; /* their user: a struct view */

#endif
