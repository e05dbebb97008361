/* Endpoints of connections: `unix:PATH` and `poet://HOST:PORT` (TLS with a key,
 * wire/network_key.h), and the defaults.
 *
 * Programs connect to sockets of their own host only; address.h resolves all other endpoints. All
 * functions return a descriptor (close-on-exec), or -1 with the reason in *error. */
#ifndef WIRE_ENDPOINT_H
#define WIRE_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

struct error {
    char text[512];
};
void error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The error message for tcp:HOST:PORT. */
#define ENDPOINT_CLEAR                                                                             \
    "%s: unencrypted connections are not supported; use poet://HOST:PORT on both sides, and give " \
    "both the key that poet key makes"

/* Returns whether s looks like an endpoint rather than a file. */
bool endpoint_is(const char *s);
bool endpoint_is_remote(
    const char *s); /* poet://, for servers, agents and viewers; programs use an agent */
/* Returns whether a program's $POET_SERVER names a server that it reaches through an agent:
 * HOST:PORT, equivalent to poet://HOST:PORT, or anything with :// in it. `target` receives the form
 * that agents accept. */
bool endpoint_is_other_host(const char *s, char *target, size_t size);
struct sockaddr_un;
bool endpoint_unix(const char *endpoint, struct sockaddr_un *address, struct error *error);

/* Gets the directory of the user's sockets: creates it with mode 0700 if necessary, and checks that
 * the user owns it. Returns false with the reason in *error. */
bool endpoint_directory(char *path, size_t size, struct error *error);

/* Gets $POET_SERVER if it names an endpoint (including HOST:PORT), else
 * unix:DIRECTORY/poet.sock. */
bool endpoint_default(char *endpoint, size_t size, struct error *error);

/* Returns false if the user has no number in our user namespace: then the owner of a file with that
 * number can be any such user. */
bool endpoint_has_user(unsigned user);

/* Connects to a Unix socket, waiting at most timeout_ms. *absent is set if there is no listener.
 * Refuses servers of other users except root. */
int endpoint_connect(const char *endpoint, int timeout_ms, bool *absent, struct error *error);

#endif
