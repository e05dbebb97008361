/* Wait-for graph of the threads of a snapshot, and of other processes that have the same pipes,
 * sockets, queues and files: which threads could end the wait of each, which threads can never
 * resume, and cycles.
 *
 * A thread is stuck if its wait is closed (only known threads can end it) and all of these are
 * stuck: the greatest set for which that holds. O(threads * edges). Any other thread of the process
 * can end a wait at a private futex: it lasts if all threads of the process are stuck. */
#ifndef CLIENTS_SNAPSHOT_WAIT_FOR_GRAPH_H
#define CLIENTS_SNAPSHOT_WAIT_FOR_GRAPH_H

#include "clients/snapshot/proc_file.h"
#include "clients/snapshot/thread_stack.h"

/* ---- objects of glibc: glibc_object.c ---- */

/* NAME, letter and word of its label; type and verb of a wait for it, as in config/pthread.conf */
#define WAIT_KINDS(A)                                                                              \
    A(NONE, "", "", "", "")                                                                        \
    A(MUTEX, "M", "mutex", "acquire", "requests")                                                  \
    A(STREAM_LOCK, "M", "stream lock", "acquire", "requests")                                      \
    A(RWLOCK_READ, "RW", "read-write lock", "acquire", "requests")                                 \
    A(RWLOCK_WRITE, "RW", "read-write lock", "acquire", "requests")                                \
    A(CONDITION, "CV", "condition variable", "wait", "waits on")                                   \
    A(CONDITION_IN_USE, "CV", "condition variable", "destroy", "waits to destroy")                 \
    A(SEMAPHORE, "Sem", "semaphore", "acquire", "requests")                                        \
    A(BARRIER, "B", "barrier", "arrive", "arrives at")                                             \
    A(ONCE, "O", "once", "wait", "waits on")                                                       \
    A(JOIN, "T", "thread", "join", "waits to join")                                                \
    A(FUTURE, "", "future", "wait", "waits for the result of")                                     \
    A(FUTEX, "", "futex", "wait", "waits on")                                                      \
    A(PIPE_READ, "S", "pipe", "empty", "waits for bytes from")                                     \
    A(PIPE_WRITE, "S", "pipe", "full", "waits for buffer space in")                                \
    A(FIFO_READ, "S", "FIFO", "empty", "waits for bytes from")                                     \
    A(FIFO_WRITE, "S", "FIFO", "full", "waits for buffer space in")                                \
    A(OPEN_READ, "S", "FIFO", "open", "waits for a writer of")                                     \
    A(OPEN_WRITE, "S", "FIFO", "open", "waits for a reader of")                                    \
    A(SOCKET_READ, "S", "socket", "empty", "waits for bytes from")                                 \
    A(SOCKET_WRITE, "S", "socket", "full", "waits for buffer space in")                            \
    A(EVENTFD, "E", "eventfd", "empty", "waits for bytes from")                                    \
    A(QUEUE_RECEIVE, "Q", "message queue", "empty", "waits for a message from")                    \
    A(QUEUE_SEND, "Q", "message queue", "full", "waits for buffer space in")                       \
    A(MESSAGE_RECEIVE, "Q", "message queue", "empty", "waits for a message from")                  \
    A(MESSAGE_SEND, "Q", "message queue", "full", "waits for buffer space in")                     \
    A(SET_SEMAPHORE, "Sem", "semaphore", "acquire", "requests")                                    \
    A(FILE_LOCK, "F", "file", "acquire", "requests")                                               \
    A(CHILD, "", "process", "waitpid", "waits for the end of")

enum wait_kind {
#define A(NAME, letter, word, type, verb) WAIT_##NAME,
    WAIT_KINDS(A)
#undef A
        WAIT_KIND_COUNT
};

struct glibc_object {
    enum wait_kind kind; /* WAIT_NONE: the thread does not sleep at a futex */
    uint64_t address; /* of the object; of a joined thread: its number */
    uint32_t owner; /* inner thread number; 0: none, or unknown */
    bool shared; /* between processes */
    bool robust; /* its waiters resume when the owner exits */
    bool timed;
    bool awake; /* the futex has changed: the wait is about to end */
    bool changed; /* it has changed, and the thread sleeps on: no thread has woken it */
    bool by_content; /* no function name confirms what it is */
    bool of_loader; /* it is in the memory of the dynamic loader */
    uint32_t count, total; /* rwlock: readers; barrier: arrived, of all; semaphore: value */
};

/* Returns the object at a futex of which a thread sleeps. */
struct glibc_object glibc_object_of(const struct snapshot *snapshot,
                                    const struct snapshot_thread *thread,
                                    const struct thread_stack *stack, struct symbolizer *sites);
/* Returns what a function of the C or C++ library waits for, by its name without leading
 * underscores; WAIT_NONE: it is not such a function. */
enum wait_kind glibc_object_kind(const char *function);
/* Returns the number of the call in which a thread is: of one that the kernel restarts after a
 * stop, under another number, by the functions of the stack. */
int64_t glibc_object_call(const struct snapshot_thread *thread, const struct thread_stack *stack,
                          struct symbolizer *sites);
/* Returns whether a thread runs the initializer of a once flag: a function of glibc below the
 * application's has its address in its registers or its part of the stack. */
bool glibc_object_runs_once(const struct snapshot *snapshot, const struct thread_stack *stack,
                            struct symbolizer *sites, uint64_t address);

const char *wait_kind_letter(enum wait_kind kind);
const char *wait_kind_word(enum wait_kind kind);
const char *wait_kind_type(enum wait_kind kind);
const char *wait_kind_verb(enum wait_kind kind);
/* Returns " for reading", " for writing", or "". */
const char *wait_kind_mode(enum wait_kind kind);

/* ---- the graph ---- */

struct wait_node {
    uint32_t pid, tid;
    const struct snapshot_thread *own; /* NULL: a thread of another process */
    struct system_call call;
    struct glibc_object object; /* for those of the kernel, its number is the address */
    uint64_t far; /* of a socket: the other end; of a file: the lock in the way */
    bool open; /* also something else than a process that has the object can end the wait */
    bool linked; /* a process can open it by its name */
    char *name, *fact; /* of an object of the kernel; NULL: none */
    bool closed, stuck;
    /* only threads of its process can end the wait; or the thread has exited */
    bool internal;
    uint32_t *blockers; /* indices of nodes; those at the far end of a socket first */
    uint32_t blocker_count, far_count;
};

struct wait_cycle {
    uint32_t *nodes; /* each waits for the next */
    uint32_t count;
};

struct wait_for_graph {
    const struct snapshot *snapshot;
    const struct thread_stack *stacks; /* of its threads, while the graph is built */
    struct symbolizer *sites;
    struct wait_node *nodes; /* the threads of the snapshot first, in its order */
    uint32_t count;
    struct wait_cycle *cycles;
    uint32_t cycle_count;
    struct process_table processes; /* empty unless a thread waits for another process */
    bool processes_known;
    /* No thread of the process can end another one's wait, unless a signal handler does: certain
     * without handlers. */
    bool all_wait, handlers;
    bool uncertain; /* processes that are not seen here can have the same objects */
    uint32_t
        reopened; /* index of a stuck node with an object that another process can open; or count */
};

/* stacks: of the threads of the snapshot. */
void wait_for_graph_build(struct wait_for_graph *graph, const struct snapshot *snapshot,
                          const struct thread_stack *stacks, struct symbolizer *sites);
void wait_for_graph_free(struct wait_for_graph *graph);
/* Marks stuck nodes and lists cycles. */
void wait_for_graph_conclude(struct wait_for_graph *graph);
/* Returns whether a node waits for a lock with an owner that is not a thread of its process. */
bool wait_node_is_abandoned(const struct wait_node *node);
/* Returns the number of threads of the snapshot that wait for the same object. */
uint32_t wait_for_graph_waiters(const struct wait_for_graph *graph, const struct wait_node *node);

#endif
