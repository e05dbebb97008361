/* Clock exchanges between a server and its agents, kept with a run: for each agent's host, the
 * requests and responses that give the tightest bounds (clock_bounds.h). */
#ifndef SERVER_RUN_CLOCK_EXCHANGES_H
#define SERVER_RUN_CLOCK_EXCHANGES_H

#include "server/run/clock_bounds.h"
#include "wire/message.h"

#define CLOCK_EXCHANGES_MAX 4096u /* of one run */

struct run;

struct clock_exchange { /* times are those of the clocks themselves */
    char *server, *host; /* whose clocks */
    struct clock_messages asked, answered; /* from the server; from the agent */
};

struct clock_exchanges {
    struct clock_exchange *items;
    size_t count, room;
    uint64_t taken; /* so often */
};

void clock_exchanges_encode(struct encoder *out, const struct clock_exchange *exchange);
/* Beside what is known of these two clocks already; false with in->error. */
bool clock_exchanges_decode(struct run *run, struct decoder *in);
void clock_exchange_free(struct clock_exchange *exchange); /* what it has */
void clock_exchanges_free(struct clock_exchanges *exchanges);

#endif
