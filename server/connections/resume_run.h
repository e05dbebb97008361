/* Resumes the run of a server that was killed and is restarted on its file. */
#ifndef SERVER_CONNECTIONS_RESUME_RUN_H
#define SERVER_CONNECTIONS_RESUME_RUN_H

#include <stdbool.h>

struct error;
struct server;

/* Resumes the run in the server's FILE if only agents contributed to it and it has not ended;
 * else makes way for a new one (run_registry.h).  Must be called before connections are accepted.
 * The file's state is restored immediately, the rest of its journal is delivered as if it had
 * just been received.  Returns false with the reason in *error. */
bool resume_run(struct server *server, struct error *error);

#endif
