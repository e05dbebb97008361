/* Runs that receive chunks: opens their journals. */
#ifndef SERVER_CONNECTIONS_OPEN_RUN_H
#define SERVER_CONNECTIONS_OPEN_RUN_H

struct run;
struct server;

void open_journal_run(struct server *server, struct run *run);

#endif
