/* Measured states of threads for the rows of the zoomed-out view: they divide what the order alone
 * calls running (state_bands_view.h), and are used by what is drawn over the state bands
 * (overview_overlay.h) and below the diagram. */
#ifndef CLIENTS_VIEWER_DIAGRAM_MEASURED_STATES_H
#define CLIENTS_VIEWER_DIAGRAM_MEASURED_STATES_H

#include "clients/viewer/state/notifications.h"
#include "wire/state_bands.h"

struct view;

void measured_states_on_notification(struct view *view, enum notification what);
void measured_states_clear(struct view *view); /* another run */
/* Returns those of the visible rows, maybe of a slightly outdated range; NULL: not available. */
const struct state_bands *measured_states_of(struct view *view);
/* Returns their pixel in which a pixel of the state bands begins; -1: none. */
int measured_states_find_pixel(const struct state_bands *lives, const struct state_bands *seen,
                               uint32_t pixel);
/* Returns the cells of a row for the pixels of the state bands; the caller frees them. */
struct state_band_cell *measured_states_cells(const struct state_bands *lives,
                                              const struct state_bands *seen, uint32_t row);
/* Returns whether it is a row of threads. */
bool measured_states_has_row(const struct state_bands *lives, uint32_t row);
const char *measured_states_problem(struct view *view); /* why it cannot be shown; NULL: it can */
bool measured_states_is_busy(struct view *view); /* whether they are requested, or about to be */
/* whether they are requested, and nothing has arrived yet */
bool measured_states_is_running(struct view *view);

#endif
