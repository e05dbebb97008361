/* What the user of a program wants of the server: how often it is sampled, and a file that says
 * what is measured. */
#ifndef SERVER_PEERS_WISHES_H
#define SERVER_PEERS_WISHES_H

#include "server/peers/peer.h"

/* The body of a METER; false: it is none of these, but tells of a meter. */
bool client_options_receive(struct connection *peer, const uint8_t *body, size_t size);

#endif
