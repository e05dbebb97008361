/* Export of the visible tab of the analysis pane to an image file. */
#ifndef CLIENTS_VIEWER_TAB_EXPORT_H
#define CLIENTS_VIEWER_TAB_EXPORT_H

#include <stdbool.h>

struct view;

bool tab_export_is_possible(struct view *view); /* whether it has the focus, and is not empty */
void tab_export_ask(struct view *view); /* asks for the file, then exports */
void tab_export_write(struct view *view,
                      const char *file); /* reports the result in the status line */

#endif
