/* The destination of an agent's journals, as a table of functions: another server
 * (direct_destination.c), NATS (nats_destination.c), or another store that keeps numbered
 * batches and acknowledges them.  No call blocks; all callbacks are called in the loop's thread. */
#ifndef SERVER_FORWARDING_DESTINATION_H
#define SERVER_FORWARDING_DESTINATION_H

#include "wire/endpoint.h"
#include "wire/forwarding_messages.h"

#include <ev.h>

struct destination {
    const struct destination_kind *kind;
};

/* Callbacks of a destination; they are never called from within open and close. */
struct destination_callbacks {
    void (*here)(void *context); /* it is connected; earlier offers are void */
    void (*disconnected)(void *context,
                         const char *why); /* it is disconnected and will be retried */
    /* Reports the next chunk of a stream that the destination wants; all before it are kept
     * there.  This is the first callback for a stream. */
    void (*expects)(void *context, uint32_t stream, uint64_t next);
    /* Reports that no more of a stream is wanted: its run has ended, with all chunks up to this
     * one. */
    void (*complete)(void *context, uint32_t stream, uint64_t next);
    void (*room)(void *context); /* there is room again */
};

struct destination_kind {
    /* Returns NULL with the reason in *error if the address can never work. */
    struct destination *(*open)(struct ev_loop *loop, const char *where, const char *host,
                                const struct destination_callbacks *hears, void *context,
                                struct error *error);
    void (*offer)(struct destination *to, uint32_t stream, const uint8_t *id, const char *run);
    /* Sends a batch of an offered stream; returns false if there is no room for it now. */
    bool (*publish)(struct destination *to, const struct forwarded_batch *batch);
    void (*close)(struct destination *to);
};

extern const struct destination_kind destination_direct; /* poet://HOST:PORT, unix:PATH */
extern const struct destination_kind destination_nats; /* nats://HOST:PORT, tls:// */

#endif
