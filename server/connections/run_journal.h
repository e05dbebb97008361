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
/* Attaches what is captured to its run, which then owns it. */
void run_journal_attach(struct run *run, struct capture *capture);
/* Opens the journal of a run, if it is not open. */
void run_journal_open(struct server *server, struct run *run);
/* Appends a chunk, of a session where its kind has one.  Returns false if the body failed, or does
 * not fit.  Must not hold the capture lock. */
bool run_journal_append(struct server *server, const struct run *run, unsigned kind,
                        uint32_t session, const struct encoder *body);
/* Says in its file that the run ends here. */
void run_journal_end(struct server *server, struct run *run);

#endif
