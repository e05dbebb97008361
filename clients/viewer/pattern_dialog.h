/* The dialog for a name pattern, whose action applies to all matching lines. */
#ifndef CLIENTS_VIEWER_PATTERN_DIALOG_H
#define CLIENTS_VIEWER_PATTERN_DIALOG_H

struct view;

void pattern_dialog_join(struct view *view); /* they become one row */
void pattern_dialog_hide(struct view *view);

#endif
