#include "server/peers/begun.h"

#include "server/agent/agent.h"
#include "server/peers/server.h"
#include "server/taking/taking.h"

/* An agent's journal says which stream it is. */
static void begin_stream(struct server *server, struct run *run)
{
    struct out head = {0};
    agent_head(&head, run->key);
    taker_enter(server->taker);
    run->taking->most_ahead = UINT64_MAX; /* nothing waits for an order here */
    journal_put(
        run->taking,
        &(struct chunk){.kind = CHUNK_AGENT, .data = head.data, .size = (uint32_t)head.size}, 1,
        true);
    taker_leave(server->taker);
    out_free(&head);
    agent_begin(server->agent, run->file);
}

void run_begun(struct server *server, struct run *run)
{
    tracefile_lock(run->trace, true);
    if (run->taking)
        return;
    run->taking = taking_new(run->trace, run->file, server->runs.keep_bytes);
    run->taking_free = taking_free;
    if (server->agent)
        begin_stream(server, run);
}
