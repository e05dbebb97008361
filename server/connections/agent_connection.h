/* Connections of agents: servers on other hosts that forward the journals of their programs
 * (wire/forwarding_messages.h). */
#ifndef SERVER_CONNECTIONS_AGENT_CONNECTION_H
#define SERVER_CONNECTIONS_AGENT_CONNECTION_H

#include "server/connections/connection.h"

struct agent_positions;
struct run;
struct server;

extern const struct connection_handler agent_handler;

/* Handles the first message of an agent; returns false if it was refused. */
bool agent_connection_hello(struct connection *peer, const uint8_t *body, size_t size);
/* Rejects further chunks of a session that an agent forwards. */
void agent_connection_reject(struct server *server, const struct run *run, uint32_t session,
                             const char *why);
/* Restores the streams of a run that is resumed. */
void agent_connection_resume(struct server *server, struct run *run,
                             const struct agent_positions *reached);
/* Writes to the journal that a program of this server hung up; if it was the last one of its run,
 * once no agent can bring another program of it. Must hold the capture lock. */
void agent_connection_hang_up(struct server *server, const struct run *run, uint32_t session);
/* Writes all hang-ups that are held back: the server ends. */
void agent_connection_finish(struct server *server);
void agent_connection_poll(struct server *server); /* reports ended runs to the agents */
bool agent_connection_expected(
    const struct server *server); /* some agents have streams that have not ended */
void agent_connections_free(struct server *server);

#endif
