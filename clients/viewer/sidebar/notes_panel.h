/* The panel of user notes at events. */
#ifndef CLIENTS_VIEWER_SIDEBAR_NOTES_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_NOTES_PANEL_H

#include "wire/event_types.h"

#include <stdbool.h>
#include <stdint.h>

struct view;

void notes_panel_set_note(struct view *view, struct event_id at,
                          const char *text); /* text NULL: deletes it */
bool notes_panel_go_to(struct view *view,
                       uint64_t number); /* numbered from 1; returns false if there is none */
/* Gets the first and the last note in the order of the log. Returns false if there are fewer than
 * two. */
bool notes_panel_first_and_last(const struct view *view, struct event_id ends[2]);

#endif
