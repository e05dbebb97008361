/* How the events of a window stand to one of them: asked for in questions of bounded size. */
#ifndef CLIENTS_CONNECTION_RELATION_QUERY_H
#define CLIENTS_CONNECTION_RELATION_QUERY_H

#include "wire/request.h"
#include "wire/request_body.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

struct event_relations {
    struct window_info *window; /* not ours; its events learn it */
    uint32_t at;                 /* those before it did */
};

/* Appends the body of the next STANDS question; false when all is known. */
bool relation_query_send(const struct event_relations *stands, struct event_id about,
                         struct encoder *body);
/* Takes a part of its answer.  What the server did not answer stays not known. */
void relation_query_receive(struct event_relations *stands, const struct response_chunk *answer);

#endif
