/* Reactions to the connection's events: another run, growth of the run, its end. */
#ifndef CLIENTS_VIEWER_VIEWER_SESSION_H
#define CLIENTS_VIEWER_VIEWER_SESSION_H

#include "clients/viewer/state/server_link.h"

#include <stdbool.h>

struct view;

/* their user pointer: a struct view */
extern const struct server_link_callbacks viewer_session_callbacks;

/* Selects this range of the run that is opened next, and zooms to it if the run has ended. */
void viewer_session_open_range(struct view *view, int64_t from_ns, int64_t to_ns);

/* ---- progress of a diagram that takes more than a second, with a button to cancel ---- */

bool progress_row_is_shown(const struct view *view); /* whether it is visible */
void progress_row_give_up(struct view *view); /* stops waiting for any diagram */

#endif
