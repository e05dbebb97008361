/* In place of telling, where this server is an agent: what was taken is not ordered, but passed on from the journal. */
#ifndef SERVER_PEERS_PASSING_H
#define SERVER_PEERS_PASSING_H

#include "server/loop/turn.h"

#include <stdbool.h>

struct server;

/* True if nothing is left to do. */
bool passing_go_on(struct server *server, struct share share);
void passing_finish(struct server *server); /* the journals end here */

#endif
