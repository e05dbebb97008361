/* The event server: one loop, its peers, its runs. */
#ifndef SERVER_PEERS_SERVER_H
#define SERVER_PEERS_SERVER_H

#include "server/answer/answer.h"
#include "server/answer/desk.h"
#include "server/file/runs.h"
#include "server/intake/session.h"
#include "server/loop/turn.h"
#include "wire/limits.h"

#include <ev.h>

struct queue;
struct program;
struct taker;

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
    bool stalled; /* there is no room for its next message: it is tried again */
    bool ending; /* answer what is in out, then drop */
    bool unread; /* messages were left for the next turn */
    unsigned closed; /* the other side hung up; counts how often all queues were emptied since */
    /* a program */
    struct program *program; /* what of it the taker has */
    const char *wrong; /* with what it told; NULL: nothing */
    unsigned wrong_kind; /* of the message */
    bool shares; /* it has queues, or had */
    bool woken;  /* a queue fills up */
    /* a viewer */
    struct run *run;
    struct known known;
    bool feeding, follows_newest;
    bool telling; /* not all that is new was told */
    bool held;    /* its messages wait until it has read */
    struct desk desk; /* its questions */
    uint64_t fed_generation;
    unsigned fed_connected;
    uint64_t fed_lag;
};

struct server {
    struct ev_loop *loop;
    struct taker *taker;
    ev_async taken; /* much waits to be told */
    _Atomic bool asked_to_tell;
    bool once;  /* end when the last peer is gone */
    bool quiet; /* log what is wrong alone */
    struct peer *peers, *last_peer;
    struct peer *reader; /* its messages are read first; NULL the first peer's */
    size_t tell_first;   /* likewise a run that is told */
    size_t mappings;     /* how many queues there may be */
    struct queue *retired; /* of programs that are gone, not unmapped yet */
    size_t retired_count;
    bool behind; /* there is more to do than fits into a turn */
    struct runs runs;
    ev_timer poll, feed, idle;
    double asked; /* when a viewer asked last; 0: since then all runs were put to rest */
    ev_idle work; /* active while viewers wait for windows */
    ev_io *listeners;
    char **endpoints;
    size_t listener_count;
    bool had_peer, stopping;
    struct share last; /* stopping: what may still be done */
    double looked;    /* when files were looked for that are deleted */
    int spare; /* a descriptor in reserve, to refuse with */
    bool out_of_descriptors;
    double guess; /* a secret that is wrong: from then on the next one is looked at */
};

/* admit.c: takes or refuses whoever waits at a listener */
void admit(struct server *server, int listener);

/* peer.c */
/* far: it must say the secret first. */
struct peer *peer_new(struct server *server, int fd, const char *name, bool far);
void peer_try_secrets(struct server *server); /* of those who wait until theirs is looked at */
void peer_hung_up(struct peer *peer);
void peer_drop(struct peer *peer, const char *why); /* why NULL: it left */
void peer_refuse(struct peer *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void peer_send(struct peer *peer); /* what is in out */
void peer_go_on(struct server *server); /* messages that were put off */
int peer_take_descriptor(struct peer *peer); /* the oldest one, or -1 */

void peer_retry(struct server *server); /* those who are stalled */
void peer_read_rest(struct peer *peer); /* what it has sent, without looking at it */

/* program.c */
bool program_hello(struct peer *peer, const uint8_t *body, size_t size, struct hello *hello);
void program_woken(struct peer *peer);
void program_welcome(struct peer *peer);
void program_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size);
bool program_must_wait(const struct peer *peer); /* its messages: the order is too far behind */
void program_poll(struct server *server);   /* tells what was taken, for a share of a turn */
void program_settle(
    struct server *server); /* likewise; all that programs have told by now comes first */
/* Takes what there is, for a while, and drops all peers. */
void program_finish(struct server *server); /* until server->last is over */
void program_gone(struct peer *peer);

/* telling.c */
/* Tells what was taken of all runs; little: of those that had better save first.  True if nothing is left to do. */
bool telling_go_on(struct server *server, struct share share, struct share little);
/* All of one run; false: not all is told, or worked off. */
bool telling_finish(struct server *server, struct run *run, struct share share);
bool telling_done(const struct run *run);
void telling_end(struct server *server, struct run *run); /* says in its file that it ends here */
void telling_look(struct run *run); /* how far the order is behind */

/* viewer.c */
bool viewer_ready(struct peer *peer); /* false: it must read first; its next message waits */
void viewer_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size);
void viewer_refill(struct peer *peer); /* there is room in the socket */
bool viewer_has_more(const struct peer *peer); /* for when there is */
void viewer_feed(struct server *server);
bool viewer_work(struct server *server); /* a step for each; false if nobody waits for another */
void viewer_gone(struct peer *peer);

#endif
