/* The panel of the selected event. */
#ifndef CLIENTS_VIEW_PANELS_EVENT_H
#define CLIENTS_VIEW_PANELS_EVENT_H

struct view;

void event_edit(struct view *view); /* its source, in the editor */

#endif
