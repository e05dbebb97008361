/* The clocks of hosts whose agents publish through NATS: who reads asks all agents of its run at once, now and then, and what
 * they answer goes to the server.  The answers are taken, and given, in threads of libnats. */
#ifndef SERVER_AGENT_NATSCLOCK_H
#define SERVER_AGENT_NATSCLOCK_H

#include "server/agent/natslink.h"
#include "wire/message.h"

/* ---- of an agent ---- */

/* Questions about a run are answered until that is destroyed; NULL: they are not. */
natsSubscription *natsclock_answer(const struct natslink *link, const char *run, const char *host);

/* ---- of a reader ---- */

struct natsclock; /* its questions, through one connection */
struct natsclock *natsclock_new(const struct natslink *link, const char *run);
void natsclock_soon(struct natsclock *clock); /* another agent is there */
/* Asks a few times, and waits for the answers: where there is nobody, for a tenth of a second; not if it was done just now. */
void natsclock_settle(struct natsclock *clock);
/* Asks, if it is time to, and puts what was answered as messages (ANSWERED). */
void natsclock_go_on(struct natsclock *clock, struct out *out);
void natsclock_free(struct natsclock *clock);

#endif
