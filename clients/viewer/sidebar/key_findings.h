/* The key findings of a run, as a list of links: rules that the program broke; what would make it
 * shorter, the largest estimated gain first; memory that was not freed; potential bugs. */
#ifndef CLIENTS_VIEWER_SIDEBAR_KEY_FINDINGS_H
#define CLIENTS_VIEWER_SIDEBAR_KEY_FINDINGS_H

#include "clients/viewer/state/notifications.h"

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;
struct key_findings;

/* Returns the list, in *widget what contains it. Freed with the widget. */
struct key_findings *key_findings_new(struct view *view, GtkWidget **widget);
/* Requests the findings of a run that is shown for the first time or has stopped growing; removes
 * those of one that grows. */
void key_findings_notify(struct key_findings *findings, enum notification what);
bool key_findings_is_busy(const struct key_findings *findings);
void key_findings_clear(struct key_findings *findings); /* another run */
/* Shows the list, unless it is empty, or hides it. */
void key_findings_show(struct key_findings *findings, bool shown);

#endif
