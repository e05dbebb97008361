/* The window that runs a program, and the one that says what is measured of one that runs. */
#ifndef CLIENTS_VIEW_RUNNING_H
#define CLIENTS_VIEW_RUNNING_H

struct view;

void running_show(struct view *view);
void running_measure(struct view *view);

#endif
