/* Agents: servers on other machines that forward what programs told them (wire/forwarded.h). */
#ifndef SERVER_PEERS_AGENTS_H
#define SERVER_PEERS_AGENTS_H

#include "server/peers/peer.h"

struct reached_list;
struct run;
struct server;

extern const struct talk talk_with_agent;

/* Its first message; false: it was refused. */
bool agents_hello(struct peer *peer, const uint8_t *body, size_t size);
/* A session that an agent told of is not believed any more. */
void agents_refuse(struct server *server, const struct run *run, uint32_t session, const char *why);
/* Streams of a run that is gone on with. */
void agents_resume(struct server *server, struct run *run, const struct reached_list *reached);
void agents_look(struct server *server); /* which runs have ended is told */
bool agents_expected(
    const struct server *server); /* what some of them have begun is not at its end */
void agents_free(struct server *server);

#endif
