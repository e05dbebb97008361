/* What clocks of agents' hosts said when they were asked, by the connection over which they were: by an agent's own, of its
 * host; by that of a reader of NATS, of the hosts of all agents of its run. */
#ifndef SERVER_PEERS_CLOCKING_H
#define SERVER_PEERS_CLOCKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run;
struct server;

struct clocking { /* zeroes: nothing was asked */
    struct asked_clock *items;
    size_t count, room;
};

/* A question that went at `asked`, came there at `heard`; whose answer went at `said`, and was here at `here`. */
struct asking {
    uint64_t asked, heard, said, here;
};

/* False: so many hosts cannot be. */
bool clocking_take(struct clocking *clocking, const char *host, const struct asking *asking);
/* What is new goes into the journal of a run: soon, now and then, and at the end. */
void clocking_keep(struct clocking *clocking, struct server *server, struct run *run, bool last);
/* A run has ended. */
void clocking_forget(struct clocking *clocking, const struct run *run);
void clocking_free(struct clocking *clocking);

#endif
