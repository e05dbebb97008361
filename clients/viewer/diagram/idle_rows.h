/* Rows with nothing in view take no room, while that is switched on. */
#ifndef CLIENTS_VIEWER_DIAGRAM_IDLE_ROWS_H
#define CLIENTS_VIEWER_DIAGRAM_IDLE_ROWS_H

#include <stdbool.h>

struct view;

/* Takes the rows that the scene draws nothing in out of the window.  False: there are none, or it
 * is not wanted. */
bool idle_rows_remove(struct view *view);

#endif
