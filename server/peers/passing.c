#include "server/peers/passing.h"

#include "memory/memory.h"
#include "server/agent/agent.h"
#include "server/peers/server.h"
#include "server/peers/telling.h"
#include "server/taking/taking.h"

#include <stdlib.h>
#include <string.h>

/* It is in the journal, from where it goes on. */
static void let_go(struct run *run)
{
    struct stretch *stretch;
    while ((stretch = hand_take(&run->taking->hand)) != NULL) {
        hand_told(&run->taking->hand, stretch->size);
        stretch_free(stretch);
    }
}

/* Its programs are gone: the journal ends, and whoever comes with its name begins another one. */
static void end(struct server *server, size_t i)
{
    struct run *run = server->runs.items[i];
    char *path = memory_copied(run->file);
    telling_end(server, run);
    run_free(run);
    memmove(server->runs.items + i, server->runs.items + i + 1,
            (--server->runs.count - i) * sizeof *server->runs.items);
    agent_end(server->agent, path);
    free(path);
}

bool passing_go_on(struct server *server, struct share share)
{
    for (size_t i = 0; i < server->runs.count; i++) {
        struct run *run = server->runs.items[i];
        if (!run->taking)
            continue;
        let_go(run);
        if (run->taking->sessions && !run->taking->programs)
            end(server, i--);
    }
    return agent_go_on(server->agent, share);
}

void passing_finish(struct server *server)
{
    passing_go_on(server, share_of(0));
    for (size_t i = server->runs.count; i-- > 0;)
        end(server, i);
    agent_leave(server->agent);
}
