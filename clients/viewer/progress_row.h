/* Progress display for diagrams that take more than a second, with a button to cancel. */
#ifndef CLIENTS_VIEWER_PROGRESS_ROW_H
#define CLIENTS_VIEWER_PROGRESS_ROW_H

#include <stdbool.h>

struct view;

void progress_row_begin(struct view *view); /* call when there is a connection */
void progress_row_end(struct view *view);
bool progress_row_is_shown(const struct view *view); /* whether it is visible */
void progress_row_give_up(struct view *view); /* stops waiting for any diagram */

#endif
