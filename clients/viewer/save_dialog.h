/* The dialog that saves a diagram: what of the run, in which form, with a preview; then the
 * file. */
#ifndef CLIENTS_VIEWER_SAVE_DIALOG_H
#define CLIENTS_VIEWER_SAVE_DIALOG_H

struct view;

void save_dialog_show(struct view *view);

#endif
