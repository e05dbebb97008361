/* The icicle chart of calls in the analysis pane: boxes can be pointed at, selected and entered.
 *
 * Click: selects a box and enters it; Backspace or Escape: up; arrows: to the box above, below,
 * beside; Enter: into the selected one; Home: to the root. Selection and position are kept if the
 * next table has them, too. */
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
    void (*selected)(struct view *view, int row); /* of the table; -1: none, or the root */
};

struct icicle_widget *icicle_view_new(struct view *view, const struct icicle_callbacks *ears);
GtkWidget *icicle_view_widget(struct icicle_widget *boxed);
void icicle_view_show(struct icicle_widget *boxed,
                      const struct result_table *table); /* borrowed until the next call */
void icicle_view_highlight(struct icicle_widget *boxed, const char *text); /* "": no highlighting */
/* of the table; does not call `selected` */
void icicle_view_select(struct icicle_widget *boxed, int row);
void icicle_view_enter(struct icicle_widget *boxed); /* the selected one */
/* returns false if the root is already shown */
bool icicle_view_go_up(struct icicle_widget *boxed);
/* Prints one line per box: depth, share of the width in 1/1000, path, amount, * before the selected
 * one; for tests. */
void icicle_view_print(struct icicle_widget *boxed, FILE *f);
/* Writes the visible chart with everything below it; returns NULL, or an error message. */
const char *icicle_view_write(struct icicle_widget *boxed, const struct document_options *options,
                              const char *file);

#endif
