/* The connection to a source of events: one run at a time, and unsolicited messages about it.
 *
 * It is independent of the diagram: callbacks define the reactions. Opening may take a while and
 * happens in a separate thread; all callbacks run in GTK's main thread. */
#ifndef CLIENTS_VIEWER_STATE_SERVER_LINK_H
#define CLIENTS_VIEWER_STATE_SERVER_LINK_H

#include "clients/connection/line_labels.h"
#include "clients/connection/session.h"

#include <gio/gio.h>
#include <stdbool.h>

struct server_link_callbacks {
    void (*opening)(void *user, const char *what); /* NULL: the default endpoint */
    void (*opened)(void *user, const char *what);
    /* it could not be opened; the previous connection stays */
    void (*failed)(void *user, const char *why);
    void (*closing)(void *user); /* the connection is about to be destroyed, with its metadata */
    void (*lost)(void *user, const char *why); /* the connection; received data stays */
    void (*run)(void *user); /* another run was selected */
    void (*newer)(void *user,
                  const char *name); /* there is a newer run; the present one stays selected */
    void (*updated)(void *user); /* the run has more events, or other programs */
    void (*message)(void *user); /* a message, which is not processed yet */
};

struct server_link {
    const struct server_link_callbacks *callbacks;
    void *user; /* for the callbacks */
    struct session source;
    bool connected, has_run, opening;
    char *source_name; /* as requested; NULL: the default endpoint */
    bool newest; /* the newest run was selected, whichever it is */
    uint64_t count; /* events in the log */
    uint64_t behind_ns; /* delay of the order behind the received events */
    struct symbolizer *sites; /* of the run; NULL without a connection */
    /* private */
    uint32_t named; /* lines labeled by line_labels_assign */
    uint64_t labelled; /* generation of the metadata at that time */
    guint watch, more; /* more: received messages to be processed */
    uint32_t last_id; /* of the requests on earlier connections */
    enum feed fed; /* last requested mode */
    GCancellable *cancel;
};

/* NULL: the default endpoint. Returns immediately. */
void server_link_open(struct server_link *link, const char *what);
void server_link_give_up(struct server_link *link); /* cancels opening */
void server_link_close(struct server_link *link);
/* Returns the source as the argument of a command; the caller frees it. */
char *server_link_source_argument(const struct server_link *link);
void server_link_select(struct server_link *link, const char *run); /* empty: the newest */
void server_link_set_feed(struct server_link *link,
                          enum feed feed); /* whether a newer run replaces this one */
/* Sends a request. Frees body; NULL: empty. The parts of the response go to `take`, with `user`.
 * Returns 0 if there is no connection. */
uint32_t server_link_request(struct server_link *link, enum request_type what, struct encoder *body,
                             source_take *take, void *user);
void server_link_name_lines(struct server_link *link,
                            enum labels labels); /* new lines in the metadata */
void server_link_rename_all_lines(struct server_link *link, enum labels labels); /* all */

static inline struct trace_metadata *server_link_metadata(struct server_link *link)
{
    return &link->source.book;
}

#endif
