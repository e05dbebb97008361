/* The panel of the finder: what is looked for, and all events or hits. */
#ifndef CLIENTS_VIEWER_SIDEBAR_SEARCH_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_SEARCH_PANEL_H

struct view;

void search_panel_text(struct view *view, const char *text); /* as if it was entered */
void search_panel_focus(struct view *view);
void search_panel_site(struct view *view);  /* all that was called where the selected event was */
void search_panel_leave(
    struct view *view); /* nothing is looked for any more; its words stay in the entry */
/* From the selected event, else from what is seen: 1 the next hit, -1 the one before, 0 the next
 * or this. */
void search_panel_next(struct view *view, int step);

#endif
