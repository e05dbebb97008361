/* Asking for a pattern of names, and doing something with all lines that have such a one. */
#ifndef CLIENTS_VIEWER_PATTERN_DIALOG_H
#define CLIENTS_VIEWER_PATTERN_DIALOG_H

struct view;

void pattern_dialog_join(struct view *view); /* they become one row */
void pattern_dialog_hide(struct view *view);

#endif
