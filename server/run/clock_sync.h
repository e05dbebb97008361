/* Clocks of the hosts of a run: fitted to the first host's clock by the messages of programs
 * (clock_fit.h) and by clock exchanges between a server and its agents, which are kept with the
 * run.
 *
 * The fit is made when it is first needed and again when the run has grown much.  Not
 * thread-safe. */
#ifndef SERVER_RUN_CLOCK_SYNC_H
#define SERVER_RUN_CLOCK_SYNC_H

#include "server/run/clock_bounds.h"
#include "server/run/run.h"
#include "wire/message.h"

#include <stdint.h>

/* Returns a number that grows with each fit of the clocks of several hosts; 0 if there is only one
 * host. */
uint64_t clock_sync_generation(const struct run *run);
/* Converts a time of a process to the clock of the run's first host. */
int64_t clock_sync_correct(const struct run *run, uint32_t process, int64_t time_ns);

struct clock_bound { /* of a host's clock relative to that of the first host */
    const char *host; /* owned by the run */
    int64_t at_ns; /* time by the first clock at which the bounds hold, since the run's begin */
    struct clock_tied bound;
    int64_t ahead_ns; /* correction of the host's times then */
};
/* Returns the number of bounds, one for each host, the first host first; 0: there is only one
 * host.  The caller frees *bounds. */
size_t clock_sync_bounds(const struct run *run, struct clock_bound **bounds);

/* ---- clock exchanges ---- */

#define CLOCK_EXCHANGES_MAX 4096u /* maximum for one run */

/* For an agent's host, the requests and responses that give the tightest bounds. */
struct clock_exchange { /* times are those of the clocks themselves */
    char *server, *host; /* hosts of the clocks */
    struct clock_messages asked, answered; /* from the server; from the agent */
};

struct clock_exchanges {
    struct clock_exchange *items;
    size_t count, room;
    uint64_t taken; /* number of reports received */
};

/* Appends an exchange, as clock_exchanges_decode() reads it. */
void clock_exchanges_encode(struct encoder *out, const struct clock_exchange *exchange);
/* Adds exchanges to those known of the same two clocks; returns false with in->error if they are
 * malformed. */
bool clock_exchanges_decode(struct run *run, struct decoder *in);
void clock_exchange_free(struct clock_exchange *exchange); /* frees its contents */

#endif
