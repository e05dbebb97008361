/* The dialog of the settings. */
#ifndef CLIENTS_VIEW_PREFERENCES_H
#define CLIENTS_VIEW_PREFERENCES_H

struct view;

void preferences_show(struct view *view);

#endif
