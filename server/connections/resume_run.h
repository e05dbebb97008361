/* A server that was killed, started again on its file: it goes on where it got to. */
#ifndef SERVER_CONNECTIONS_RESUME_RUN_H
#define SERVER_CONNECTIONS_RESUME_RUN_H

#include <stdbool.h>

struct error;
struct server;

/* Before anybody is let in: goes on with the run in the server's FILE where agents alone told it
 * and it has not ended; else makes way for a new one (output_path.h).  What the file's state knows
 * is there at once, the rest of its journal is told as if it had just come.  False: *error says
 * why. */
bool resume_run(struct server *server, struct error *error);

#endif
