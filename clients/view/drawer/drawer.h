/* The drawer under the picture: pages of tables, one of which is looked at. */
#ifndef CLIENTS_VIEW_DRAWER_DRAWER_H
#define CLIENTS_VIEW_DRAWER_DRAWER_H

#include "clients/view/drawer/page.h"
#include "clients/view/parts/news.h"

#include <gtk/gtk.h>

struct view;

/* The picture with the drawer below it, whose height can be dragged. */
GtkWidget *drawer_new(struct view *view, GtkWidget *picture);
void drawer_tell(struct view *view, enum news news);
void drawer_clear(struct view *view); /* another run */
/* Opens it, at this page (NULL: as it was), and gives it the focus. */
void drawer_open(struct view *view, const char *page);
void drawer_close(struct view *view);
void drawer_focus(struct view *view); /* to the page that is shown */
bool drawer_has_focus(struct view *view);
bool drawer_busy(struct view *view); /* is its page being asked for? */
struct paged *drawer_page(struct view *view); /* that is looked at */

#endif
