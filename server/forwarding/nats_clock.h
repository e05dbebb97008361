/* Clock exchanges with hosts of agents that publish through NATS: the reader sends a request to
 * all agents of its run at intervals and passes their responses to the server.  Threads of
 * libnats receive and send the responses. */
#ifndef SERVER_FORWARDING_NATS_CLOCK_H
#define SERVER_FORWARDING_NATS_CLOCK_H

#include "server/forwarding/nats_connection.h"
#include "wire/message.h"

/* ---- of an agent ---- */

/* Questions about a run are answered until that is destroyed; NULL: they are not. */
natsSubscription *nats_clock_answer(const struct nats_connection *link, const char *run,
                                    const char *host);

/* ---- of a reader ---- */

struct nats_clock; /* its requests, through one connection */
struct nats_clock *nats_clock_new(const struct nats_connection *link, const char *run);
void nats_clock_request_soon(struct nats_clock *clock); /* another agent is there */
/* Sends a few requests and waits for the responses, for a tenth of a second if no agent
 * responds; does nothing if this was done just before. */
void nats_clock_sync(struct nats_clock *clock);
/* Sends a request if one is due, and appends received responses as messages (ANSWERED). */
void nats_clock_step(struct nats_clock *clock, struct encoder *out);
void nats_clock_free(struct nats_clock *clock);

#endif
