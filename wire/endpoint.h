/* Endpoints: `unix:PATH`, `tcp:HOST:PORT`, and where they are by default.
 * Addresses only; TCP is accepted for the loopback network alone, since there is
 * no authentication yet.  All functions return a descriptor (close-on-exec) or
 * -1 with a message of one line in `error`. */
#ifndef WIRE_ENDPOINT_H
#define WIRE_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

struct error {
    char text[512];
};
void error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True if s looks like an endpoint rather than a file. */
bool endpoint_is(const char *s);

/* The directory of the user's sockets, made with mode 0700 if need be and
 * checked to be the user's own.  False with a message if there is none. */
bool endpoint_directory(char *path, size_t size, struct error *error);

/* $POET_SERVER if it names an endpoint, else unix:DIRECTORY/poet.sock. */
bool endpoint_default(char *endpoint, size_t size, struct error *error);

/* Connects, waiting at most timeout_ms.  *absent tells whether simply nobody
 * listens there. */
int endpoint_connect(const char *endpoint, int timeout_ms, bool *absent, struct error *error);

/* Listens.  A socket file that nobody answers is replaced; a live one is not. */
int endpoint_listen(const char *endpoint, struct error *error);

#endif
