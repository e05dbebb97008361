/* Whoever waits for more than a second for a picture is told, and may give up. */
#ifndef CLIENTS_VIEW_PATIENCE_H
#define CLIENTS_VIEW_PATIENCE_H

#include <stdbool.h>

struct view;

void patience_begin(struct view *view); /* with a connection */
void patience_end(struct view *view);
bool patience_is_out(const struct view *view); /* was it told? */
void patience_give_up(struct view *view); /* waits for no picture any more */

#endif
