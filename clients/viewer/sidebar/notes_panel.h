/* The panel of notes at events. */
#ifndef CLIENTS_VIEWER_SIDEBAR_NOTES_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_NOTES_PANEL_H

#include "wire/event_types.h"

#include <stdbool.h>
#include <stdint.h>

struct view;

void notes_panel_set_note(struct view *view, struct event_id at,
                          const char *text); /* text NULL: it goes */
bool notes_panel_go_to(struct view *view,
                       uint64_t number); /* numbered from 1; false: there is none */
/* The first and the last in the order of the log.  False: there are not two yet. */
bool notes_panel_first_and_last(const struct view *view, struct event_id ends[2]);

#endif
