/* What the page of an event says of others: how they stand to it, and what ties it to a second one.  All of it is
 * markup, and the caller's. */
#ifndef CLIENTS_VIEW_PANELS_RELATED_H
#define CLIENTS_VIEW_PANELS_RELATED_H

#include "clients/book/book.h"
#include "wire/found.h"

#include <glib.h>
#include <stdbool.h>

struct view;

/* Appends the event's name, which leads to it, and its line. */
void related_link(GString *s, const struct book *book, struct ref at);
/* counting: it goes on. */
char *related_counts(const struct shown_count *count, bool counting);
/* How the two that are selected stand to each other, what lies between them, and the way from one to the other;
 * NULL: there are not two. */
char *related_text(struct view *view);

#endif
