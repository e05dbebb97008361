#include "server/connections/journal_forwarder.h"

#include "base/alloc.h"
#include "server/forwarding/agent.h"
#include "server/connections/run_journal.h"
#include "server/connections/event_server.h"
#include "server/connections/journal_reader.h"
#include "server/journal/capture.h"

#include <stdlib.h>
#include <string.h>

/* Drops the undelivered extents: they are in the journal, from which they are forwarded. */
static void journal_forwarder_release_runs(struct run *run)
{
    struct handoff_extent *stretch;
    while ((stretch = handoff_queue_pop(&run_journal_capture(run)->hand)) != NULL) {
        handoff_queue_mark_delivered(&run_journal_capture(run)->hand, stretch->size);
        handoff_extent_free(stretch);
    }
}

/* Ends the journal of a run whose programs have left; a later program of the same run begins
 * another one. */
static void journal_forwarder_end_run(struct server *server, size_t i)
{
    struct run *run = server->runs.items[i];
    char *path = xstrdup(run->file.path);
    run_journal_end(server, run);
    run_free(run);
    memmove(server->runs.items + i, server->runs.items + i + 1,
            (--server->runs.count - i) * sizeof *server->runs.items);
    agent_end(server->agent, path);
    free(path);
}

bool journal_forwarder_step(struct server *server, struct loop_share share)
{
    for (size_t i = 0; i < server->runs.count; i++) {
        struct run *run = server->runs.items[i];
        if (!run_journal_capture(run))
            continue;
        journal_forwarder_release_runs(run);
        if (run_journal_capture(run)->sessions && !run_journal_capture(run)->programs)
            journal_forwarder_end_run(server, i--);
    }
    return agent_step(server->agent, share);
}

void journal_forwarder_finish(struct server *server)
{
    journal_forwarder_step(server, loop_share_new(0));
    for (size_t i = server->runs.count; i-- > 0;)
        journal_forwarder_end_run(server, i);
    agent_disconnect(server->agent);
}
