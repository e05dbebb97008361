/* A request slot: a request of a part of the viewer, of which at most one is pending.
 *
 * `again`: another one was wanted meanwhile; the newest one is sent when the response has arrived.
 * Zeroed: never sent. */
#ifndef CLIENTS_VIEWER_STATE_REQUEST_SLOT_H
#define CLIENTS_VIEWER_STATE_REQUEST_SLOT_H

#include "clients/connection/result_table.h"
#include "clients/viewer/state/server_link.h"
#include "wire/layout_results.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <glib.h>

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

/* Calls `due` once after that time, for a request that must wait until then; *timer is the source
 * as long as the call is to come. */
void request_slot_schedule(guint *timer, guint ms, void (*due)(void *user), void *user);

/* Requests a window; frees the members of request. */
void request_slot_request_window(struct server_link *link, struct request_slot *inquiry,
                                 struct window_request *request, source_take *take, void *user);
/* Decodes a part of its response. Returns false if there is no window in it. */
bool request_slot_read_window(const struct response_chunk *answer, struct window_info *window);

/* A table that a part of the viewer keeps: requested, received part by part, and complete until the
 * next one is.
 *
 * Zeroed except `link`, `on_table` and `user`: never requested. At most one request is pending. */

struct table_model {
    struct server_link *link; /* borrowed */
    void (*on_table)(void *user); /* another table was received, or its progress is known */
    void *user;
    /* the last one received; if the request was rejected, only its problem */
    struct result_table table;
    bool has_answer; /* there was a response, for the present run */
    bool fresh; /* for on_table: `table` has changed */
    uint64_t known, count; /* events examined for the pending one, of the total */
    gint64 asked_us; /* time of the last request */
    struct result_table coming; /* private, like the following */
    struct request_slot slot;
};

/* Returns a request for the whole run with a preset's defaults; to be freed, or sent. */
struct table_request table_model_request(const char *what, const char *by);
void table_model_set_option(struct table_request *request, const char *key, const char *value);
/* Sends the request and frees its members. Drops a pending one. */
void table_model_send(struct table_model *tabled, struct table_request *request);
bool table_model_is_running(const struct table_model *tabled);
void table_model_cancel(struct table_model *tabled); /* the present table stays */
void table_model_clear(struct table_model *tabled); /* another run, or the end */

#endif
