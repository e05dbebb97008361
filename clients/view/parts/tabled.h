/* A table that a part of the viewer keeps: asked for, taken part by part, and whole until the next one is.
 *
 * Zeroed but for `link`, `told` and `user`: never asked.  One question is under way at a time. */
#ifndef CLIENTS_VIEW_PARTS_TABLED_H
#define CLIENTS_VIEW_PARTS_TABLED_H

#include "clients/source/table.h"
#include "clients/view/parts/inquiry.h"

struct tabled {
    struct link *link; /* borrowed */
    void (*told)(void *user); /* another table is here, or it is known better how far it is */
    void *user;
    struct shown_table table; /* the last that was answered; of a refusal nothing but its problem */
    bool here; /* there was an answer, and nothing of another run */
    bool fresh; /* `told`: `table` is another one */
    uint64_t known,
        count; /* so many of so many events were looked at for the one that is under way */
    gint64 asked_us; /* when it was asked for last */
    struct shown_table coming; /* private, as the next */
    struct inquiry asked;
};

/* A request of the whole run, as a preset has it; to be freed, or asked. */
struct table_request tabled_request(const char *what, const char *by);
void tabled_option(struct table_request *request, const char *key, const char *value);
/* Frees what the request has of its own.  One that is under way is not wanted any more. */
void tabled_ask(struct tabled *tabled, struct table_request *request);
bool tabled_runs(const struct tabled *tabled);
void tabled_cancel(struct tabled *tabled); /* what is here stays */
void tabled_clear(struct tabled *tabled); /* another run, or the end */

#endif
