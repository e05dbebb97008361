/* Going to what was written: an event, a time, a share of the run, a position or a note. */
#ifndef CLIENTS_VIEWER_GOTO_ENTRY_H
#define CLIENTS_VIEWER_GOTO_ENTRY_H

struct view;

/* NULL, or what is wrong with the text, to be freed. */
char *goto_entry_apply(struct view *view, const char *text);
void goto_entry_show(struct view *view);

#endif
