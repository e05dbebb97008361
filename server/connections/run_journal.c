#include "server/connections/run_journal.h"

#include "server/forwarding/agent.h"
#include "server/connections/event_server.h"
#include "server/journal/capture.h"

/* An agent's journal says which stream it is. */
static void run_journal_begin_stream(struct server *server, struct run *run)
{
    struct encoder head = {0};
    agent_head(&head, run->key);
    capture_lock(server->taker);
    run_journal_capture(run)->most_ahead = UINT64_MAX; /* nothing waits for an order here */
    journal_append(
        run_journal_capture(run),
        &(struct chunk){.kind = CHUNK_AGENT, .data = head.data, .size = (uint32_t)head.size}, 1,
        true);
    capture_unlock(server->taker);
    encoder_free(&head);
    agent_begin(server->agent, run->file.path);
}

static void run_journal_free_capture(void *capture) { capture_free(capture); }

void run_journal_attach(struct run *run, struct capture *capture)
{
    run_addon_attach(&run->addons, RUN_ADDON_CAPTURE,
                     (struct run_addon){capture, run_journal_free_capture});
}

void run_journal_open(struct server *server, struct run *run)
{
    tracefile_lock(run->trace, true);
    if (run_journal_capture(run))
        return;
    run_journal_attach(run, capture_new(run->trace, run->file.path, server->runs.keep_bytes));
    if (server->agent)
        run_journal_begin_stream(server, run);
}

bool run_journal_append(struct server *server, const struct run *run, unsigned kind,
                        uint32_t session, const struct encoder *body)
{
    capture_lock(server->taker);
    bool fits = !body->failed && journal_append(run_journal_capture(run),
                                                &(struct chunk){.kind = (uint16_t)kind,
                                                                .session = session,
                                                                .data = body->data,
                                                                .size = (uint32_t)body->size},
                                                1, false);
    capture_unlock(server->taker);
    return fits;
}

void run_journal_end(struct server *server, struct run *run)
{
    uint8_t data[8];
    struct encoder out = {.data = data, .room = sizeof data};
    run->clock.ended_ns = run->clock.wall_ns ? run_clock_now_ns(&run->clock) : 0;
    encode_u64(&out, (uint64_t)run->clock.ended_ns);
    capture_lock(server->taker);
    journal_append_quiet(run_journal_capture(run),
                         (struct chunk){.kind = CHUNK_END, .data = data, .size = sizeof data});
    capture_unlock(server->taker);
    tracefile_has_ended(run->trace);
    tracefile_lock(run->trace, false);
}
