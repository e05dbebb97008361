/* The event server: one loop, its peers, its runs. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "server/answer.h"
#include "server/jobs.h"
#include "server/question.h"
#include "server/finding.h"
#include "server/teller.h"
#include "server/ticks.h"
#include "server/window.h"
#include "wire/limits.h"

#include <ev.h>

struct options {
    const char *output;  /* FILE, DIR/ or NULL for the user's state directory */
    uint64_t keep_bytes; /* 0: everything */
    bool once;           /* end when the last peer is gone */
    bool quiet;
};

struct queue;

/* Whoever is connected.  What it is shows when it says HELLO. */
struct peer {
    struct server *server;
    struct peer *next, *previous;
    int fd;
    char name[64];
    uint8_t role; /* 0: not known yet */
    ev_io readable, writable;
    struct out in, out;
    uint64_t in_bytes; /* read and used up so far, for complaints */
    int *descriptors;  /* received, not claimed yet */
    size_t descriptor_count;
    double since;
    bool owes_token; /* it must say the secret before HELLO */
    bool ending; /* answer what is in out, then drop */
    unsigned closed; /* the other side hung up; counts how often all queues were emptied since */
    /* a program */
    struct teller *teller;
    struct queue *queues;
    bool woken; /* a queue fills up */
    uint64_t waited_ns, dropped, unfollowed; /* by threads whose queues are gone */
    uint64_t journalled; /* calls that were not followed, as the journal says it */
    /* a viewer */
    struct run *run;
    struct known known;
    bool feeding, dumping, follows_newest;
    struct jobs windows, densities, questions, searches;
    struct window_job *kept; /* the last one answered: scrolling goes on from it */
    uint64_t dump_cursor, fed_generation;
    unsigned fed_connected;
};

struct server {
    struct ticks ticks;
    struct ev_loop *loop;
    struct options options;
    struct peer *peers, *last_peer;
    struct run **runs;
    size_t run_count, run_room;
    ev_timer poll, feed, idle;
    double asked; /* when a viewer asked last; 0: since then all runs were put to rest */
    ev_idle work; /* active while viewers wait for windows */
    ev_io *listeners;
    char **endpoints;
    size_t listener_count;
    bool had_peer, stopping;
};

/* peer.c */
/* far: from another machine, so it must say the secret first. */
struct peer *peer_new(struct server *server, int fd, const char *name, bool far);
void peer_hung_up(struct peer *peer);
void peer_drop(struct peer *peer, const char *why); /* why NULL: it left */
void peer_refuse(struct peer *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void peer_send(struct peer *peer); /* what is in out */
int peer_take_descriptor(struct peer *peer); /* the oldest one, or -1 */

/* program.c: returns false if the peer was dropped */
bool program_hello(struct peer *peer, const uint8_t *body, size_t size, struct hello *hello);
void program_woken(struct peer *peer);
void program_welcome(struct peer *peer);
bool program_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size);
void program_poll(struct server *server); /* reads all queues */
void program_gone(struct peer *peer);
void run_finished(struct run *run);

/* viewer.c */
bool viewer_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size);
void viewer_refill(struct peer *peer);
void viewer_feed(struct server *server);
bool viewer_work(struct server *server); /* a step of every job; false if there is none */
void viewer_gone(struct peer *peer);

#endif
