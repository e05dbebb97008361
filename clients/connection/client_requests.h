/* Requests to a server, and their responses as they arrive. */
#ifndef CLIENTS_CONNECTION_CLIENT_REQUESTS_H
#define CLIENTS_CONNECTION_CLIENT_REQUESTS_H

#include "wire/endpoint.h"
#include "wire/layout_results.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <stdbool.h>

struct session; /* see session.h */

bool session_send_message(struct session *source, struct encoder *out); /* frees out */

/* Callback for a part of the response to a request. If it cannot decode the part, it fails
 * answer->in. */
typedef void source_take(void *user, const struct response_chunk *answer);

/* Sends a request; frees body, which may be NULL. Each part of the response is passed to `take`;
 * the one with `last` set ends it. If there is no response, that part is RESPONSE_ERROR with a
 * string, the reason. Returns the request's id, or 0 if the connection is closed. */
uint32_t session_send(struct session *source, enum request_type what, struct encoder *body,
                      source_take *take, void *user);
/* Cancels a pending request: no further parts are delivered. */
void session_cancel_request(struct session *source, uint32_t id);
/* Drops all pending requests without notifying the server: they concerned another run. */
void session_forget_request(struct session *source);
bool session_request_is_open(const struct session *source, uint32_t id); /* whether it is pending */
bool session_is_busy(const struct session *source); /* whether any is pending */

/* Waits until the request is answered; other responses go to their callbacks. Returns false with
 * the reason in *error if the connection was closed, or the server refused the request. */
bool session_wait(struct session *source, uint32_t id, struct error *error);
/* Gets the next message that is not metadata; metadata is applied to the book. Returns 1 for a
 * message, 0 if there is none yet (only when not blocking), -1 if the connection was closed, with
 * the reason in *error. Pass a RESPONSE to session_request_done, which returns false, with the
 * reason in *error, if it is invalid: what follows cannot be trusted. */
int session_receive(struct session *source, bool blocking, unsigned *type, struct decoder *in,
                    struct error *error);
bool session_request_done(struct session *source, struct decoder *in, struct error *error);

/* ---- relations of the events of a window to one event, in requests of bounded size ---- */

struct event_relations {
    struct window_info *window; /* borrowed; its events receive the relations */
    uint32_t at; /* events before this index are done */
};

/* Appends the body of the next RELATIONS request; returns false when all relations are known. */
bool event_relations_request(const struct event_relations *relations, struct event_id about,
                             struct encoder *body);
/* Processes a part of its response. Relations that the server did not answer remain unknown. */
void event_relations_receive(struct event_relations *relations,
                             const struct response_chunk *answer);

#endif
