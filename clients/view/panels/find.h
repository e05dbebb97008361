/* The panel of the finder: what is looked for, and all events or hits. */
#ifndef CLIENTS_VIEW_PANELS_FIND_H
#define CLIENTS_VIEW_PANELS_FIND_H

struct view;

void find_text(struct view *view, const char *text); /* as if it was entered */
void find_focus(struct view *view);
void find_site(struct view *view);  /* all that was called where the selected event was */
void find_leave(
    struct view *view); /* nothing is looked for any more; its words stay in the entry */
/* From the selected event, else from what is seen: 1 the next hit, -1 the one before, 0 the next
 * or this. */
void find_next(struct view *view, int step);

#endif
