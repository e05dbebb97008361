/* Going to what was written: an event, a time, a share of the run, a position or a bookmark. */
#ifndef CLIENTS_VIEW_GOTO_H
#define CLIENTS_VIEW_GOTO_H

struct view;

void goto_text(struct view *view, const char *text);
void goto_dialog(struct view *view);

#endif
