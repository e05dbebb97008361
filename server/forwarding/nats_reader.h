/* Reads what agents published of a run from NATS JetStream, from the first message on or from
 * where an earlier server stopped, and sends it to the server over a socket pair, in the
 * protocol of an agent.  It runs in a thread of its own, which may block. */
#ifndef SERVER_FORWARDING_NATS_READER_H
#define SERVER_FORWARDING_NATS_READER_H

#include "wire/endpoint.h"

struct nats_reader;
struct agent_positions;

/* from: nats://HOST:PORT#RUN. fd: an end of a socket pair, owned by the reader from now on.
 * known: the position up to which the stream was read before, where it continues.  Returns NULL
 * with the reason in *error. */
struct nats_reader *nats_reader_new(const char *from, int fd, const struct agent_positions *known,
                                    struct error *error);
void nats_reader_free(struct nats_reader *reader);

#endif
