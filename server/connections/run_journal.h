/* The journal of a run that receives chunks: opens and ends it. */
#ifndef SERVER_CONNECTIONS_RUN_JOURNAL_H
#define SERVER_CONNECTIONS_RUN_JOURNAL_H

#include "server/run/run.h"

struct capture;
struct server;

/* Returns the captured and undelivered chunks of a live run; NULL: it had no program yet. */
static inline struct capture *run_journal_capture(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_CAPTURE);
}
void run_journal_attach(struct run *run, struct capture *capture); /* the run then owns it */
void run_journal_open(struct server *server, struct run *run);
/* Says in its file that the run ends here. */
void run_journal_end(struct server *server, struct run *run);

#endif
