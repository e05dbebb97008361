#include "clients/connection/relation_query.h"

#include "base/alloc.h"
#include "wire/limits.h"
#include "wire/layout_results.h"

bool relation_query_send(const struct event_relations *relations, struct event_id about,
                         struct encoder *body)
{
    const struct window_info *w = relations->window;
    if (relations->at >= w->event_count)
        return false;
    struct relations_request request = {.about = about};
    uint32_t left = w->event_count - relations->at;
    request.count = left < LIMIT_STANDS ? left : LIMIT_STANDS;
    request.positions = xcalloc(request.count, sizeof *request.positions);
    for (uint32_t i = 0; i < request.count; i++)
        request.positions[i] = w->events[relations->at + i].position;
    encode_relations_request(body, &request);
    relations_request_free(&request);
    return true;
}

void relation_query_receive(struct event_relations *relations, const struct response_chunk *answer)
{
    struct window_info *w = relations->window;
    if (answer->part == RESPONSE_ERROR) /* all remaining relations stay unknown */
        relations->at = w->event_count;
    if (answer->part != RESPONSE_RELATIONS)
        return;
    uint32_t n = decode_count(answer->in, 1);
    if (!n || n > w->event_count - relations->at)
        decoder_fail(answer->in, "holds the relations of other events");
    for (uint32_t i = 0; i < n && !answer->in->error; i++)
        w->events[relations->at++].to_selected = decode_u8(answer->in);
}
