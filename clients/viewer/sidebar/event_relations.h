/* What the page of an event says of others: how they stand to it, and what ties it to a second
 * one.  All of it is markup, and the caller's. */
#ifndef CLIENTS_VIEWER_SIDEBAR_EVENT_RELATIONS_H
#define CLIENTS_VIEWER_SIDEBAR_EVENT_RELATIONS_H

#include "clients/metadata/trace_metadata.h"
#include "wire/query_results.h"

#include <glib.h>
#include <stdbool.h>

struct view;

/* Appends the event's name, which leads to it, and its line. */
void event_relations_append_link(GString *s, const struct trace_metadata *book, struct event_id at);
/* counting: it goes on. */
char *event_relations_counts_text(const struct relation_counts *count, bool counting);
/* How the two that are selected stand to each other, what lies between them, and the way from one
 * to the other; NULL: there are not two. */
char *event_relations_text(struct view *view);

#endif
