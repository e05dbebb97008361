/* Samples the processes of this host at intervals and writes their OS metrics to their journal. */
#ifndef SERVER_CONNECTIONS_PROCESS_SAMPLER_H
#define SERVER_CONNECTIONS_PROCESS_SAMPLER_H

#include "server/connections/connection.h"

/* Prepares the server for programs, which then need not wait for it at their start. */
void process_sampler_start(struct server *server);
void process_sampler_stop(struct server *server);

/* Begins to sample a program after its HELLO; `pid` is the id that it reported. */
void process_sampler_begin(struct connection *peer, uint32_t pid);
/* Notes a program's new queue, the first of its list.  Must hold the capture lock. */
void process_sampler_queue(const struct connection *peer);
void process_sampler_step(struct server *server); /* samples those that are due */
/* Before its last words are written; looks once more, if there is still something to see. */
void process_sampler_end(struct connection *peer);

/* Sets the rate at which a program is sampled from now on, in samples per second. */
void process_sampler_rate(struct connection *peer, unsigned hertz);

#endif
