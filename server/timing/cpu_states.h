/* CPU states of threads: running on a CPU, runnable without one, or off-CPU (other) (asleep, or in
 * a wait that is not traced), for times in which the order says only that the thread ran.
 *
 * There are several sources, and for each thread the best one is used:
 * - switches: the kernel's context switches, with whether the thread was preempted.  Exact, except
 *   that the time from a wake-up by the kernel until the thread gets a CPU is not distinguished and
 *   counts as off-CPU (other);
 * - the CPU clock at events: the CPU time at some events, at least 4 us apart.  The running time
 *   between two of them is exact; it is placed at the begin of the gap, which is right where events
 *   are dense, as the thread spent its time without a CPU in the last gap.  The runnable part of
 *   the rest is distributed as the samples say; without samples all of the rest is off-CPU (other);
 * - samples: accumulated running and runnable time at some times.  Between two of them only
 *   durations are known: running is placed first, then runnable, then off-CPU (other).  Each border
 *   may be off by the time between two samples, and sums over a range by as much at either end.
 *   The last sample of a thread is its own at its exit, so the sum over its lifetime is its CPU
 *   time.  Time that it ran in waits is not distinguished: it counts if there is room outside;
 * - the order alone: the thread ran all the time, an upper bound.
 *
 * For a task of a runtime it is known exactly when it was on a worker thread (placements.h).  That
 * counts as switches do: the task ran while it was on one, and was runnable while it could have
 * been.
 *
 * Threads are identified by their lines; times are ns of the run. */
#ifndef SERVER_TIMING_CPU_STATES_H
#define SERVER_TIMING_CPU_STATES_H

#include "server/timing/intervals.h"
#include "server/timing/placements.h"
#include "wire/os_usage.h"

#include <stdbool.h>
#include <stdint.h>

enum cpu_state_source {
    CPU_SOURCE_ORDER,
    CPU_SOURCE_SAMPLES,
    CPU_SOURCE_CLOCK,
    CPU_SOURCE_SWITCHES,
    CPU_SOURCE_SOURCES
};

enum cpu_state {
    CPU_STATE_RUNNING, /* on a CPU; by the order alone an upper bound */
    CPU_STATE_RUNNABLE,
    CPU_STATE_OTHER
};

/* Accuracy with which the state of a time is known. */
enum cpu_state_accuracy {
    CPU_STATE_EXACT,
    /* its share of a longer time is measured; where in it the state begins is assumed */
    CPU_STATE_SHARE,
    CPU_STATE_ESTIMATE, /* nothing was measured: running, an upper bound */
    CPU_STATE_ACCURACIES
};

enum switch_kind {
    SWITCH_ON, /* it got a CPU */
    SWITCH_OUT, /* it was preempted */
    SWITCH_ASLEEP, /* it gave up the CPU */
    SWITCH_LOST, /* events were lost: nothing is known until the next switch */
    SWITCH_KINDS
};

struct cpu_states;

struct cpu_states *cpu_states_new(void);
void cpu_states_free(struct cpu_states *spans); /* NULL: nothing */

/* ---- filling: in ascending time per thread ---- */

/* Records a context switch.  Drops one that is earlier than the thread's last; beyond the limit
 * drops and counts all. cpu: UINT_MAX if it is not known. */
void cpu_states_switched(struct cpu_states *spans, uint32_t line, enum switch_kind what,
                         unsigned cpu, int64_t at_ns);
/* Records the call in which the thread was seen sleeping: a value of USAGE_ASLEEP. */
void cpu_states_note_sleep(struct cpu_states *spans, uint32_t line, uint64_t call, int64_t at_ns);
/* Records an address for the sleep at a futex that was recorded last. */
void cpu_states_note_futex(struct cpu_states *states, uint32_t line, enum usage_futex_fact fact,
                           uint64_t address);
/* Returns an address for the futex at which a thread was seen sleeping; 0: not known. */
uint64_t cpu_states_futex(const struct cpu_states *states, uint32_t line,
                          enum usage_futex_fact fact);
/* Records that a thread that sleeps at the loader's lock was seen to wait for that one. */
void cpu_states_note_lock_holder(struct cpu_states *states, uint32_t line, uint32_t holder,
                                 int64_t at_ns);
/* Records the accumulated running time or, with `delay`, runnable time at a time. last: the thread
 * exited and reported the value itself. */
void cpu_states_sampled(struct cpu_states *spans, uint32_t line, bool delay, int64_t at_ns,
                        uint64_t ns, bool last);
/* Records how long the thread ran before its first event. */
void cpu_states_ran_before(struct cpu_states *spans, uint32_t line, uint64_t ns);
/* Records the thread's CPU clock at one of its events. unknown_before: how long it ran before that
 * is not known. */
void cpu_states_clocked(struct cpu_states *spans, uint32_t line, int64_t at_ns, uint64_t ran_ns,
                        bool unknown_before);
void cpu_states_lost(struct cpu_states *spans, uint64_t switches); /* counts lost switches */
/* Records why there are no switches; `why` is copied. */
void cpu_states_unavailable(struct cpu_states *spans, const char *why);

/* Returns the placements of tasks, made on first use, for filling. */
struct placements *cpu_states_placements(struct cpu_states *spans);

/* ---- reading: with spans NULL only the order is known ---- */

/* Returns the best source for a thread, but none better than `most`; CPU_SOURCE_ORDER: no limit. */
enum cpu_state_source cpu_states_best(const struct cpu_states *spans, uint32_t line,
                                      enum cpu_state_source most);
/* Returns the longest time between two samples of a thread that overlaps a range; 0 if it has none.
 */
int64_t cpu_states_sample_gap_ns(const struct cpu_states *spans, uint32_t line, int64_t from_ns,
                                 int64_t to_ns);
/* Returns, for the CPU clock at events, how much running or other time between two events may be
 * placed wrongly, at most. */
int64_t cpu_states_uncertainty_ns(const struct cpu_states *spans,
                                  const struct thread_timeline *course, int64_t from_ns,
                                  int64_t to_ns);
/* Returns whether there are samples of its runnable time. */
bool cpu_states_delays(const struct cpu_states *spans, uint32_t line);
/* Returns the placements of tasks, or NULL if there are none. */
const struct placements *cpu_states_tasks(const struct cpu_states *spans);
/* Returns whether the line is a task with known placements. */
bool cpu_states_is_placed_task(const struct cpu_states *spans, uint32_t line);
/* Returns whether the CPU of any switch is known. */
bool cpu_states_cpus(const struct cpu_states *spans);
uint64_t cpu_states_lost_count(const struct cpu_states *spans);
/* Returns the maximum number of switches kept, of all threads, if some were lost because of it;
 * else 0. */
uint64_t cpu_states_max_switches(const struct cpu_states *spans);
/* Returns why there are no switches, or NULL if that is not known. */
const char *cpu_states_missing_reason(const struct cpu_states *spans);
/* Returns how long in a range a thread had no CPU, after it was preempted, while one other thread
 * of `all` ran on the CPU that it had: the one that did so longest, *by. 0: none did so for at
 * least `least_ns` (above 0), or the CPUs of context switches are not known. */
int64_t cpu_states_displaced_ns(const struct cpu_states *spans, const struct intervals *all,
                                uint32_t line, int64_t from_ns, int64_t to_ns, int64_t least_ns,
                                uint32_t *by);
/* Returns the time up to which a thread is known; INT64_MAX if only the order is. */
int64_t cpu_states_known_ns(const struct cpu_states *spans, uint32_t line);

/* Returns the time of a thread's last context switch or sample: it existed then.  INTERVALS_NEVER
 * if there is none, or if it is a placed task. */
int64_t cpu_states_last_ns(const struct cpu_states *spans, uint32_t line);
/* Returns whether, as the last that is known of it, a thread gave up its CPU, and sets *since_ns.
 * Uses context switches; without any, sampling from outside. *call: a value of USAGE_ASLEEP, if
 * the thread was seen in that call since then. end_ns: when the whole run had exited, 0 if it has
 * not; a thread that is killed while asleep gets a CPU once more, to exit. */
bool cpu_states_asleep(const struct cpu_states *spans, uint32_t line, int64_t end_ns,
                       int64_t *since_ns, uint64_t *call);
/* Returns the thread that holds the loader's lock, at which a thread sleeps, and sets *since_ns to
 * when it went to sleep and *held_ns to when both slept; 0 if it is not known, or may have released
 * the lock since. */
uint32_t cpu_states_lock_holder(const struct cpu_states *states, uint32_t line, int64_t end_ns,
                                int64_t *since_ns, int64_t *held_ns);
/* Returns when a thread was seen in the call in which it then sleeps; INT64_MIN if it was not. */
int64_t cpu_states_seen_asleep_ns(const struct cpu_states *spans, uint32_t line, int64_t end_ns);

/* State of visiting one thread by one source.  Zero-initialize it. */
struct cpu_state_walk {
    enum cpu_state_source most; /* use no better source than this; CPU_SOURCE_ORDER: the best */
    size_t near; /* index that was found last */
    /* valid while a running state is visited: 1 + the CPU, for a task its worker thread; 0: unknown
     */
    uint32_t on;
    bool placed; /* a task: its states change where it leaves its worker thread or gets one, */
    uint32_t left; /* while a state is visited: as in struct placement_interval, of the last time */
    enum cpu_state_accuracy accuracy; /* valid while a state is visited */
    bool has;
    struct spans_slice { /* span between two samples */
        size_t index;
        int64_t from_ns, to_ns;
        int64_t ran_ns, ready_ns; /* parts of the time that the order calls running, */
        int64_t passed_ns, at_ns; /* of which passed_ns lies before at_ns */
        enum cpu_state_accuracy accuracy;
    } slice;
};

/* Splits a time in which the order says that the thread ran into CPU states, which fill it in
 * ascending order. */
void cpu_states_visit(const struct cpu_states *spans, const struct thread_timeline *course,
                      struct cpu_state_walk *walk, int64_t from_ns, int64_t to_ns,
                      void (*visit)(void *context, enum cpu_state is, int64_t from_ns,
                                    int64_t to_ns),
                      void *context);

/* ---- wake-up latency: from the release of a thread until it resumed ---- */

/* Part of it in which the thread was runnable and had no CPU.  The rest of the time it had a CPU
 * and had not returned from its call.  The split is known if
 * - the kernel reported its context switches: exactly.  The moment until the kernel noticed the
 * wake-up counts as runnable, as it is not recorded;
 * - the thread read its CPU clock at the end of the wait, and at its begin or before: it did not
 * run for longer than the difference, so it was runnable at least for the rest.  Samples of CPU
 * time are too coarse. */
struct resume_delay {
    int64_t took_ns, ready_ns; /* ready_ns: the runnable part of it, if it is known */
    enum cpu_state_source source; /* CPU_SOURCE_ORDER: not known */
};

/* Returns the latency of a wait; took_ns is 0 if no event released it. whole: no more context
 * switches will be received. */
struct resume_delay resume_delay_measure(const struct cpu_states *spans,
                                         const struct intervals *all,
                                         const struct wait_record *wait, bool whole);
/* Returns the source as a text for a column. */
const char *resume_delay_source(enum cpu_state_source source);

#endif
