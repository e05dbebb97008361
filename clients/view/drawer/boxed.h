/* A tree of calls as an icicle to look at, in the drawer: boxes to point at, to select, to go into.
 *
 * Click: selects a box and goes into it; Backspace or Escape: up; arrows: to the box above, below, beside; Enter: into the
 * selected one; Home: to the whole.  What is selected, and where one is, is kept where the next table has it, too. */
#ifndef CLIENTS_VIEW_DRAWER_BOXED_H
#define CLIENTS_VIEW_DRAWER_BOXED_H

#include "clients/source/table.h"
#include "render/page.h"

#include <gtk/gtk.h>
#include <stdbool.h>
#include <stdio.h>

struct view;
struct boxed;

struct boxed_ears {
    void (*selected)(struct view *view, int row); /* of the table; -1: none, or all */
};

struct boxed *boxed_new(struct view *view, const struct boxed_ears *ears);
GtkWidget *boxed_widget(struct boxed *boxed);
void boxed_show(struct boxed *boxed, const struct shown_table *table); /* borrowed until the next */
void boxed_find(struct boxed *boxed, const char *text); /* "": all are alike */
void boxed_select(struct boxed *boxed, int row); /* of the table; nobody is told */
void boxed_enter(struct boxed *boxed); /* into the selected one */
bool boxed_up(struct boxed *boxed); /* false: all of it is seen already */
/* A line each: depth, share of the width in 1/1000, path, amount, * before the selected one; for tests. */
void boxed_print(struct boxed *boxed, FILE *f);
/* As seen, with all that lies below; NULL, or what went wrong. */
const char *boxed_write(struct boxed *boxed, const struct page_options *options, const char *file);

#endif
