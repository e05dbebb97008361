/* Where an endpoint is: for agents and viewers that connect, and servers that listen. */
#ifndef WIRE_ADDRESS_H
#define WIRE_ADDRESS_H

#include "wire/endpoint.h"

struct sockaddr_storage;

/* Of unix:PATH or poet://HOST:PORT; looks a name up, which may take long.  False with a message. */
bool address_resolve(const char *endpoint, struct sockaddr_storage *address, size_t *size,
                     struct error *error);
/* Listens there: a descriptor (close-on-exec), or -1 with a message.  A socket file that nobody
 * answers is replaced; a live one is not. */
int address_listen(const char *endpoint, struct error *error);

#endif
