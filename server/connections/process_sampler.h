/* Programs of this machine are looked at now and then: what the system says of them goes to their
 * journal. */
#ifndef SERVER_CONNECTIONS_PROCESS_SAMPLER_H
#define SERVER_CONNECTIONS_PROCESS_SAMPLER_H

#include "server/connections/connection.h"

/* A program that just said who it is: `pid` by its own account. */
void process_sampler_begin(struct connection *peer, uint32_t pid);
/* It has one queue more, the first of them.  In the door. */
void process_sampler_queue(const struct connection *peer);
void process_sampler_step(struct server *server); /* samples those that are due */
/* Before its last words are written; looks once more, if there is still something to see. */
void process_sampler_end(struct connection *peer);

/* It is sampled so many times a second from now on. */
void process_sampler_rate(struct connection *peer, unsigned hertz);

#endif
