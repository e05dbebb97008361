/* Endpoints: `unix:PATH`, `poet://HOST:PORT` (TLS with a key, wire/network_key.h), and where they
 * are by default.
 *
 * Programs connect to sockets of their own machine alone; where else endpoints are, address.h
 * finds.  All functions return a descriptor (close-on-exec) or -1 with a message of one line in
 * `error`. */
#ifndef WIRE_ENDPOINT_H
#define WIRE_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

struct error {
    char text[512];
};
void error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What is said of tcp:HOST:PORT. */
#define ENDPOINT_CLEAR                                                                             \
    "%s: unencrypted connections are not supported; use poet://HOST:PORT on both sides, and give " \
    "both the key that poet key makes"

/* True if s looks like an endpoint rather than a file. */
bool endpoint_is(const char *s);
bool endpoint_is_remote(
    const char *s); /* poet://: for servers, agents and viewers; programs have an agent */
/* Whether $POET_SERVER of a program names something that it reaches by an agent: HOST:PORT, which
 * is poet://HOST:PORT, or whatever has :// in it; as agents are told it. */
bool endpoint_is_other_host(const char *s, char *target, size_t size);
struct sockaddr_un;
bool endpoint_unix(const char *endpoint, struct sockaddr_un *address, struct error *error);

/* The directory of the user's sockets, made with mode 0700 if need be and
 * checked to be the user's own.  False with a message if there is none. */
bool endpoint_directory(char *path, size_t size, struct error *error);

/* $POET_SERVER if it names an endpoint (also HOST:PORT), else unix:DIRECTORY/poet.sock. */
bool endpoint_default(char *endpoint, size_t size, struct error *error);

/* False: what bears that number is any of the users that our user namespace has no number for. */
bool endpoint_has_user(unsigned user);

/* Connects to a Unix socket, waiting at most timeout_ms.  *absent tells whether simply nobody
 * listens there.  That of another user's server, unless that is root, is refused. */
int endpoint_connect(const char *endpoint, int timeout_ms, bool *absent, struct error *error);

#endif
