/* A connection to a NATS server with JetStream, as threads of ours use it that may wait (libnats). */
#ifndef SERVER_AGENT_NATSLINK_H
#define SERVER_AGENT_NATSLINK_H

#include "server/agent/natsmessage.h"

#include <nats/nats.h>

#define NATS_WHY_BYTES 800u

struct natslink {
    natsConnection *nc;
    jsCtx *js;
};

/* It waits, for some seconds at most.  False: why says in a line what to do. */
bool natslink_open(struct natslink *link, const struct nats_where *where, char *why);
void natslink_close(struct natslink *link);
/* What went wrong with a stream, and what to do. */
void natslink_why(char *why, const struct nats_where *where, const char *stream, natsStatus status,
                  jsErrCode code);

#endif
