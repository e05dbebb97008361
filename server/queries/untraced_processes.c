#include "server/queries/untraced_processes.h"

#include "base/alloc.h"
#include "server/run/run_processes.h"
#include "server/run/untraced_reasons.h"

#include <stdlib.h>

#define CREATION_SLICE 4000u /* events counted at once */
#define CREATION_COST 1000u /* of the budget */

static bool untraced_processes_learn_type(struct untraced_processes *u, uint32_t type)
{
    for (unsigned i = 0; i < u->type_count; i++)
        if (u->types[i] == type)
            return true;
    if (u->type_count == CREATION_TYPES)
        return false;
    u->types[u->type_count++] = type;
    return true;
}

/* Learns the types by their description, for a run of one process: a thread of it has line 1. */
static void untraced_processes_learn_described(struct untraced_processes *u, const struct run *run)
{
    for (uint32_t type = 1; type <= run->types.count; type++) {
        const struct target_event *look = run_event_type(run, 1, type, RELATION_SEND);
        if (look && look->role == ROLE_BEGIN_PROCESS)
            u->some |= !untraced_processes_learn_type(u, type);
    }
}

/* Examines how the processes of the run began.  If there is only one, the description says with
 * which messages others would. */
static void untraced_processes_begin(struct untraced_processes *u, const struct run *run)
{
    u->begun = true;
    u->counted = order_first(run->order);
    for (size_t i = 0; i < run->processes.count; i++) {
        uint64_t from = process_creation_message(run, i);
        if (from == NO_POSITION)
            continue;
        u->received++;
        u->some |= !untraced_processes_learn_type(u, order_event(run->order, from).type);
    }
    u->some |= run->processes.count != u->received + 1;
    if (u->received)
        return;
    u->some |= untraced_reasons_some(run);
    untraced_processes_learn_described(u, run);
}

static void untraced_processes_note_receive(void *received, uint64_t receive)
{
    (void)receive;
    *(bool *)received = true;
}

/* Returns whether a thread's process may have become another program that is not traced: the
 * thread's last event is a message, not its end, that was not received. */
static bool untraced_processes_is_replaced(const struct run *run, uint32_t thread)
{
    uint64_t last = order_thread_last(run->order, thread);
    if (last == NO_POSITION || last < order_first(run->order) || !order_sends(run->order, last))
        return false;
    struct order_event e = order_event(run->order, last);
    const struct target_event *look =
        run_event_type(run, e.line, e.type, (enum relation)e.relation);
    bool received = false;
    order_receives(run->order, last, untraced_processes_note_receive, &received);
    return !received && !(look && look->ends);
}

static void untraced_processes_count(struct untraced_processes *u, const struct run *run,
                                     uint64_t end)
{
    uint32_t types = (uint32_t)run->types.count + 1u;
    uint64_t *counts = xcalloc(types, sizeof *counts);
    order_count_types(run->order, u->counted, end, counts, types);
    for (unsigned i = 0; i < u->type_count; i++)
        u->sent += counts[u->types[i]];
    free(counts);
    u->counted = end;
}

bool untraced_processes_step(struct untraced_processes *u, const struct wait_graph *g,
                             uint64_t *budget)
{
    uint64_t end = order_count(g->run->order);
    if (!u->begun)
        untraced_processes_begin(u, g->run);
    while (!u->some && u->counted < end) {
        if (*budget == 0)
            return false;
        untraced_processes_count(
            u, g->run, end - u->counted > CREATION_SLICE ? u->counted + CREATION_SLICE : end);
        *budget -= *budget < CREATION_COST ? *budget : CREATION_COST;
    }
    u->some |= u->sent != u->received;
    for (uint32_t line = 1; line <= g->lines && !u->some; line++)
        u->some =
            (g->is_thread[line - 1] == WAITS_EXITED || g->is_thread[line - 1] == WAITS_ENDED) &&
            untraced_processes_is_replaced(g->run, line);
    return true;
}
