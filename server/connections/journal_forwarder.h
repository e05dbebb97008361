/* In place of telling, where this server is an agent: what was taken is not ordered, but passed on
 * from the journal. */
#ifndef SERVER_CONNECTIONS_JOURNAL_FORWARDER_H
#define SERVER_CONNECTIONS_JOURNAL_FORWARDER_H

#include "server/eventloop/loop_turn.h"

#include <stdbool.h>

struct server;

/* True if nothing is left to do. */
bool journal_forwarder_step(struct server *server, struct loop_share share);
void journal_forwarder_finish(struct server *server); /* the journals end here */

#endif
