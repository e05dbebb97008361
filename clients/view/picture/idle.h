/* Rows with nothing in view take no room, while that is switched on. */
#ifndef CLIENTS_VIEW_PICTURE_IDLE_H
#define CLIENTS_VIEW_PICTURE_IDLE_H

#include <stdbool.h>

struct view;

/* Takes the rows that the scene draws nothing in out of the window.  False: there are none, or it
 * is not wanted. */
bool idle_rows_remove(struct view *view);

#endif
