/* Asking for a pattern of names, and doing something with all lines that have such a one. */
#ifndef CLIENTS_VIEW_PATTERN_H
#define CLIENTS_VIEW_PATTERN_H

struct view;

void pattern_dialog_join(struct view *view); /* they become one row */
void pattern_dialog_hide(struct view *view);

#endif
