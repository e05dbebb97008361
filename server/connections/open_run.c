#include "server/connections/open_run.h"

#include "server/forwarding/agent.h"
#include "server/connections/event_server.h"
#include "server/journal/capture.h"

/* An agent's journal says which stream it is. */
static void begin_stream(struct server *server, struct run *run)
{
    struct encoder head = {0};
    agent_head(&head, run->key);
    capture_lock(server->taker);
    run_capture(run)->most_ahead = UINT64_MAX; /* nothing waits for an order here */
    journal_append(
        run_capture(run),
        &(struct chunk){.kind = CHUNK_AGENT, .data = head.data, .size = (uint32_t)head.size}, 1,
        true);
    capture_unlock(server->taker);
    encoder_free(&head);
    agent_begin(server->agent, run->file.path);
}

static void open_run_free_capture(void *capture) { capture_free(capture); }

void run_attach_capture(struct run *run, struct capture *capture)
{
    run_addon_attach(&run->addons, RUN_ADDON_CAPTURE,
                     (struct run_addon){capture, open_run_free_capture});
}

void open_journal_run(struct server *server, struct run *run)
{
    tracefile_lock(run->trace, true);
    if (run_capture(run))
        return;
    run_attach_capture(run, capture_new(run->trace, run->file.path, server->runs.keep_bytes));
    if (server->agent)
        begin_stream(server, run);
}
