/* External metrics that a viewer sends to a live run (poet watch). */
#ifndef SERVER_CONNECTIONS_EXTERNAL_METRICS_H
#define SERVER_CONNECTIONS_EXTERNAL_METRICS_H

#include "server/connections/connection.h"

/* Receives the body of a viewer's CELLS, which is ignored if the run is not live.  Sets
 * in->error if it is malformed. */
void external_metrics_receive(struct connection *peer, struct decoder *in);

#endif
