/* Who calls whom, to look at in the drawer: boxes and arrows, of which a box can be selected by a click or the arrow keys. */
#ifndef CLIENTS_VIEW_DRAWER_GRAPHED_H
#define CLIENTS_VIEW_DRAWER_GRAPHED_H

#include "clients/source/table.h"
#include "render/page.h"

#include <gtk/gtk.h>
#include <stdio.h>

struct view;
struct graphed;

/* selected: a row of the table; -1: none. */
struct graphed *graphed_new(struct view *view, void (*selected)(struct view *view, int row));
GtkWidget *graphed_widget(struct graphed *graphed);
/* A table of calls with the option `graph`; not kept. */
void graphed_show(struct graphed *graphed, const struct shown_table *table);
void graphed_select(struct graphed *graphed, int row); /* of the table; nobody is told */
/* A line each: name, what it took, * before the selected one; then arrows: from, to, how often; for tests. */
void graphed_print(struct graphed *graphed, FILE *f);
const char *graphed_write(struct graphed *graphed, const struct page_options *options,
                          const char *file);

#endif
