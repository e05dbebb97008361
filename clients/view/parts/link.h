/* The connection to a source of events: one run at a time, and what is told of it without being
 * asked.
 *
 * It knows nothing of pictures: whoever fills its ears says what follows.  Opening may take a
 * while and happens in a thread of its own; all ears are called in GTK's. */
#ifndef CLIENTS_VIEW_PARTS_LINK_H
#define CLIENTS_VIEW_PARTS_LINK_H

#include "clients/source/label.h"
#include "clients/source/source.h"

#include <gio/gio.h>
#include <stdbool.h>

struct link_ears {
    void (*opening)(void *user, const char *what); /* NULL: the default endpoint */
    void (*opened)(void *user, const char *what);
    void (*failed)(void *user, const char *why); /* it could not be opened; the one before stays */
    void (*closing)(void *user); /* what was connected is about to go, with its names */
    void (*lost)(void *user, const char *why); /* the connection; what was told stays */
    void (*run)(void *user); /* another run is told of from now on */
    void (*newer)(void *user,
                  const char *name); /* there is a newer one; the one that is told of stays */
    void (*grown)(void *user); /* the run has more events, or other programs */
    void (*came)(void *user); /* a message, which is not taken yet */
};

struct link {
    const struct link_ears *ears;
    void *user; /* of the ears */
    struct source source;
    bool connected, has_run, opening;
    char *what; /* as it was asked for; NULL: the default endpoint */
    bool newest; /* the newest run was selected, whichever it is */
    uint64_t count; /* events in the log */
    uint64_t behind_ns; /* how far the order is behind what programs have told */
    struct sites *sites; /* of the run; NULL without a connection */
    /* private */
    uint32_t named; /* lines that label_lines has named */
    uint64_t labelled; /* generation of the book when it did */
    guint watch, more; /* more: messages that came and wait for their turn */
    uint32_t last_id; /* of the questions on earlier connections */
    enum feed fed; /* what was asked for last */
    GCancellable *cancel;
};

/* NULL: the default endpoint; goes on by itself. */
void link_open(struct link *link, const char *what);
void link_give_up(struct link *link); /* opening */
void link_close(struct link *link);
void link_select(struct link *link, const char *run); /* empty: the newest */
void link_feed(struct link *link,
               enum feed feed); /* does a newer run take the place of this one? */
/* Frees body; NULL: it is empty.  The parts of the answer go to `take`, with `user`.  0: there
 * is no connection. */
uint32_t link_ask(struct link *link, enum ask what, struct out *body, source_take *take,
                  void *user);
void link_name(struct link *link, enum labels labels); /* lines that are new in the book */
void link_name_again(struct link *link, enum labels labels); /* all */

static inline struct book *link_book(struct link *link) { return &link->source.book; }

#endif
