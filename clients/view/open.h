/* Asking for what is to be opened. */
#ifndef CLIENTS_VIEW_OPEN_H
#define CLIENTS_VIEW_OPEN_H

struct view;

void open_dialog(struct view *view);         /* a file */
void open_connect_dialog(struct view *view); /* a server */

#endif
