/* A program comes: its first words go to the journal of its run, and it is answered with what it
 * needs. */
#ifndef SERVER_PEERS_WELCOME_H
#define SERVER_PEERS_WELCOME_H

#include "server/intake/session.h"
#include "server/peers/peer.h"

/* Its HELLO was told; false: it was refused. */
bool program_handshake_receive(struct connection *peer, const uint8_t *body, size_t size,
                               struct hello_message *hello);
void program_handshake_reply(
    struct connection *peer); /* sends what waits to be sent, with what it needs */

#endif
