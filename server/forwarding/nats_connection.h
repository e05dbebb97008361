/* A connection to a NATS server with JetStream, as threads of ours use it that may wait
 * (libnats). */
#ifndef SERVER_FORWARDING_NATS_CONNECTION_H
#define SERVER_FORWARDING_NATS_CONNECTION_H

#include "server/forwarding/nats_message.h"

#include <nats/nats.h>

#define NATS_WHY_BYTES 800u

struct nats_connection {
    natsConnection *nc;
    jsCtx *js;
};

/* It waits, for some seconds at most.  False: why says in a line what to do. */
bool nats_connection_open(struct nats_connection *link, const struct nats_address *where,
                          char *why);
void nats_connection_close(struct nats_connection *link);
/* Formats an error of a stream and its remedy. */
void nats_connection_error_text(char *why, const struct nats_address *where, const char *stream,
                                natsStatus status, jsErrCode code);

#endif
