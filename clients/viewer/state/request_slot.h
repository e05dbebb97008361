/* A request slot: a request of a part of the viewer, of which at most one is pending.
 *
 * `again`: another one was wanted meanwhile; the newest one is sent when the response has arrived.
 * Zeroed: never sent. */
#ifndef CLIENTS_VIEWER_STATE_REQUEST_SLOT_H
#define CLIENTS_VIEWER_STATE_REQUEST_SLOT_H

#include "clients/viewer/state/server_link.h"
#include "wire/request_body.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

struct request_slot {
    uint32_t id;
    bool again;
};

/* Sends a request; frees body. Drops a pending one. The response goes to `take`, with `user`. */
void request_slot_send(struct server_link *link, struct request_slot *inquiry,
                       enum request_type what, struct encoder *body, source_take *take, void *user);
bool request_slot_is_running(const struct server_link *link,
                             const struct request_slot *inquiry); /* whether it is pending */
/* Returns whether it may be sent now. If one is pending, it will have to be sent again:
 * request_slot_resend_needed returns that, once. */
bool request_slot_try_acquire(struct server_link *link, struct request_slot *inquiry);
bool request_slot_resend_needed(struct request_slot *inquiry, const struct response_chunk *answer);
void request_slot_cancel(struct server_link *link, struct request_slot *inquiry);

/* Requests a window; frees the members of request. */
void request_slot_request_window(struct server_link *link, struct request_slot *inquiry,
                                 struct window_request *request, source_take *take, void *user);
/* Decodes a part of its response. Returns false if there is no window in it. */
bool request_slot_read_window(const struct response_chunk *answer, struct window_info *window);

#endif
