/* Encoding of events in responses to viewers. */
#ifndef SERVER_QUERIES_EVENT_ANSWER_H
#define SERVER_QUERIES_EVENT_ANSWER_H

#include "server/run/run.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <stddef.h>

/* Returns a delivered event.  The texts are borrowed; free it with event_answer_free(). */
struct event_info event_answer_info(const struct run *run, uint64_t position);
void event_answer_free(struct event_info *shown);

/* Returns a pending event.  The texts are borrowed, too. */
struct event_info event_answer_pending(const struct run *run, const struct arrival *arrival);

void event_answer_encode(struct response *reply, const struct event_info *shown);
void event_answer_query(struct response *reply, const struct run *run, struct event_id at);

/* The pending events with the lowest lines and numbers. */
struct event_waiting {
    const struct run *run;
    struct event_info *events;
    size_t count, room;
};
struct event_waiting event_answer_pending_of(const struct run *run, uint64_t most);
void event_answer_waiting_free(struct event_waiting *waiting);

#endif
