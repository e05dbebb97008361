/* Reads what agents published of a run from NATS JetStream, from its first message on, or where a
 * server before this one got to, and tells it to the server at the other end of a socket in the
 * words of an agent: so it is taken in the same way.  A thread of its own, which may wait. */
#ifndef SERVER_FORWARDING_NATS_READER_H
#define SERVER_FORWARDING_NATS_READER_H

#include "wire/endpoint.h"

struct nats_reader;
struct agent_positions;

/* from: nats://HOST:PORT#RUN.  fd: our end, which is its own from now on.  known: how far it was
 * read before; it goes on there.  NULL with a reason. */
struct nats_reader *nats_reader_new(const char *from, int fd, const struct agent_positions *known,
                                    struct error *error);
void nats_reader_free(struct nats_reader *reader);

#endif
