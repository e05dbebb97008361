/* Going to a typed target: an event, a time, a fraction of the run, a position or a note. */
#ifndef CLIENTS_VIEWER_GOTO_ENTRY_H
#define CLIENTS_VIEWER_GOTO_ENTRY_H

struct view;

/* Returns NULL, or an error message, which the caller frees. */
char *goto_entry_apply(struct view *view, const char *text);
void goto_entry_show(struct view *view);

#endif
