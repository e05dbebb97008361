/* Whoever waits for more than a second for a picture is told, and may give up. */
#ifndef CLIENTS_VIEWER_PROGRESS_ROW_H
#define CLIENTS_VIEWER_PROGRESS_ROW_H

#include <stdbool.h>

struct view;

void progress_row_begin(struct view *view); /* with a connection */
void progress_row_end(struct view *view);
bool progress_row_is_shown(const struct view *view); /* was it told? */
void progress_row_give_up(struct view *view); /* waits for no picture any more */

#endif
