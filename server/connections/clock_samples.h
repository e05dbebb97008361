/* Clock samples of agents' hosts, by connection: an agent's own connection has those of its
 * host; that of a NATS reader has those of the hosts of all agents of its run. */
#ifndef SERVER_CONNECTIONS_CLOCK_SAMPLES_H
#define SERVER_CONNECTIONS_CLOCK_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run;
struct server;

struct clock_samples { /* zeroes: no samples */
    struct sampled_clock *items;
    size_t count, room;
};

/* A request that was sent at `asked` and arrived at `heard`; its response was sent at `said` and
 * arrived at `here`. */
struct clock_request {
    uint64_t asked, heard, said, here;
};

/* Adds a sample; returns false if there are too many hosts. */
bool clock_samples_receive(struct clock_samples *clocking, const char *host,
                           const struct clock_request *asking);
/* Writes new samples into the journal of a run: soon after the begin, at intervals, and at the
 * end. */
void clock_samples_save(struct clock_samples *clocking, struct server *server, struct run *run,
                        bool last);
/* A run has ended. */
void clock_samples_discard(struct clock_samples *clocking, const struct run *run);
void clock_samples_free(struct clock_samples *clocking);

#endif
