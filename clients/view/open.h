/* Asking for what is to be opened. */
#ifndef CLIENTS_VIEW_OPEN_H
#define CLIENTS_VIEW_OPEN_H

struct view;

void open_dialog_show_files(struct view *view);           /* wherever it is */
void open_dialog_show_connect(struct view *view); /* a server */

#endif
