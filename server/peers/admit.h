/* Who may come in. */
#ifndef SERVER_PEERS_ADMIT_H
#define SERVER_PEERS_ADMIT_H

struct server;

/* Takes or refuses whoever waits at a listener. */
void admit(struct server *server, int listener);

#endif
