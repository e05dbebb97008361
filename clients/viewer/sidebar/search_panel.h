/* The search panel: the search expression, and the list of all events or hits. */
#ifndef CLIENTS_VIEWER_SIDEBAR_SEARCH_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_SEARCH_PANEL_H

struct view;

void search_panel_text(struct view *view, const char *text); /* as if typed */
void search_panel_focus(struct view *view);
/* searches all events with the call site of the selected event */
void search_panel_site(struct view *view);
void search_panel_leave(struct view *view); /* ends the search; its text stays in the entry */
/* From the selected event, else from the visible part: 1: the next hit, -1: the previous one, 0:
 * this or the next one. */
void search_panel_next(struct view *view, int step);

#endif
