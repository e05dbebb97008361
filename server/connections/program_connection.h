/* Connections of programs: their shared queues, and their messages, which are journalled before
 * they are checked. */
#ifndef SERVER_CONNECTIONS_PROGRAM_CONNECTION_H
#define SERVER_CONNECTIONS_PROGRAM_CONNECTION_H

#include "server/decode/program_session.h"
#include "server/connections/connection.h"

extern const struct connection_handler program_handler;

void program_connection_poll(
    struct server *server);   /* delivers captured chunks, for a share of a turn */
void program_connection_sync(
    struct server *server); /* likewise, after capturing all that programs have written by now */
/* Takes what there is, until server->last is over, and drops all peers. */
void program_connection_finish(struct server *server);

#endif
