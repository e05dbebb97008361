/* Samples the metric cells of programs at intervals, and writes their values to the journal. */
#ifndef SERVER_CONNECTIONS_CELL_SAMPLER_H
#define SERVER_CONNECTIONS_CELL_SAMPLER_H

#include "server/connections/connection.h"

/* Takes over a program's shared memory of cells, and its descriptor.  Returns what is wrong with
 * it, or NULL. */
const char *cell_sampler_begin(struct connection *peer, struct decoder *in, int fd);
/* Receives the declaration of a metric: the body of a METER. */
void cell_sampler_named(struct connection *peer, const uint8_t *body, size_t size);
void cell_sampler_step(struct server *server); /* looks at those that are due */
void cell_sampler_now(struct connection *peer); /* looks, whether that is due or not */
void cell_sampler_end(
    struct connection *peer); /* before its last words are written: looks once more */

#endif
