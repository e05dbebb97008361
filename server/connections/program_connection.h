/* Programs: their shared queues, and what goes to the journal before it is believed. */
#ifndef SERVER_CONNECTIONS_PROGRAM_CONNECTION_H
#define SERVER_CONNECTIONS_PROGRAM_CONNECTION_H

#include "server/decode/program_session.h"
#include "server/connections/connection.h"

extern const struct connection_handler program_handler;

void program_connection_poll(
    struct server *server);   /* tells what was taken, for a share of a turn */
void program_connection_sync(
    struct server *server); /* likewise; all that was told by now comes first */
/* Takes what there is, until server->last is over, and drops all peers. */
void program_connection_finish(struct server *server);

#endif
