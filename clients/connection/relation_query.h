/* Querying the relations of the events of a window to one event, in requests of bounded size. */
#ifndef CLIENTS_CONNECTION_RELATION_QUERY_H
#define CLIENTS_CONNECTION_RELATION_QUERY_H

#include "wire/request.h"
#include "wire/request_body.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

struct event_relations {
    struct window_info *window; /* borrowed; its events receive the relations */
    uint32_t at;                 /* events before this index are done */
};

/* Appends the body of the next RELATIONS request; returns false when all relations are known. */
bool relation_query_send(const struct event_relations *relations, struct event_id about,
                         struct encoder *body);
/* Processes a part of its response. Relations that the server did not answer remain unknown. */
void relation_query_receive(struct event_relations *relations, const struct response_chunk *answer);

#endif
