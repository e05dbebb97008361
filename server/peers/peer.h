/* Peers: whoever is connected.  Bytes in, messages out; what they mean is the business of a talk.
 *
 * A bad one is answered, flushed and dropped alone. */
#ifndef SERVER_PEERS_PEER_H
#define SERVER_PEERS_PEER_H

#include "server/answer/answer.h"
#include "server/answer/desk.h"
#include "server/peers/channel.h"
#include "wire/message.h"

#include <ev.h>

struct peer;
struct far;
struct program;
struct server;

enum readiness {
    READY,       /* for its next message */
    READY_LATER, /* in a next turn */
    NOT_READY,   /* until whoever talks with it says so (peer_listen) */
};

/* How one kind of peer is talked with: one that has not said yet who it is (greet.h), a program, a viewer. */
struct talk {
    const char *doing; /* what the turn is said to do with its messages */
    /* All that it has sent is read before anything else is done; and when it has hung up, it stays until it is
     * dropped. */
    bool whole;
    enum readiness (*ready)(struct peer *peer);
    void (*message)(struct peer *peer, unsigned type, const uint8_t *body, size_t size);
    void (*was_read)(struct peer *peer); /* all that there was; NULL: does not matter */
    void (*refill)(struct peer *peer); /* there is room for what it is to be told; NULL likewise */
    bool (*has_more)(const struct peer *peer); /* for when there is; NULL: never */
    void (*gone)(struct peer *peer); /* it is being dropped; NULL likewise */
};

struct peer {
    struct server *server;
    struct peer *next, *previous;
    struct channel channel;
    const struct talk *talk; /* what it is spoken to as */
    char name[64];
    uint8_t role; /* 0: not known yet */
    ev_io readable, writable;
    struct out in, out;
    size_t limit; /* bytes of a message */
    uint64_t in_bytes; /* read and used up so far, for complaints */
    double since;
    bool stalled; /* there is no room for its next message: it is tried again */
    bool ending; /* answer what is in out, then drop */
    bool unread; /* messages were left for the next turn */
    unsigned closed; /* the other side hung up; counts how often all queues were emptied since */
    /* a program */
    struct program *program; /* what of it the taker has */
    const char *wrong; /* with what it told; NULL: nothing */
    unsigned wrong_kind; /* of the message */
    bool shares; /* it has queues, or had */
    bool woken; /* a queue fills up */
    struct watch *watch; /* of watching.c alone; NULL: nobody can look at it from here */
    struct celling *celling; /* of celling.c alone; NULL: it shares no cells */
    struct heaping *heaping; /* of heaping.c alone; NULL: it does not count what it takes */
    /* an agent */
    struct far *far; /* of agents.c alone */
    /* a viewer */
    struct run *run;
    struct known known;
    bool follows_newest;
    uint8_t feeding; /* an enum feed */
    uint32_t newer_told; /* number of the newest run that it knows of */
    bool telling; /* not all that is new was told */
    bool held; /* its messages wait until it has read */
    struct desk desk; /* its questions */
    uint64_t fed_generation;
    unsigned fed_connected;
    uint64_t fed_lag;
};

struct peer *peer_new(struct server *server, struct channel channel, const char *name,
                      const struct talk *talk);
void peer_hung_up(struct peer *peer);
void peer_drop(struct peer *peer, const char *why); /* why NULL: it left */
void peer_refuse(struct peer *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void peer_send(struct peer *peer); /* what is in out */
void peer_listen(struct peer *peer); /* it is ready for what was not taken, and for more */
void peer_go_on(struct server *server); /* messages that were put off */
void peer_retry(struct server *server); /* those who are stalled */
void peer_read_rest(struct peer *peer); /* what it has sent, without looking at it */

#endif
