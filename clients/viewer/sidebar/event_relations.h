/* Relations of an event in its panel: to all others, and to a second event. All texts are markup,
 * which the caller frees. */
#ifndef CLIENTS_VIEWER_SIDEBAR_EVENT_RELATIONS_H
#define CLIENTS_VIEWER_SIDEBAR_EVENT_RELATIONS_H

#include "clients/metadata/trace_metadata.h"
#include "wire/query_results.h"

#include <glib.h>
#include <stdbool.h>

struct view;

/* Appends the event's name as a link to it, and its line. */
void event_relations_append_link(GString *s, const struct trace_metadata *book, struct event_id at);
/* counting: not finished yet. */
char *event_relations_counts_text(const struct relation_counts *count, bool counting);
/* Returns the relation of the two selected events, what lies between them, and the causal chain;
 * NULL: there are not two. */
char *event_relations_text(struct view *view);

#endif
