/* The tab Source: its interface for other parts. */
#ifndef CLIENTS_VIEWER_ANALYSIS_SOURCE_TAB_H
#define CLIENTS_VIEWER_ANALYSIS_SOURCE_TAB_H

#include "wire/table_cell.h"

#include <stdbool.h>

struct view;

/* Shows the source line of a place, once it is known. */
void source_tab_reveal(struct view *view, struct table_place place);
/* Ctrl+F: starts a text search. Returns false if the tab does not have the focus. */
bool source_tab_find(struct view *view);

#endif
