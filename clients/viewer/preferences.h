/* The preferences dialog. */
#ifndef CLIENTS_VIEWER_PREFERENCES_H
#define CLIENTS_VIEWER_PREFERENCES_H

struct view;

void preferences_show(struct view *view);

#endif
