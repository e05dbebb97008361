/* Maps the queues and regions that programs pass as descriptors.  The system limits the server's
 * number of mappings. */
#ifndef SERVER_CONNECTIONS_SHARED_MEMORY_SETUP_H
#define SERVER_CONNECTIONS_SHARED_MEMORY_SETUP_H

#include "server/connections/connection.h"

/* Handle a message of such a kind, whose descriptor is in the peer's channel.  Return NULL, or
 * why the program is refused. */
const char *register_queue(struct connection *peer, struct decoder *in);
const char *register_region(struct connection *peer, struct decoder *in);
const char *register_carrier_ring(struct connection *peer, struct decoder *in);
const char *register_call_ring(struct connection *peer, struct decoder *in);

#endif
