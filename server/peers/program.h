/* Programs: their shared queues, and what goes to the journal before it is believed. */
#ifndef SERVER_PEERS_PROGRAM_H
#define SERVER_PEERS_PROGRAM_H

#include "server/intake/session.h"
#include "server/peers/peer.h"

extern const struct talk talk_with_program;

void program_poll(struct server *server);   /* tells what was taken, for a share of a turn */
void program_settle(struct server *server); /* likewise; all that was told by now comes first */
/* Takes what there is, until server->last is over, and drops all peers. */
void program_finish(struct server *server);

#endif
