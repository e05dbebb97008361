/* Clock exchanges between a server and its agents, kept with a run: for each agent's host, the
 * requests and responses that give the tightest bounds (clock_bounds.h). */
#ifndef SERVER_RUN_CLOCK_EXCHANGES_H
#define SERVER_RUN_CLOCK_EXCHANGES_H

#include "server/run/clock_bounds.h"
#include "wire/message.h"

#define CLOCK_EXCHANGES_MAX 4096u /* maximum for one run */

struct run;

struct clock_exchange { /* times are those of the clocks themselves */
    char *server, *host; /* hosts of the clocks */
    struct clock_messages asked, answered; /* from the server; from the agent */
};

struct clock_exchanges {
    struct clock_exchange *items;
    size_t count, room;
    uint64_t taken; /* number of reports received */
};

void clock_exchanges_encode(struct encoder *out, const struct clock_exchange *exchange);
/* Adds exchanges to those known of the same two clocks; returns false with in->error if they are
 * malformed. */
bool clock_exchanges_decode(struct run *run, struct decoder *in);
struct clock_exchanges *clock_exchanges_of(const struct run *run); /* NULL: none was received */
void clock_exchange_free(struct clock_exchange *exchange); /* frees its contents */
#endif
