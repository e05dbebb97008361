/* From far away: in which state threads were as it was measured, on the rows of the strips: for
 * what is drawn of it over them (wait_kinds.h) and below the picture. */
#ifndef CLIENTS_VIEWER_DIAGRAM_MEASURED_STATES_H
#define CLIENTS_VIEWER_DIAGRAM_MEASURED_STATES_H

#include "clients/viewer/state/notifications.h"
#include "wire/state_bands.h"

struct view;

void measured_states_on_notification(struct view *view, enum notification news);
void measured_states_clear(struct view *view); /* another run */
/* Of the rows that are seen; NULL: it is not here, or not wanted.  Its range may be that of a
 * moment ago. */
const struct state_bands *measured_states_of(struct view *view);
/* The pixel of it in which a pixel of the strips begins; -1: none. */
int measured_states_find_pixel(const struct state_bands *lives, const struct state_bands *seen,
                               uint32_t pixel);
/* Is it a row of threads? */
bool measured_states_has_row(const struct state_bands *lives, uint32_t row);
const char *measured_states_problem(struct view *view); /* why it cannot be shown; NULL: it can */
bool measured_states_is_busy(struct view *view); /* is it asked for, or about to be? */
bool measured_states_is_running(struct view *view); /* is it asked for, and nothing here yet? */

#endif
