/* Endpoints: `unix:PATH`, `tcp:HOST:PORT`, `poet://HOST:PORT` (TLS with a key, wire/key.h), and where they are by
 * default.
 * Addresses only.  TCP beyond the loopback network needs a secret that both sides know
 * (POET_TOKEN); it is sent as it is, so the network must be one's own.  All functions return a descriptor (close-on-exec) or
 * -1 with a message of one line in `error`. */
#ifndef WIRE_ENDPOINT_H
#define WIRE_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

struct error {
    char text[512];
};
void error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* $POET_TOKEN, if it has 8 to 255 bytes, else NULL. */
const char *endpoint_token(void);
struct sockaddr;
bool endpoint_is_loopback(const struct sockaddr *address); /* never true for a Unix socket */

/* True if s looks like an endpoint rather than a file. */
bool endpoint_is(const char *s);
bool endpoint_is_far(
    const char *s); /* poet://: for servers, agents and viewers; programs have an agent */
/* Where a Unix socket or poet:// is; looks a name up, which may take long.  False with a message. */
struct sockaddr_storage;
bool endpoint_address(const char *endpoint, struct sockaddr_storage *address, size_t *size,
                      struct error *error);

/* The directory of the user's sockets, made with mode 0700 if need be and
 * checked to be the user's own.  False with a message if there is none. */
bool endpoint_directory(char *path, size_t size, struct error *error);

/* $POET_SERVER if it names an endpoint, else unix:DIRECTORY/poet.sock. */
bool endpoint_default(char *endpoint, size_t size, struct error *error);

/* Connects, waiting at most timeout_ms.  *absent tells whether simply nobody
 * listens there.  A Unix socket of another user's server, unless that is root, is refused. */
int endpoint_connect(const char *endpoint, int timeout_ms, bool *absent, struct error *error);

/* Listens.  A socket file that nobody answers is replaced; a live one is not. */
int endpoint_listen(const char *endpoint, struct error *error);

#endif
