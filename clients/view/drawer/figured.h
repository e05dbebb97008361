/* What the pages of figures have in common: the curve of the selected row stands above the table. */
#ifndef CLIENTS_VIEW_DRAWER_FIGURED_H
#define CLIENTS_VIEW_DRAWER_FIGURED_H

#include "clients/view/drawer/curve.h"
#include "clients/view/drawer/page.h"

/* Which of them; each has a curve of its own. */
enum figured { FIGURED_MEMORY, FIGURED_RESOURCES, FIGURED_METERS, FIGUREDS };

GtkWidget *figured_above(struct view *view, enum figured page);
/* By the row's program, thread and meter. */
void figured_select(struct view *view, enum figured page, const struct shown_table *table, int row);
void figured_take(struct view *view, enum figured page, enum news news);
void figured_clear(struct view *view, enum figured page);
bool figured_busy(struct view *view, const char *page); /* is the page's curve asked for? */
void figured_print(struct view *view, const char *page, FILE *f); /* for tests */

#endif
