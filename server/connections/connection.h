/* Connections of peers: reads bytes, splits them into messages, and passes these to the handler of
 * the kind of peer.
 *
 * A peer that violates the protocol gets an answer and is dropped; the others are not affected. */
#ifndef SERVER_CONNECTIONS_CONNECTION_H
#define SERVER_CONNECTIONS_CONNECTION_H

#include "server/eventloop/event_loop.h"
#include "server/queries/request_queue.h"
#include "server/queries/run_notifications.h"
#include "wire/message.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A channel: transfers bytes to and from the peer, and descriptors where the transport supports
 * them.
 *
 * The table of functions implements the transport: a socket, or TLS over one.  No call blocks. */

struct tls;

struct channel {
    const struct channel_kind *kind;
    struct tls *tls; /* NULL: a socket */
    int fd;           /* to wait on */
    int *descriptors; /* received, not claimed yet; the oldest first */
    size_t descriptor_count;
};

struct channel_kind {
    /* Returns the number of bytes; 0: the peer has closed; -1 with errno, EAGAIN or EINTR: retry
     * later. */
    ssize_t (*read)(struct channel *channel, void *bytes, size_t size);
    /* Returns the number of bytes sent, with the descriptor (-1: none); -1 with errno as for
     * read. */
    ssize_t (*write)(struct channel *channel, const void *bytes, size_t size, int descriptor);
    bool (*has_ended)(const struct channel *channel); /* though not all that it sent was read */
    void (*close)(struct channel *channel);
    const char *(*why)(const struct channel *channel); /* after EPROTO: returns the reason */
};

/* The channel closes the socket. */
struct channel channel_on_socket(int fd);
struct channel channel_on_tls(int fd, struct tls *tls); /* both; no descriptors come along */
void channel_close(struct channel *channel);
int channel_receive_descriptor(
    struct channel *channel); /* the oldest one, or -1; the caller closes it */

static inline ssize_t channel_read(struct channel *channel, void *bytes, size_t size)
{
    return channel->kind->read(channel, bytes, size);
}

static inline ssize_t channel_write(struct channel *channel, const void *bytes, size_t size,
                                    int descriptor)
{
    return channel->kind->write(channel, bytes, size, descriptor);
}

static inline const char *channel_error_text(const struct channel *channel)
{
    return channel->kind->why(channel);
}

static inline bool channel_has_ended(const struct channel *channel)
{
    return channel->kind->has_ended(channel);
}

struct connection;
struct agent_peer;
struct captured_program;
struct server;

enum readiness {
    READY, /* for its next message */
    CONNECTION_READY_LATER, /* in a next turn */
    CONNECTION_NOT_READY, /* until its handler calls connection_resume_reading */
};

/* The handler of one kind of peer: one before its HELLO (handshake.h), a program, a viewer, an
 * agent. */
struct connection_handler {
    const char *doing; /* activity of the loop turn while it handles messages */
    /* All that it has sent is read before anything else is done; and when it has hung up, it stays
     * until it is dropped. */
    bool whole;
    enum readiness (*ready)(struct connection *peer);
    void (*message)(struct connection *peer, unsigned type, const uint8_t *body, size_t size);
    void (*was_read)(struct connection *peer); /* all that there was; NULL: does not matter */
    void (*refill)(struct connection *peer); /* there is room for messages to it; NULL likewise */
    bool (*has_more)(const struct connection *peer); /* for when there is; NULL: never */
    void (*gone)(struct connection *peer); /* it is being dropped; NULL likewise */
};

struct connection {
    struct server *server;
    struct connection *next, *previous;
    struct channel channel;
    const struct connection_handler *talk; /* the handler of its kind */
    char name[64];
    uint8_t role; /* 0: not known yet */
    ev_io readable, writable;
    struct encoder in, out;
    size_t limit; /* bytes of a message */
    uint64_t in_bytes; /* read and used up so far, for complaints */
    double since;
    bool stalled; /* there is no room for its next message: it is tried again */
    bool ending; /* answer what is in out, then drop */
    bool unread; /* messages were left for the next turn */
    unsigned closed; /* the other side hung up; counts how often all queues were emptied since */
    uint64_t hangup; /* number of its hang-up, counted over all peers; 0: none yet */
    uint64_t read_at; /* all that it had sent at the hang-up of this number was read */
    /* a program */
    struct captured_program *program; /* its state in the capture thread */
    const char *wrong; /* error in its messages; NULL: none */
    unsigned wrong_kind; /* of the message */
    bool shares; /* it has queues, or had */
    bool woken; /* a queue fills up */
    struct process_sampler
        *watch; /* of process_sampler.c alone; NULL: it cannot be sampled from here */
    struct cell_sampler *celling; /* of shared_memory.c alone; NULL: it shares no cells */
    struct heap_sampler
        *heaping; /* of shared_memory.c alone; NULL: it does not count what it takes */
    /* an agent */
    struct agent_peer *agent; /* of agent_connection.c alone */
    /* a viewer */
    struct run *run;
    struct viewer_knowledge known;
    bool follows_newest;
    uint8_t feeding; /* an enum feed */
    uint32_t newest_reported; /* number of the newest run that it knows of */
    bool telling; /* not all updates were sent */
    bool held; /* its messages wait until it has read */
    struct request_queue queries; /* its requests */
    uint64_t fed_generation;
    unsigned fed_connected;
    uint64_t fed_lag;
};

struct connection *connection_new(struct server *server, struct channel channel, const char *name,
                                  const struct connection_handler *talk);
void connection_on_disconnect(struct connection *peer);
void connection_close(struct connection *peer, const char *why); /* why NULL: it left */
void connection_reject(struct connection *peer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void connection_send(struct connection *peer); /* what is in out */
void connection_resume_reading(
    struct connection *peer); /* it is ready for what was not taken, and for more */
void connection_step(struct server *server); /* messages that were put off */
void connection_retry(struct server *server); /* resumes the stalled peers */
/* Reads the messages that programs of the run of `gone` had sent by the time that `gone` hung up.
 * Returns false if that takes more than this turn, or if connections of that time are not accepted
 * yet.  `gone` must have hung up.  It may close peers that are not programs. */
bool connection_read_earlier(struct connection *gone);
/* Reads all that programs have sent, also what was put off: the server is ending. */
void connection_read_last(struct server *server, struct loop_share share);
void connection_read_rest(struct connection *peer); /* what it has sent, without looking at it */

#endif
