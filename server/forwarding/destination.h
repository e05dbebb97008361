/* Where an agent's journals go, as a table of functions: another server (direct_destination.c),
 * NATS (nats_destination.c), or whatever else takes numbered batches, keeps them and says so.
 * Nothing waits; all is told in the loop's thread. */
#ifndef SERVER_FORWARDING_DESTINATION_H
#define SERVER_FORWARDING_DESTINATION_H

#include "wire/endpoint.h"
#include "wire/forwarding_messages.h"

#include <ev.h>

struct destination {
    const struct destination_kind *kind;
};

/* What a destination tells whoever opened it.  Not from within open and close. */
struct destination_callbacks {
    void (*here)(void *context); /* it is there: what was offered before is forgotten */
    void (*away)(void *context, const char *why); /* it is not; it is tried again */
    /* So much of a stream is kept there: the chunk that is wanted next.  The first word about a
     * stream. */
    void (*expects)(void *context, uint32_t stream, uint64_t next);
    /* Nothing of a stream is wanted any more: its run has ended, with all chunks up to this one. */
    void (*complete)(void *context, uint32_t stream, uint64_t next);
    void (*room)(void *context); /* there is room again */
};

struct destination_kind {
    /* NULL with a reason: nothing can ever come of it. */
    struct destination *(*open)(struct ev_loop *loop, const char *where, const char *host,
                                const struct destination_callbacks *hears, void *context,
                                struct error *error);
    void (*offer)(struct destination *to, uint32_t stream, const uint8_t *id, const char *run);
    /* A batch of a stream that was offered; false: there is no room for it now. */
    bool (*publish)(struct destination *to, const struct forwarded_batch *batch);
    void (*close)(struct destination *to);
};

extern const struct destination_kind destination_direct; /* poet://HOST:PORT, unix:PATH */
extern const struct destination_kind destination_nats; /* nats://HOST:PORT, tls:// */

#endif
