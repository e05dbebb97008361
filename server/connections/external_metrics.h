/* Numbers that a viewer tells a run which goes on (poet watch). */
#ifndef SERVER_CONNECTIONS_EXTERNAL_METRICS_H
#define SERVER_CONNECTIONS_EXTERNAL_METRICS_H

#include "server/connections/connection.h"

/* The body of a viewer's CELLS.  Of a run that does not go on it is left out.  in->error: it cannot
 * be read. */
void external_metrics_receive(struct connection *peer, struct decoder *in);

#endif
