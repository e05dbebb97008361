#define _GNU_SOURCE
#include "clients/snapshot/wait_for_graph.h"

#include "base/alloc.h"
#include "clients/snapshot/kernel_object.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROCESSES_MOST 64u /* of which the threads are read */
#define THREADS_MOST 20000u
#define TRIES 100u /* until released threads are asleep again */
#define TRY_US 2000u

/* ---- waits ---- */

/* Finds what a thread waits for if that is not a futex. */
static void graph_set_call(struct wait_node *node)
{
    struct kernel_object is = kernel_object_of(node->pid, &node->call);
    node->object.kind = is.kind;
    node->object.address = is.number;
    node->object.timed = is.timed;
    node->far = is.far;
    node->open = is.open || is.timed;
    node->linked = is.linked;
    if (!is.kind)
        return;
    node->name = *is.name ? xasprintf("%s:%s", wait_kind_letter(is.kind), is.name) : NULL;
    node->fact = *is.fact ? xstrdup(is.fact) : NULL;
}

static bool graph_is_of_processes(enum wait_kind kind) { return kind >= WAIT_PIPE_READ; }

/* ---- which threads can end a wait ---- */

static void graph_read_processes(struct wait_for_graph *g)
{
    if (!g->processes_known)
        process_table_read(&g->processes);
    g->processes_known = true;
}

/* Returns whether the owner of a lock between processes is not a thread of any process. Numbers in
 * another PID name space are not known. */
static bool graph_has_exited(struct wait_for_graph *g, uint32_t owner)
{
    if (g->snapshot->core >= 0)
        return false;
    graph_read_processes(g);
    return !g->processes.partial && !g->processes.inner && !proc_file_status(owner).process;
}

static void graph_add_owner(struct wait_for_graph *g, struct wait_node *node)
{
    const struct glibc_object *o = &node->object;
    const struct snapshot_thread *owner = snapshot_thread_of(g->snapshot, o->owner);
    if (!o->owner || o->timed || o->awake)
        return;
    if (owner)
        ARRAY_PUSH(node->blockers, node->blocker_count, (uint32_t)(owner - g->snapshot->threads));
    node->closed = owner || (o->kind != WAIT_JOIN && !o->robust &&
                             (!o->shared || graph_has_exited(g, o->owner)));
}

bool wait_node_is_abandoned(const struct wait_node *node)
{
    return node->closed && !node->blocker_count;
}

/* Adds the thread that runs the initializer of a once flag, by its stack. */
static void graph_add_initializer(struct wait_for_graph *g, struct wait_node *node)
{
    const struct snapshot *s = g->snapshot;
    for (size_t i = 0; i < s->thread_count && !node->blocker_count; i++)
        if (glibc_object_runs_once(s, &g->stacks[i], g->sites, node->object.address)) {
            node->object.owner = s->threads[i].inner_tid;
            ARRAY_PUSH(node->blockers, node->blocker_count, (uint32_t)i);
        }
    node->closed = node->blocker_count;
}

/* Adds the threads that wait for a condition variable, which have to return before it is
 * destroyed. */
static void graph_add_users(struct wait_for_graph *g, struct wait_node *node)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->nodes[i].own && g->nodes[i].object.kind == WAIT_CONDITION &&
            g->nodes[i].object.address == node->object.address)
            ARRAY_PUSH(node->blockers, node->blocker_count, i);
    node->closed = node->blocker_count;
}

/* Returns whether only threads of the process can wake the waiters of a futex: it is private, or in
 * memory that is. */
static bool graph_is_private(const struct snapshot *s, const struct wait_node *node)
{
    const struct snapshot_mapping *m = snapshot_mapping_at(s, node->call.arguments[0]);
    return node->call.arguments[1] & FUTEX_PRIVATE_FLAG || node->object.kind == WAIT_JOIN ||
           (m && s->core < 0 && !m->shared);
}

static void graph_add_threads(struct wait_for_graph *g, struct wait_node *node)
{
    const struct glibc_object *o = &node->object;
    bool futex = node->call.number == SYS_futex && o->kind && !o->timed && !o->awake;
    if (o->kind == WAIT_ONCE && futex)
        graph_add_initializer(g, node);
    else if (o->kind == WAIT_CONDITION_IN_USE && futex)
        graph_add_users(g, node);
    else
        graph_add_owner(g, node);
    bool ended = node->own->state == 'Z' || node->own->state == 'X';
    node->internal = ended || (futex && graph_is_private(g->snapshot, node));
}

/* Adds the threads of a process as nodes, if it has none yet. */
static void graph_add_process(struct wait_for_graph *g, uint32_t pid)
{
    uint32_t count;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->nodes[i].pid == pid)
            return;
    struct sleeping_thread *threads = process_table_threads(pid, &count);
    for (uint32_t i = 0; i < count && g->count < THREADS_MOST; i++) {
        struct wait_node node = {.pid = pid, .tid = threads[i].tid};
        node.call = threads[i].call;
        if (!threads[i].asleep)
            node.call.number = -1;
        graph_set_call(&node);
        ARRAY_PUSH(g->nodes, g->count, node);
    }
    free(threads);
}

static void graph_block_by_process(struct wait_for_graph *g, uint32_t at, uint32_t pid)
{
    graph_add_process(g, pid);
    for (uint32_t i = 0; i < g->count; i++)
        if (g->nodes[i].pid == pid)
            ARRAY_PUSH(g->nodes[at].blockers, g->nodes[at].blocker_count, i);
}

/* Returns whether a descriptor can end a wait: at the far end of a socket, or else at its own,
 * which its process can shut down. */
static bool graph_end_can_end(const struct wait_node *node, const struct descriptor_end *end,
                              bool far)
{
    enum wait_kind kind = node->object.kind;
    if (end->type != kernel_object_type(kind))
        return false;
    if (kind == WAIT_SOCKET_READ || kind == WAIT_SOCKET_WRITE)
        return far ? node->far && end->number == node->far : end->number == node->object.address;
    if (end->number != node->object.address || !far)
        return false;
    if (kind == WAIT_FILE_LOCK)
        return end->lock == node->far;
    bool reads = kind == WAIT_PIPE_READ || kind == WAIT_FIFO_READ || kind == WAIT_QUEUE_RECEIVE ||
                 kind == WAIT_EVENTFD;
    return reads ? end->writes : end->reads;
}

/* Returns whether a process has such a descriptor, or is a child that a thread waits for. */
static bool graph_process_can_end(const struct wait_for_graph *g, const struct wait_node *node,
                                  const struct table_process *process, bool far)
{
    const struct process_table *table = &g->processes;
    if (node->object.kind == WAIT_CHILD)
        return far && ((int64_t)node->object.address > 0 ? process->pid == node->object.address
                                                         : process->parent == node->pid);
    for (uint32_t i = 0; i < table->end_count; i++)
        if (table->ends[i].pid == process->pid && graph_end_can_end(node, &table->ends[i], far))
            return true;
    return false;
}

static uint32_t graph_add_ends(struct wait_for_graph *g, uint32_t at, bool far)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < g->processes.process_count; i++) {
        const struct table_process *process = &g->processes.processes[i];
        if (!graph_process_can_end(g, &g->nodes[at], process, far))
            continue;
        if (++found <= PROCESSES_MOST)
            graph_block_by_process(g, at, process->pid);
    }
    return found;
}

static void graph_add_processes(struct wait_for_graph *g, uint32_t at)
{
    bool some = g->nodes[at].object.kind == WAIT_CHILD && !g->nodes[at].object.address;
    uint32_t found = some ? 0 : graph_add_ends(g, at, true);
    g->nodes[at].far_count = g->nodes[at].blocker_count;
    uint32_t more = found ? graph_add_ends(g, at, false) : 0;
    g->nodes[at].closed =
        found && found <= PROCESSES_MOST && more <= PROCESSES_MOST && !g->nodes[at].open;
}

/* ---- conclusions ---- */

/* Returns whether the wait is closed and all that could end it are stuck. */
static bool graph_is_stuck(const struct wait_for_graph *g, const struct wait_node *node)
{
    bool stuck = node->closed;
    for (uint32_t i = 0; stuck && i < node->blocker_count; i++)
        stuck = g->nodes[node->blockers[i]].stuck;
    return stuck;
}

static bool graph_all_own_stuck(const struct wait_for_graph *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->nodes[i].own && !g->nodes[i].stuck)
            return false;
    return true;
}

/* internal: waits that any thread of the process can end count, too. */
static void graph_mark_stuck(struct wait_for_graph *g, bool internal)
{
    for (uint32_t i = 0; i < g->count; i++)
        g->nodes[i].stuck = g->nodes[i].closed || (internal && g->nodes[i].internal);
    for (bool more = true; more;) {
        bool all = internal && graph_all_own_stuck(g);
        more = false;
        for (uint32_t i = 0; i < g->count; i++)
            if (g->nodes[i].stuck && !(all && g->nodes[i].internal) &&
                !graph_is_stuck(g, &g->nodes[i])) {
                g->nodes[i].stuck = false;
                more = true;
            }
    }
}

/* Returns whether a signal handler may run in the process, but for those of the C library and of
 * signals that a thread causes itself. */
static bool graph_has_handlers(const struct snapshot *s)
{
    static const int own[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, 32, 33};
    uint64_t caught = s->core < 0 ? proc_file_status(s->pid).caught : UINT64_MAX;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        caught &= ~(UINT64_C(1) << (own[i] - 1));
    return caught != 0;
}

/* Looks whether all threads of the process wait for each other. A signal handler may wake one of
 * them. */
static void graph_find_all_waiting(struct wait_for_graph *g)
{
    graph_mark_stuck(g, true);
    g->all_wait = g->snapshot->thread_count && graph_all_own_stuck(g);
    g->handlers = g->all_wait && graph_has_handlers(g->snapshot);
    if (!g->all_wait || g->handlers)
        graph_mark_stuck(g, false);
}

/* Returns the index of a node that another one waits for: another one if there is one, and that
 * does not just wait for the end of a thread; UINT32_MAX: none. */
static uint32_t graph_next(const struct wait_for_graph *g, uint32_t at)
{
    const struct wait_node *node = &g->nodes[at];
    uint32_t next = node->blocker_count ? at : UINT32_MAX;
    for (uint32_t i = 0; i < node->blocker_count; i++) {
        uint32_t by = node->blockers[i];
        if (by != at && g->nodes[by].object.kind != WAIT_JOIN)
            return by;
        next = by != at && next == at ? by : next;
    }
    return next;
}

static void graph_add_cycle(struct wait_for_graph *g, uint32_t first)
{
    struct wait_cycle cycle = {0};
    uint32_t at = first;
    do {
        ARRAY_PUSH(cycle.nodes, cycle.count, at);
        at = graph_next(g, at);
    } while (at != first);
    ARRAY_PUSH(g->cycles, g->cycle_count, cycle);
}

/* Follows each stuck node until one is met again. */
static void graph_find_cycles(struct wait_for_graph *g)
{
    uint32_t *seen = xcalloc(g->count, sizeof *seen);
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t at = i;
        while (at != UINT32_MAX && g->nodes[at].stuck && !seen[at]) {
            seen[at] = i + 1;
            at = graph_next(g, at);
        }
        if (at != UINT32_MAX && g->nodes[at].stuck && seen[at] == i + 1 && g->nodes[i].stuck)
            graph_add_cycle(g, at);
    }
    free(seen);
}

void wait_for_graph_conclude(struct wait_for_graph *g)
{
    graph_mark_stuck(g, false);
    graph_find_cycles(g);
    if (g->snapshot)
        graph_find_all_waiting(g);
}

/* ---- verification ---- */

/* Returns whether two reads of a thread of a running process show it asleep in the node's call. */
static bool graph_is_in_call(const struct wait_node *node, struct sleeping_thread *now)
{
    return now->asleep && now->call.number == node->call.number &&
           memcmp(now->call.arguments, node->call.arguments, 3 * sizeof now->call.arguments[0]) ==
               0;
}

static struct sleeping_thread graph_read_again(const struct wait_node *node)
{
    struct sleeping_thread is = {.tid = node->tid};
    for (unsigned i = 0; i < TRIES; i++) {
        process_table_read_thread(node->pid, &is);
        if (graph_is_in_call(node, &is))
            break;
        usleep(TRY_US);
    }
    return is;
}

/* Threads of several processes are not stopped together. Those that did not run between two reads
 * of all of them were blocked at one instant; the others are not stuck. */
static void graph_verify(struct wait_for_graph *g)
{
    struct sleeping_thread *first = xcalloc(g->count, sizeof *first);
    for (uint32_t i = 0; i < g->count; i++)
        if (g->nodes[i].stuck)
            first[i] = graph_read_again(&g->nodes[i]);
    for (uint32_t i = 0; i < g->count; i++)
        if (g->nodes[i].stuck && (!graph_is_in_call(&g->nodes[i], &first[i]) ||
                                  !process_table_still_sleeps(g->nodes[i].pid, &first[i])))
            g->nodes[i].closed = false;
    free(first);
}

static bool graph_is_stuck_by_processes(const struct wait_for_graph *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->nodes[i].stuck && graph_is_of_processes(g->nodes[i].object.kind))
            return true;
    return false;
}

/* ---- all of it ---- */

static void graph_add_own(struct wait_for_graph *g, size_t i, const struct thread_stack *stack,
                          struct symbolizer *sites)
{
    const struct snapshot_thread *t = &g->snapshot->threads[i];
    struct wait_node node = {.pid = g->snapshot->pid, .tid = t->tid, .own = t, .call = t->call};
    if (!t->in_kernel)
        node.call.number = -1;
    else
        node.object = glibc_object_of(g->snapshot, t, stack, sites);
    if (!node.object.kind && g->snapshot->core < 0)
        graph_set_call(&node);
    ARRAY_PUSH(g->nodes, g->count, node);
}

/* Adds what ends the waits of nodes, also of those that this adds. */
static void graph_add_blockers(struct wait_for_graph *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (!graph_is_of_processes(g->nodes[i].object.kind)) {
            if (g->nodes[i].own)
                graph_add_threads(g, &g->nodes[i]);
            continue;
        }
        graph_read_processes(g);
        graph_add_processes(g, i);
    }
}

void wait_for_graph_build(struct wait_for_graph *g, const struct snapshot *s,
                          const struct thread_stack *stacks, struct symbolizer *sites)
{
    *g = (struct wait_for_graph){.snapshot = s, .stacks = stacks, .sites = sites};
    for (size_t i = 0; i < s->thread_count; i++)
        graph_add_own(g, i, &stacks[i], sites);
    graph_add_blockers(g);
    graph_mark_stuck(g, true);
    if (graph_is_stuck_by_processes(g)) {
        graph_verify(g);
        graph_mark_stuck(g, true);
        g->uncertain =
            (g->processes.partial || g->processes.hidden_count) && graph_is_stuck_by_processes(g);
    }
    wait_for_graph_conclude(g);
    for (g->reopened = 0; g->reopened < g->count; g->reopened++)
        if (g->nodes[g->reopened].stuck && g->nodes[g->reopened].linked)
            break;
    g->stacks = NULL;
    g->sites = NULL;
}

void wait_for_graph_free(struct wait_for_graph *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        free(g->nodes[i].blockers);
        free(g->nodes[i].name);
        free(g->nodes[i].fact);
    }
    for (uint32_t i = 0; i < g->cycle_count; i++)
        free(g->cycles[i].nodes);
    free(g->nodes);
    free(g->cycles);
    process_table_free(&g->processes);
    *g = (struct wait_for_graph){0};
}

uint32_t wait_for_graph_waiters(const struct wait_for_graph *g, const struct wait_node *node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->count; i++)
        count += g->nodes[i].pid == node->pid && g->nodes[i].object.kind &&
                 g->nodes[i].object.address == node->object.address;
    return count;
}
