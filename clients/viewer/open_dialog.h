/* Asking for what is to be opened. */
#ifndef CLIENTS_VIEWER_OPEN_DIALOG_H
#define CLIENTS_VIEWER_OPEN_DIALOG_H

struct view;

void open_dialog_show_files(struct view *view);           /* wherever it is */
void open_dialog_show_connect(struct view *view); /* a server */

#endif
