/* What programs hand over with descriptors: queues and regions.  Each is a mapping, of which the
 * system gives the server so many. */
#ifndef SERVER_CONNECTIONS_SHARED_MEMORY_SETUP_H
#define SERVER_CONNECTIONS_SHARED_MEMORY_SETUP_H

#include "server/connections/connection.h"

/* A message of such a kind, whose descriptor the peer's channel has; NULL, or why the program is
 * refused. */
const char *register_queue(struct connection *peer, struct decoder *in);
const char *register_region(struct connection *peer, struct decoder *in);
const char *register_carrier_ring(struct connection *peer, struct decoder *in);
const char *register_call_ring(struct connection *peer, struct decoder *in);

#endif
