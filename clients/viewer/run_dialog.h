/* The dialog that starts a program, and the one for the measurements of a running program. */
#ifndef CLIENTS_VIEWER_RUN_DIALOG_H
#define CLIENTS_VIEWER_RUN_DIALOG_H

struct view;

void run_dialog_show(struct view *view);
void run_dialog_edit_measurement(struct view *view);

#endif
