/* Wait-for graph of the threads of a snapshot, and of other processes at the ends of their pipes:
 * which threads could end the wait of each, which threads can never resume, and cycles.
 *
 * A thread is stuck if its wait is closed (only known threads can end it) and all of these are
 * stuck: the greatest set for which that holds. O(threads * edges). */
#ifndef CLIENTS_SNAPSHOT_WAIT_FOR_GRAPH_H
#define CLIENTS_SNAPSHOT_WAIT_FOR_GRAPH_H

#include "clients/snapshot/glibc_object.h"
#include "clients/snapshot/process_table.h"

struct wait_node {
    uint32_t pid, tid;
    const struct snapshot_thread *own; /* NULL: a thread of another process */
    struct system_call call;
    struct glibc_object object; /* for a pipe or a child, its number is the address */
    bool closed, stuck;
    uint32_t *blockers; /* indices of nodes */
    uint32_t blocker_count;
};

struct wait_cycle {
    uint32_t *nodes; /* each waits for the next */
    uint32_t count;
};

struct wait_for_graph {
    const struct snapshot *snapshot;
    struct wait_node *nodes; /* the threads of the snapshot first, in its order */
    uint32_t count;
    struct wait_cycle *cycles;
    uint32_t cycle_count;
    struct process_table processes; /* empty unless a thread waits for another process */
    bool processes_known;
    bool uncertain; /* processes that are not seen here can hold ends of the pipes */
};

/* stacks: of the threads of the snapshot. */
void wait_for_graph_build(struct wait_for_graph *graph, const struct snapshot *snapshot,
                          const struct thread_stack *stacks, struct symbolizer *sites);
void wait_for_graph_free(struct wait_for_graph *graph);
/* Returns the wait of a call that is not made for a futex: of a pipe, or of a child process. */
enum wait_kind wait_for_graph_call_kind(const struct system_call *call, uint64_t pipe);
/* Marks stuck nodes and lists cycles. */
void wait_for_graph_conclude(struct wait_for_graph *graph);
/* Returns whether a node waits for a lock whose owner is no thread of its process. */
bool wait_node_is_abandoned(const struct wait_node *node);
/* Returns the number of threads of the snapshot that wait for the same object. */
uint32_t wait_for_graph_waiters(const struct wait_for_graph *graph, const struct wait_node *node);

#endif
