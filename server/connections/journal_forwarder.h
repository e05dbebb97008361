/* Journal forwarding, which replaces delivery if this server is an agent: captured chunks are
 * not ordered, but forwarded from the journal. */
#ifndef SERVER_CONNECTIONS_JOURNAL_FORWARDER_H
#define SERVER_CONNECTIONS_JOURNAL_FORWARDER_H

#include "server/eventloop/loop_turn.h"

#include <stdbool.h>

struct server;

/* Forwards captured chunks; returns true if nothing is left to do. */
bool journal_forwarder_step(struct server *server, struct loop_share share);
void journal_forwarder_finish(struct server *server); /* the journals end here */

#endif
