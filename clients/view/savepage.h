/* The drawer's page as it is seen, as a picture in a file. */
#ifndef CLIENTS_VIEW_SAVEPAGE_H
#define CLIENTS_VIEW_SAVEPAGE_H

#include <stdbool.h>

struct view;

bool savepage_can(struct view *view); /* has it the focus, and something in it? */
void savepage_ask(struct view *view); /* where to; then does it */
void savepage_to(struct view *view,
                 const char *file); /* what comes of it is said in the status line */

#endif
