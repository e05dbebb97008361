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

/* A request that was sent at `asked` and arrived at `received`; its response was sent at `replied`
 * and arrived at `here`. */
struct clock_request {
    uint64_t asked, received, replied, here;
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

#define CLOCK_OFFSET_DRIFT_PPM 200 /* of two clocks against each other, at most: 100 of either */

/* Offset of a remote host's clock from the local one, between two certain bounds.
 *
 * A request is sent at t0 and its response arrives at t3, by the local clock; the request
 * arrived at t1 and the response was sent at t2, by the remote one.  No message arrives before
 * it was sent: so the remote clock is ahead by at least t2 - t3 and at most t1 - t0 (Cristian
 * 1989; NTP takes the middle).  The bounds widen with time, since clocks drift. */
struct clock_offset {
    bool known;
    int64_t low_ns, high_ns; /* ahead of ours, at `at_ns` of ours */
    uint64_t at_ns;
};

/* One request and its response; false: that cannot be, or says less than is known. */
bool clock_offset_add(struct clock_offset *offset, uint64_t t0, uint64_t t1, uint64_t t2,
                      uint64_t t3);
/* The bounds at a later time of our clock. */
void clock_offset_at(const struct clock_offset *offset, uint64_t now_ns, int64_t *low_ns,
                     int64_t *high_ns);

#endif
