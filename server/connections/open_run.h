/* Runs that receive chunks: opens their journals. */
#ifndef SERVER_CONNECTIONS_OPEN_RUN_H
#define SERVER_CONNECTIONS_OPEN_RUN_H

#include "server/run/run.h"

struct capture;
struct server;

/* Returns the captured and undelivered chunks of a live run; NULL: it had no program yet. */
static inline struct capture *run_capture(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_CAPTURE);
}
void run_attach_capture(struct run *run, struct capture *capture); /* the run then owns it */
void open_journal_run(struct server *server, struct run *run);

#endif
