/* The help page and the About dialog. */
#ifndef CLIENTS_VIEWER_ABOUT_DIALOG_H
#define CLIENTS_VIEWER_ABOUT_DIALOG_H

struct view;

void about_dialog_show_help(struct view *view);
void about_dialog_show(struct view *view);

#endif
