/* Socket addresses of endpoints, for agents and viewers that connect, and for servers that
 * listen. */
#ifndef WIRE_ADDRESS_H
#define WIRE_ADDRESS_H

#include "wire/endpoint.h"

struct sockaddr_storage;

/* Resolves unix:PATH or poet://HOST:PORT; may block on a name lookup. Returns false with the
 * reason in *error. */
bool address_resolve(const char *endpoint, struct sockaddr_storage *address, size_t *size,
                     struct error *error);
/* Listens at the endpoint. Returns a descriptor (close-on-exec), or -1 with the reason in *error.
 * A socket file without a listener is replaced; one with a listener is not. */
int address_listen(const char *endpoint, struct error *error);

#endif
