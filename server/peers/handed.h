/* What programs hand over with descriptors: queues and regions.  Each is a mapping, of which the system gives the
 * server so many. */
#ifndef SERVER_PEERS_HANDED_H
#define SERVER_PEERS_HANDED_H

#include "server/peers/peer.h"

/* A message of such a kind, whose descriptor the peer's channel has; NULL, or why the program is refused. */
const char *handed_queue(struct peer *peer, struct in *in);
const char *handed_region(struct peer *peer, struct in *in);
const char *handed_carrier(struct peer *peer, struct in *in);
const char *handed_ring(struct peer *peer, struct in *in);

#endif
