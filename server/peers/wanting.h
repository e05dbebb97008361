/* What viewers want measured is passed on to the threads of programs: bits in the heads of their
 * queues. */
#ifndef SERVER_PEERS_WANTING_H
#define SERVER_PEERS_WANTING_H

#include "server/peers/peer.h"

/* It has one queue more: what is wanted of all. In the door. */
void measurement_settings_queue(const struct connection *peer);
void measurement_settings_step(struct server *server);

#endif
