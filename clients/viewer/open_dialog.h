/* The dialogs for opening a source. */
#ifndef CLIENTS_VIEWER_OPEN_DIALOG_H
#define CLIENTS_VIEWER_OPEN_DIALOG_H

struct view;

void open_dialog_show_files(struct view *view);           /* a file */
void open_dialog_show_connect(struct view *view); /* a server */

#endif
