/* A question of which one is under way at a time, kept by the part of the viewer that asks it.
 *
 * `again`: another was wished for meanwhile; the newest wish is asked when the answer is here.
 * Zeroed: never asked. */
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

/* Asks; frees body.  One that is under way is not wanted any more.  The answer goes to `take`,
 * with `user`. */
void request_slot_send(struct server_link *link, struct request_slot *inquiry,
                       enum request_type what, struct encoder *body, source_take *take, void *user);
bool request_slot_is_running(const struct server_link *link,
                             const struct request_slot *inquiry); /* is it under way? */
/* May it be asked now? If it is under way it is asked again afterwards: request_slot_resend_needed
 * says so, once. */
bool request_slot_try_acquire(struct server_link *link, struct request_slot *inquiry);
bool request_slot_resend_needed(struct request_slot *inquiry, const struct response_chunk *answer);
void request_slot_cancel(struct server_link *link, struct request_slot *inquiry);

/* Asks for a window; frees what request has of its own. */
void request_slot_request_window(struct server_link *link, struct request_slot *inquiry,
                                 struct window_request *request, source_take *take, void *user);
/* A part of its answer.  False: there is no window in it. */
bool request_slot_read_window(const struct response_chunk *answer, struct window_info *window);

#endif
