/* State shared by an agent's loop thread (nats_destination.c) and the thread that talks to NATS
 * for it (nats_worker.c). */
#ifndef SERVER_FORWARDING_NATS_WORKER_H
#define SERVER_FORWARDING_NATS_WORKER_H

#include "server/forwarding/destination.h"
#include "server/forwarding/nats_connection.h"
#include "server/forwarding/nats_message.h"

#include <pthread.h>

#define NATS_ORDERS_MAX (8u << 20) /* bytes that wait to go out */

struct nats_order { /* what is to be done: a stream is offered, or a batch published */
    struct nats_order *next;
    char *run; /* NULL: a batch */
    uint32_t stream;
    struct nats_message message;
    uint8_t packed[];
};

enum nats_event_kind {
    NATS_CONNECTED,
    NATS_DISCONNECTED,
    NATS_EXPECTS_CHUNK,
    NATS_STREAM_COMPLETE,
    NATS_HAS_SPACE
};
struct nats_event {
    struct nats_event *next;
    enum nats_event_kind what;
    uint32_t stream;
    uint64_t chunk;
    char *why;
};

struct nats_subject_state { /* of the thread alone */
    char *run, *stream, *subject; /* NULL: not offered */
    natsSubscription *clock; /* requests about its run; NULL: another one has them */
    uint8_t id[FORWARD_ID_BYTES];
    uint64_t last; /* number in JetStream of its last message; 0 none */
};

struct nats_destination {
    struct destination to;
    struct ev_loop *loop;
    ev_async wakeup;
    const struct destination_callbacks *hears;
    void *context;
    struct nats_address where;
    char *host;
    bool here;
    pthread_t thread;
    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t wake;
    struct nats_order *first, *last;
    size_t waiting; /* bytes */
    bool full, stop;
    struct nats_event *news, *newest;
    struct nats_connection link; /* of the thread; closed by the loop's at the end */
    struct nats_subject_state *subjects;
    size_t count, room;
};

void *nats_worker_run(void *nats); /* the thread */

#endif
