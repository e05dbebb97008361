/* The dialog for saving a diagram: part of the run, format and preview; then the file. */
#ifndef CLIENTS_VIEWER_SAVE_DIALOG_H
#define CLIENTS_VIEWER_SAVE_DIALOG_H

struct view;

void save_dialog_show(struct view *view);

#endif
