/* Timeout of waiting for the other end of a stream between hosts. */
#ifndef SERVER_CONNECTIONS_STREAM_TIMEOUT_H
#define SERVER_CONNECTIONS_STREAM_TIMEOUT_H

struct server;

void stream_timeout_check(
    struct server *server); /* ends the waits that have timed out, in all runs */

#endif
