/* How each thread spent its life: made and not begun, ready to go on, running, blocked, in the
 * system, ended and not gone yet.  The states of a life follow each other without a gap, so they
 * add up to it.
 *
 * Blocked is what a wait took until somebody let the thread go on; ready, from then until it did,
 * and where it could have run and had no processor; running, where it had one; system, what no
 * event accounts for and it had none: asleep, or in a call.  Where only the order is known
 * (server/timing/cpu_states.h) all that no wait accounts for is running, an upper bound. */
#ifndef SERVER_TIMING_THREAD_STATES_H
#define SERVER_TIMING_THREAD_STATES_H

#include "server/timing/cpu_states.h"

#include <stdbool.h>
#include <stdint.h>

enum thread_state_code {
    THREAD_STATE_CREATED, /* made, and did nothing yet */
    THREAD_STATE_RUNNABLE,
    THREAD_STATE_RUNNING,
    THREAD_STATE_BLOCKED,
    THREAD_STATE_OFF_CPU, /* of the order alone there is none */
    THREAD_STATE_EXITED, /* ended, and nobody took note */
    THREAD_STATES
};

const char *thread_state_name(unsigned state); /* "created" */
const char *thread_state_key(unsigned state); /* the same as a part of a column's name */

/* A time in one state, from one change to the next. */
struct thread_state_interval {
    int64_t from_ns, to_ns;
    /* of the event that it begins with, or of the last before it; or UINT64_MAX */
    uint64_t position;
    uint32_t place; /* where in the code that was (code_segments.h), 0 unknown */
    uint32_t about; /* blocked: the line that it waits for, 0 unknown */
    uint8_t state; /* an enum thread_state_code */
    uint8_t unexplained; /* blocked: an enum unattributed_reason */
    uint32_t on; /* running: where, as spans_walk has it (cpu_states.h); 0 not known */
    bool active; /* of the order alone it would be running */
};

/* What is looked at. */
struct lifetimes {
    const struct intervals *all;
    const struct wait_record *open; /* that have not ended, by thread; a thread has one at most */
    size_t open_count;
    const struct cpu_states *spans; /* NULL: the order alone is known */
    enum cpu_state_source source; /* no better one is to be used; CPU_SOURCE_ORDER: the best */
};

/* The life of a thread, as far as it is known; false: nothing is known of it. */
bool thread_states_lifetime(const struct lifetimes *lives, const struct thread_timeline *course,
                            int64_t *from_ns, int64_t *to_ns);

/* Calls visit for each spell of a thread that lies between two times, one after the other; those at
 * the ends are cut. */
void thread_states_visit(const struct lifetimes *lives, const struct thread_timeline *course,
                         int64_t from_ns, int64_t to_ns,
                         void (*visit)(void *context, const struct thread_state_interval *spell),
                         void *context);

/* A time at which a spell begins, some `most` of its intervals after from_ns; INT64_MAX: there is
 * none.  looked: at so many intervals. */
int64_t thread_states_cut(const struct thread_timeline *course, int64_t from_ns, uint64_t most,
                          size_t *looked);

/* What they add up to. */
struct thread_states {
    struct state_sum {
        int64_t total_ns, least_ns, most_ns;
        uint64_t count;
    } of[THREAD_STATES];
    int64_t life_ns;
    int64_t active_ns, let_go_ns; /* as the order alone tells it: running, ready */
    int64_t unexplained_ns; /* of what is blocked and went on: who ended it is not known */
    uint64_t unexplained;
};

void thread_states_sum(const struct lifetimes *lives, const struct thread_timeline *course,
                       int64_t from_ns, int64_t to_ns, struct thread_states *states);
void thread_states_add(struct thread_states *to, const struct thread_states *states);

#endif
