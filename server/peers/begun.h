/* A run of which something comes: its journal is open. */
#ifndef SERVER_PEERS_BEGUN_H
#define SERVER_PEERS_BEGUN_H

struct run;
struct server;

void run_begun(struct server *server, struct run *run);

#endif
