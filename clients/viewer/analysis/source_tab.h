/* The drawer's page Source: what others ask of it. */
#ifndef CLIENTS_VIEWER_ANALYSIS_SOURCE_TAB_H
#define CLIENTS_VIEWER_ANALYSIS_SOURCE_TAB_H

#include "wire/table_cell.h"

#include <stdbool.h>

struct view;

/* The line of a place is to be seen there, once it is known. */
void source_tab_reveal(struct view *view, struct table_place place);
/* Ctrl+F: a part of a line is looked for.  False: the page has not the focus. */
bool source_tab_find(struct view *view);

#endif
