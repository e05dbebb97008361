/* Wait-for graph at the end of the recorded events: which thread waits for which object, and which
 * threads hold it.  hang_diagnosis.h uses it. */
#ifndef SERVER_QUERIES_WAIT_GRAPH_H
#define SERVER_QUERIES_WAIT_GRAPH_H

#include "server/run/run.h"
#include "wire/query_results.h"

struct waiter {
    uint32_t thread, about; /* lines; about: what it waits for, 0: not recorded */
    uint32_t object; /* index of the awaited object */
    /* The thread that by its earlier request of a read-write lock keeps it from reading, which that
     * lock permits else, or which holds the loader's lock, or the mutex of the condition variable;
     * thread 0: none */
    struct holder_info ahead;
    bool at_exit; /* its program exited normally, so it need not resume */
    uint64_t position; /* position of its last event */
    struct event_id at;
    int64_t time_ns;
    enum wait_outcome fate; /* OUTCOME_OPEN until it is diagnosed */
    const struct target_event *look; /* description of that event's type */
    bool end; /* since time_ns it waits for the end of thread `about`, which no event records */
    uint32_t site; /* then: where; as of events */
    bool own; /* on its own line it waits for what other threads do there, as calls of members */
    bool loader; /* since time_ns it sleeps at the loader's lock, which `ahead` holds */
    /* since time_ns it sleeps at a futex; `about` is the once flag of its future if a thread runs
     * the task, or, if `lock`, the lock of which it is the word */
    bool futex, lock;
    /* since time_ns it waits for descriptors that only threads of its process make ready */
    bool polls;
    bool arriving; /* what it waits for may be on its way to it */
    unsigned reach; /* which processes can use what it waits at: as of run_lines_reach() */
};

/* An awaited object: its range of `holders`. */
struct wait_graph_object {
    uint32_t first, count;
};

/* State of the thread of a line: */
enum {
    WAITS_NO_PARTNER, /* no thread acts on the line */
    WAITS_ENDED,
    WAITS_EXITED, /* its program exited normally */
    WAITS_ACTS /* it waits or runs */
};

#define WAITS_RUNS 32u

struct wait_graph {
    const struct run *run;
    uint32_t lines;
    uint8_t *is_thread; /* by line - 1: an enumerator of the above */
    /* The first WAITS_RUNS running threads, and the number of all. */
    uint32_t runs[WAITS_RUNS], run_count;
    /* threads that are in no traced wait, but asleep according to the kernel */
    struct wait_graph_sleeper {
        uint32_t thread;
        int64_t since_ns;
        uint64_t call; /* a value of USAGE_ASLEEP */
    } *asleep;
    uint32_t asleep_count;
    uint32_t *waiter_of; /* by line - 1: 1 + index in `waiters`; 0: it does not wait */
    uint32_t *object_of; /* by line - 1: 1 + index in `objects`; 0: no thread waits for it */
    struct waiter *waiters; /* the longest wait first */
    size_t count;
    struct wait_graph_object *objects;
    size_t object_count;
    struct holder_info *holders;
    size_t holder_count, holder_room;
};

#endif
