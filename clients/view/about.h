/* Help, in a page, and what this is. */
#ifndef CLIENTS_VIEW_ABOUT_H
#define CLIENTS_VIEW_ABOUT_H

struct view;

void about_dialog_show_help(struct view *view);
void about_dialog_show(struct view *view);

#endif
