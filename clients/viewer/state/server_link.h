/* The connection to a source of events: one run at a time, and what is told of it without being
 * asked.
 *
 * It knows nothing of pictures: whoever fills its ears says what follows.  Opening may take a
 * while and happens in a thread of its own; all ears are called in GTK's. */
#ifndef CLIENTS_VIEWER_STATE_SERVER_LINK_H
#define CLIENTS_VIEWER_STATE_SERVER_LINK_H

#include "clients/connection/line_labels.h"
#include "clients/connection/session.h"

#include <gio/gio.h>
#include <stdbool.h>

struct server_link_callbacks {
    void (*opening)(void *user, const char *what); /* NULL: the default endpoint */
    void (*opened)(void *user, const char *what);
    void (*failed)(void *user, const char *why); /* it could not be opened; the one before stays */
    void (*closing)(void *user); /* what was connected is about to go, with its names */
    void (*lost)(void *user, const char *why); /* the connection; what was told stays */
    void (*run)(void *user); /* another run is told of from now on */
    void (*newer)(void *user,
                  const char *name); /* there is a newer one; the one that is told of stays */
    void (*updated)(void *user); /* the run has more events, or other programs */
    void (*message)(void *user); /* a message, which is not taken yet */
};

struct server_link {
    const struct server_link_callbacks *callbacks;
    void *user; /* of the ears */
    struct session source;
    bool connected, has_run, opening;
    char *source_name; /* as it was asked for; NULL: the default endpoint */
    bool newest; /* the newest run was selected, whichever it is */
    uint64_t count; /* events in the log */
    uint64_t behind_ns; /* how far the order is behind what programs have told */
    struct symbolizer *sites; /* of the run; NULL without a connection */
    /* private */
    uint32_t named; /* lines that line_labels_assign has named */
    uint64_t labelled; /* generation of the book when it did */
    guint watch, more; /* more: messages that came and wait for their turn */
    uint32_t last_id; /* of the questions on earlier connections */
    enum feed fed; /* what was asked for last */
    GCancellable *cancel;
};

/* NULL: the default endpoint; goes on by itself. */
void server_link_open(struct server_link *link, const char *what);
void server_link_give_up(struct server_link *link); /* opening */
void server_link_close(struct server_link *link);
void server_link_select(struct server_link *link, const char *run); /* empty: the newest */
void server_link_set_feed(struct server_link *link,
                          enum feed feed); /* does a newer run take the place of this one? */
/* Frees body; NULL: it is empty.  The parts of the answer go to `take`, with `user`.  0: there
 * is no connection. */
uint32_t server_link_request(struct server_link *link, enum request_type what, struct encoder *body,
                             source_take *take, void *user);
void server_link_name_lines(struct server_link *link,
                            enum labels labels); /* lines that are new in the book */
void server_link_rename_all_lines(struct server_link *link, enum labels labels); /* all */

static inline struct trace_metadata *server_link_metadata(struct server_link *link)
{
    return &link->source.book;
}

#endif
