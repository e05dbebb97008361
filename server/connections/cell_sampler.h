/* Cells that programs store to are looked at now and then, and what they stand at goes to the
 * journal. */
#ifndef SERVER_CONNECTIONS_CELL_SAMPLER_H
#define SERVER_CONNECTIONS_CELL_SAMPLER_H

#include "server/connections/connection.h"

/* A program hands such a memory over; the descriptor is taken over.  What is wrong with it; NULL:
 * nothing. */
const char *cell_sampler_begin(struct connection *peer, struct decoder *in, int fd);
/* It tells of a meter: the body of a METER. */
void cell_sampler_named(struct connection *peer, const uint8_t *body, size_t size);
void cell_sampler_step(struct server *server); /* looks at those that are due */
void cell_sampler_now(struct connection *peer); /* looks, whether that is due or not */
void cell_sampler_end(
    struct connection *peer); /* before its last words are written: looks once more */

#endif
