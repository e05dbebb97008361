/* The drawer's page as it is seen, as a picture in a file. */
#ifndef CLIENTS_VIEWER_TAB_EXPORT_H
#define CLIENTS_VIEWER_TAB_EXPORT_H

#include <stdbool.h>

struct view;

bool tab_export_is_possible(struct view *view); /* has it the focus, and something in it? */
void tab_export_ask(struct view *view); /* where to; then does it */
void tab_export_write(struct view *view,
                      const char *file); /* what comes of it is said in the status line */

#endif
