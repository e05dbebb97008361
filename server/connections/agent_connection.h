/* Agents: servers on other machines that forward what programs told them
 * (wire/forwarding_messages.h). */
#ifndef SERVER_CONNECTIONS_AGENT_CONNECTION_H
#define SERVER_CONNECTIONS_AGENT_CONNECTION_H

#include "server/connections/connection.h"

struct agent_positions;
struct run;
struct server;

extern const struct connection_handler agent_handler;

/* Its first message; false: it was refused. */
bool agent_connection_hello(struct connection *peer, const uint8_t *body, size_t size);
/* A session that an agent told of is not believed any more. */
void agent_connection_reject(struct server *server, const struct run *run, uint32_t session,
                             const char *why);
/* Streams of a run that is gone on with. */
void agent_connection_resume(struct server *server, struct run *run,
                             const struct agent_positions *reached);
void agent_connection_poll(struct server *server); /* which runs have ended is told */
bool agent_connection_expected(
    const struct server *server); /* what some of them have begun is not at its end */
void agent_connections_free(struct server *server);

#endif
