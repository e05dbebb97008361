/* The window that runs a program, and the one that says what is measured of one that runs. */
#ifndef CLIENTS_VIEW_RUNNING_H
#define CLIENTS_VIEW_RUNNING_H

struct view;

void run_dialog_show(struct view *view);
void run_dialog_edit_measurement(struct view *view);

#endif
