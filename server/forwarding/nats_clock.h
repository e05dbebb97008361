/* The clocks of hosts whose agents publish through NATS: who reads asks all agents of its run at
 * once, now and then, and what they answer goes to the server.  The answers are taken, and given,
 * in threads of libnats. */
#ifndef SERVER_FORWARDING_NATS_CLOCK_H
#define SERVER_FORWARDING_NATS_CLOCK_H

#include "server/forwarding/nats_connection.h"
#include "wire/message.h"

/* ---- of an agent ---- */

/* Questions about a run are answered until that is destroyed; NULL: they are not. */
natsSubscription *nats_clock_answer(const struct nats_connection *link, const char *run,
                                    const char *host);

/* ---- of a reader ---- */

struct nats_clock; /* its questions, through one connection */
struct nats_clock *nats_clock_new(const struct nats_connection *link, const char *run);
void nats_clock_request_soon(struct nats_clock *clock); /* another agent is there */
/* Asks a few times, and waits for the answers: where there is nobody, for a tenth of a second; not
 * if it was done just now. */
void nats_clock_sync(struct nats_clock *clock);
/* Asks, if it is time to, and puts what was answered as messages (ANSWERED). */
void nats_clock_step(struct nats_clock *clock, struct encoder *out);
void nats_clock_free(struct nats_clock *clock);

#endif
