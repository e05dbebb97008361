/* A program comes: its first words go to the journal of its run, and it is answered with what it
 * needs. */
#ifndef SERVER_CONNECTIONS_PROGRAM_HANDSHAKE_H
#define SERVER_CONNECTIONS_PROGRAM_HANDSHAKE_H

#include "server/decode/program_session.h"
#include "server/connections/connection.h"

/* Handles the HELLO of a program; returns false if it was refused. */
bool program_handshake_receive(struct connection *peer, const uint8_t *body, size_t size,
                               struct hello_message *hello);
void program_handshake_reply(
    struct connection *peer); /* sends what waits to be sent, with what it needs */

#endif
