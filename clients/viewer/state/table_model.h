/* A table that a part of the viewer keeps: asked for, taken part by part, and whole until the next
 * one is.
 *
 * Zeroed but for `link`, `told` and `user`: never asked.  One question is under way at a time. */
#ifndef CLIENTS_VIEWER_STATE_TABLE_MODEL_H
#define CLIENTS_VIEWER_STATE_TABLE_MODEL_H

#include "clients/connection/result_table.h"
#include "clients/viewer/state/request_slot.h"

struct table_model {
    struct server_link *link; /* borrowed */
    void (*on_table)(void *user); /* another table is here, or it is known better how far it is */
    void *user;
    /* the last that was answered; of a refusal nothing but its problem */
    struct result_table table;
    bool has_answer; /* there was an answer, and nothing of another run */
    bool fresh; /* `told`: `table` is another one */
    uint64_t known,
        count; /* so many of so many events were looked at for the one that is under way */
    gint64 asked_us; /* when it was asked for last */
    struct result_table coming; /* private, as the next */
    struct request_slot slot;
};

/* A request of the whole run, as a preset has it; to be freed, or asked. */
struct table_request table_model_request(const char *what, const char *by);
void table_model_set_option(struct table_request *request, const char *key, const char *value);
/* Frees what the request has of its own.  One that is under way is not wanted any more. */
void table_model_send(struct table_model *tabled, struct table_request *request);
bool table_model_is_running(const struct table_model *tabled);
void table_model_cancel(struct table_model *tabled); /* what is here stays */
void table_model_clear(struct table_model *tabled); /* another run, or the end */

#endif
