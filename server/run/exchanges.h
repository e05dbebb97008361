/* What a server and its agents told each other of their clocks, as it is kept with a run: of each agent's host the
 * questions and answers that say most (bounds.h). */
#ifndef SERVER_RUN_EXCHANGES_H
#define SERVER_RUN_EXCHANGES_H

#include "server/run/bounds.h"
#include "wire/message.h"

#define EXCHANGES_MOST 4096u /* of one run */

struct run;

struct exchange { /* times are those of the clocks themselves */
    char *server, *host; /* whose clocks */
    struct ways asked, answered; /* from the server; from the agent */
};

struct exchanges {
    struct exchange *items;
    size_t count, room;
    uint64_t taken; /* so often */
};

void exchanges_put(struct out *out, const struct exchange *exchange);
/* Beside what is known of these two clocks already; false with in->error. */
bool exchanges_take(struct run *run, struct in *in);
void exchange_free(struct exchange *exchange); /* what it has */
void exchanges_free(struct exchanges *exchanges);

#endif
