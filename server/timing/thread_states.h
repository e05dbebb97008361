/* Thread states: how each thread spent its lifetime: created, runnable, running, blocked, off-CPU
 * (other), exited.  The states follow each other without a gap, so they add up to the lifetime.
 *
 * Blocked is the time from the begin of a wait to its last release.  Runnable is the time from
 * there until the thread resumed, and time in which it had no CPU while it could run.  Running is
 * time on a CPU.  Off-CPU (other) is time without a CPU that no event accounts for: asleep, or in a
 * call that is not traced.  If only the order is known (server/timing/cpu_states.h), all time
 * outside of waits counts as running, an upper bound.
 *
 * A task of a runtime does not wait if its request is granted at once: while it is on its worker
 * thread, it runs, but for the time in which another thread kept the object.
 *
 * All views of states (tables, lists, state bands, charts, findings) are views of these intervals:
 * each thread by its best source, so their sums agree over every range.
 *
 * A thread without a recorded exit lives up to the last record of it: an event, a context switch, a
 * sample of its CPU time, or a reading of its function profile that finds it in a call. */
#ifndef SERVER_TIMING_THREAD_STATES_H
#define SERVER_TIMING_THREAD_STATES_H

#include "server/timing/cpu_states.h"
#include "wire/thread_state_names.h"

#include <stdbool.h>
#include <stdint.h>

struct call_contexts;

const char *thread_state_accuracy(unsigned accuracy); /* an enum cpu_state_accuracy: "exact" */

/* A state interval: the time between two changes. */
struct thread_state_interval {
    int64_t from_ns, to_ns;
    /* of the event that it begins with, or of the last before it; or UINT64_MAX */
    uint64_t position;
    uint32_t place; /* call site of that event (code_segments.h), 0 unknown */
    uint32_t about; /* blocked: the awaited line, 0 unknown */
    uint8_t state; /* an enum thread_state_code */
    uint8_t unexplained; /* blocked: an enum unattributed_reason */
    uint32_t on; /* running: where, as in struct cpu_state_walk (cpu_states.h); 0 unknown */
    uint8_t accuracy; /* an enum cpu_state_accuracy */
    bool active; /* by the order alone it would be running */
    /* It begins at a switch of a task, not at the event; left: as in struct placement_interval */
    bool switched;
    uint32_t left;
};

/* Data that the states are computed from. */
struct lifetimes {
    const struct intervals *all;
    /* waits that have not ended, by thread; at most one per thread */
    const struct wait_record *open;
    size_t open_count;
    const struct cpu_states *spans; /* NULL: only the order is known */
    enum cpu_state_source source; /* use no better source than this; CPU_SOURCE_ORDER: the best */
    /* Sources that show that a thread without an exit still lived, whatever that of its states: */
    const struct cpu_states *records; /* NULL: nothing */
    const struct call_contexts *calls; /* NULL: nothing */
    /* Returns when exec replaced the program of a line, of which later records tell nothing;
     * INTERVALS_NEVER if it did not.  NULL: no program was replaced. */
    int64_t (*replaced_ns)(const void *run, uint32_t line);
    const void *run; /* its argument */
    uint64_t start_ns; /* begin of the run on the clock of the function profile */
};

/* Sets the known lifetime of a thread; returns false if nothing is known of it. */
bool thread_states_lifetime(const struct lifetimes *lives, const struct thread_timeline *course,
                            int64_t *from_ns, int64_t *to_ns);

/* Returns the time of the last record of a thread that has no exit event, other than its events;
 * INTERVALS_NEVER if there is none. */
int64_t thread_states_alive_until(const struct lifetimes *lives,
                                  const struct thread_timeline *course);

/* Returns the wait of a thread that has not ended, or NULL. */
const struct wait_record *thread_states_open_wait(const struct lifetimes *lives, uint32_t thread);

/* Returns whether a task runs in this part of a wait while it is on its worker thread: no other
 * thread kept what it requested. */
bool thread_states_request_runs(const struct lifetimes *lives, const struct thread_timeline *course,
                                const struct interval *item);
/* Calls `visit` for each state interval of a thread between two times, in ascending order; those at
 * the ends are clipped. */
void thread_states_visit(const struct lifetimes *lives, const struct thread_timeline *course,
                         int64_t from_ns, int64_t to_ns,
                         void (*visit)(void *context, const struct thread_state_interval *spell),
                         void *context);

/* Returns the begin of a state interval about `most` intervals after from_ns; INT64_MAX if there is
 * none. *looked: number of intervals visited. */
int64_t thread_states_cut(const struct lifetimes *lives, const struct thread_timeline *course,
                          int64_t from_ns, uint64_t most, size_t *looked);

/* Sums of the states. */
struct thread_states {
    struct state_sum {
        int64_t total_ns, least_ns, most_ns;
        uint64_t count;
    } of[THREAD_STATES];
    int64_t life_ns;
    int64_t active_ns, let_go_ns; /* by the order alone: running, runnable */
    int64_t estimated_ns; /* part of running that was not measured, an upper bound */
    int64_t unexplained_ns; /* part of blocked in waits that ended: unattributed time */
    uint64_t unexplained;
};

void thread_states_sum(const struct lifetimes *lives, const struct thread_timeline *course,
                       int64_t from_ns, int64_t to_ns, struct thread_states *states);
void thread_states_add(struct thread_states *to, const struct thread_states *states);

#endif
