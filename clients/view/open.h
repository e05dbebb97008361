/* Asking for what is to be opened. */
#ifndef CLIENTS_VIEW_OPEN_H
#define CLIENTS_VIEW_OPEN_H

struct view;

void open_file(struct view *view);           /* wherever it is */
void open_connect_dialog(struct view *view); /* a server */

#endif
