/* What clocks of agents' hosts said when they were asked, by the connection over which they were:
 * by an agent's own, of its host; by that of a reader of NATS, of the hosts of all agents of its
 * run. */
#ifndef SERVER_CONNECTIONS_CLOCK_SAMPLES_H
#define SERVER_CONNECTIONS_CLOCK_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run;
struct server;

struct clock_samples { /* zeroes: nothing was asked */
    struct sampled_clock *items;
    size_t count, room;
};

/* A question that went at `asked`, came there at `heard`; whose answer went at `said`, and was here
 * at `here`. */
struct clock_request {
    uint64_t asked, heard, said, here;
};

/* False: so many hosts cannot be. */
bool clock_samples_receive(struct clock_samples *clocking, const char *host,
                           const struct clock_request *asking);
/* What is new goes into the journal of a run: soon, now and then, and at the end. */
void clock_samples_save(struct clock_samples *clocking, struct server *server, struct run *run,
                        bool last);
/* A run has ended. */
void clock_samples_discard(struct clock_samples *clocking, const struct run *run);
void clock_samples_free(struct clock_samples *clocking);

#endif
