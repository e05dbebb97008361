/* Consistent cuts as they are requested: by events, or by a time. */
#ifndef SERVER_CUTS_CUT_REQUEST_H
#define SERVER_CUTS_CUT_REQUEST_H

#include "server/cuts/cut_selection.h"
#include "wire/cut_messages.h"
#include "wire/endpoint.h"

/* Begins the smallest cut with an event, or with what happened before it; NULL with *error. */
struct consistent_cut *cut_request_past(const struct run *run, struct event_id of, bool with,
                                        struct error *error);
/* Begins the largest cut with no event at or after a time. */
struct consistent_cut *cut_request_time(const struct run *run, int64_t end_ns);
/* Begins the selection of a request; returns false with *error. */
bool cut_request_begin(const struct run *run, const struct cut_request *request,
                       struct cut_selection *selection, struct error *error);

#endif
