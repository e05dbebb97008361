/* How long a server waits for the other end of a stream between machines. */
#ifndef SERVER_CONNECTIONS_STREAM_TIMEOUT_H
#define SERVER_CONNECTIONS_STREAM_TIMEOUT_H

struct server;

void stream_timeout_check(
    struct server *server); /* whom it has waited for long enough, in all runs */

#endif
