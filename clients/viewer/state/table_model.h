/* A table that a part of the viewer keeps: requested, received part by part, and complete until the
 * next one is.
 *
 * Zeroed except `link`, `on_table` and `user`: never requested. At most one request is pending. */
#ifndef CLIENTS_VIEWER_STATE_TABLE_MODEL_H
#define CLIENTS_VIEWER_STATE_TABLE_MODEL_H

#include "clients/connection/result_table.h"
#include "clients/viewer/state/request_slot.h"

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
