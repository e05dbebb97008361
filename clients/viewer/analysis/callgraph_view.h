/* The call graph in the analysis pane: boxes and arrows; boxes can be selected by click or arrow
 * keys. */
#ifndef CLIENTS_VIEWER_ANALYSIS_CALLGRAPH_VIEW_H
#define CLIENTS_VIEWER_ANALYSIS_CALLGRAPH_VIEW_H

#include "clients/connection/result_table.h"
#include "render/document.h"

#include <gtk/gtk.h>
#include <stdio.h>

struct view;
struct callgraph_view;

/* selected: called with a row of the table; -1: none. */
struct callgraph_view *callgraph_view_new(struct view *view,
                                          void (*selected)(struct view *view, int row));
GtkWidget *callgraph_view_widget(struct callgraph_view *graphed);
/* Shows a table of calls with the option `graph`; the table is not kept. */
void callgraph_view_show(struct callgraph_view *graphed, const struct result_table *table);
void callgraph_view_select(struct callgraph_view *graphed,
                           int row); /* of the table; does not call `selected` */
/* Prints one line per box: name, time, * before the selected one; then arrows: from, to, count; for
 * tests. */
void callgraph_view_print(struct callgraph_view *graphed, FILE *f);
const char *callgraph_view_write(struct callgraph_view *graphed,
                                 const struct document_options *options, const char *file);

#endif
