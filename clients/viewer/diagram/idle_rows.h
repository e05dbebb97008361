/* Hiding rows without visible events, if enabled. */
#ifndef CLIENTS_VIEWER_DIAGRAM_IDLE_ROWS_H
#define CLIENTS_VIEWER_DIAGRAM_IDLE_ROWS_H

#include <stdbool.h>

struct view;

/* Removes rows without anything drawn from the window. Returns false if there are none, or it is
 * disabled. */
bool idle_rows_remove(struct view *view);

#endif
