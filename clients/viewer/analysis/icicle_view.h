/* A tree of calls as an icicle to look at, in the drawer: boxes to point at, to select, to go into.
 *
 * Click: selects a box and goes into it; Backspace or Escape: up; arrows: to the box above, below,
 * beside; Enter: into the selected one; Home: to the whole.  What is selected, and where one is, is
 * kept where the next table has it, too. */
#ifndef CLIENTS_VIEWER_ANALYSIS_ICICLE_VIEW_H
#define CLIENTS_VIEWER_ANALYSIS_ICICLE_VIEW_H

#include "clients/connection/result_table.h"
#include "render/document.h"

#include <gtk/gtk.h>
#include <stdbool.h>
#include <stdio.h>

struct view;
struct icicle_widget;

struct icicle_callbacks {
    void (*selected)(struct view *view, int row); /* of the table; -1: none, or all */
};

struct icicle_widget *icicle_view_new(struct view *view, const struct icicle_callbacks *ears);
GtkWidget *icicle_view_widget(struct icicle_widget *boxed);
void icicle_view_show(struct icicle_widget *boxed,
                      const struct result_table *table); /* borrowed until the next */
void icicle_view_highlight(struct icicle_widget *boxed, const char *text); /* "": all are alike */
void icicle_view_select(struct icicle_widget *boxed, int row); /* of the table; nobody is told */
void icicle_view_enter(struct icicle_widget *boxed); /* into the selected one */
bool icicle_view_go_up(struct icicle_widget *boxed); /* false: all of it is seen already */
/* A line each: depth, share of the width in 1/1000, path, amount, * before the selected one; for
 * tests. */
void icicle_view_print(struct icicle_widget *boxed, FILE *f);
/* As seen, with all that lies below; NULL, or what went wrong. */
const char *icicle_view_write(struct icicle_widget *boxed, const struct document_options *options,
                              const char *file);

#endif
