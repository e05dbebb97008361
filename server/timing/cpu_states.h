/* Where a thread was while the order says no more than that it ran: on a processor, ready without
 * one, or in the system (asleep, or waiting for what no event tells of).
 *
 * There are several sources of it, and of each thread the best one counts:
 * - switches: the kernel said when the thread went on a processor and off it, and whether that was taken from it.  Exact;
 *   only the time from where the system let it go on to where it went on is not told apart, and is
 *   in system;
 * - the processor clock at events: how long it had had a processor at some of its events, more than
 *   4 us after the one
 *   before.  How long it ran between two of them is exact; it is told as if it had run first, which is right where events
 *   are dense: what it did without a processor lies in the last gap.  What of the rest it was ready is shared out as the
 *   samples have it; without any, all of that is in system;
 * - samples: how long it had had a processor, and wanted one in vain, at some times.  What happened between two of them is
 *   known by its length alone: it is told as if it had run first, then been ready, then in the system.  So each border may
 *   be off by the time between two samples, and sums over a range by as much at each end of it;
 * - the order alone: it ran all the time, an upper bound.
 *
 * Of a task of a runtime it is known, exactly, when it was on a thread of the system that runs
 * tasks (placements.h), and it counts as switches do: it ran while it was on one, and was ready
 * while it could have been.
 *
 * Threads are named by their lines, times are ns of the run. */
#ifndef SERVER_TIMING_CPU_STATES_H
#define SERVER_TIMING_CPU_STATES_H

#include "server/timing/intervals.h"
#include "server/timing/placements.h"

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
    CPU_STATE_RUNNING, /* on a processor; of the order alone: at most */
    CPU_STATE_RUNNABLE,
    CPU_STATE_OTHER
};

enum switch_kind {
    SWITCH_ON, /* to a processor */
    SWITCH_OUT, /* the processor was taken from it */
    SWITCH_ASLEEP, /* it gave the processor up */
    SWITCH_LOST, /* what happened from here on until it is told of next is not known */
    SWITCH_KINDS
};

struct cpu_states;

struct cpu_states *cpu_states_new(void);
void cpu_states_free(struct cpu_states *spans); /* NULL: nothing */

/* ---- filling: each thread's in the order of their times ---- */

/* What is too early is left out; when there is no more room, all that comes is, and counted. */
void cpu_states_switched(struct cpu_states *spans, uint32_t line, enum switch_kind what,
                         unsigned cpu,
                         int64_t at_ns); /* cpu UINT_MAX: on which processor is not known */
/* In which call it was seen to sleep, an enum asleep. */
void cpu_states_note_sleep(struct cpu_states *spans, uint32_t line, uint64_t call, int64_t at_ns);
/* By then it had had a processor for so long, or (delay) wanted one in vain.
 * last: it has ended, and says so itself. */
void cpu_states_sampled(struct cpu_states *spans, uint32_t line, bool delay, int64_t at_ns,
                        uint64_t ns, bool last);
/* Its own clock at one of its events.  anew: how long it ran before that is not known. */
void cpu_states_clocked(struct cpu_states *spans, uint32_t line, int64_t at_ns, uint64_t ran_ns,
                        bool anew);
void cpu_states_lost(struct cpu_states *spans, uint64_t switches); /* so many were not told */
void cpu_states_unavailable(struct cpu_states *spans,
                            const char *why); /* there are no switches; a copy */

struct placements *
cpu_states_placements(struct cpu_states *spans); /* of tasks, made on first use; to be filled */

/* ---- looking: of spans NULL, the order alone is known ---- */

/* No better than `most`; CPU_SOURCE_ORDER: whichever is best. */
enum cpu_state_source cpu_states_best(const struct cpu_states *spans, uint32_t line,
                                      enum cpu_state_source most);
/* The longest time between two samples of it that has something in common with a range; 0: it has
 * none. */
int64_t cpu_states_sample_gap_ns(const struct cpu_states *spans, uint32_t line, int64_t from_ns,
                                 int64_t to_ns);
/* By its clock at events: how much of what it ran, or did not, between two of them may be told at a
 * wrong time, at most. */
int64_t cpu_states_uncertainty_ns(const struct cpu_states *spans,
                                  const struct thread_timeline *course, int64_t from_ns,
                                  int64_t to_ns);
bool cpu_states_delays(const struct cpu_states *spans,
                       uint32_t line); /* are there samples of it, too? */
const struct placements *
cpu_states_tasks(const struct cpu_states *spans); /* NULL: none were told */
bool cpu_states_is_placed_task(const struct cpu_states *spans,
                               uint32_t line); /* is it a task whose stays are known? */
bool cpu_states_cpus(
    const struct cpu_states *spans); /* is it known of any switch on which processor? */
uint64_t cpu_states_lost_count(const struct cpu_states *spans);
uint64_t cpu_states_max_switches(
    const struct cpu_states
        *spans); /* all that are kept, of all threads, where that is why some are lost; else 0 */
const char *cpu_states_missing_reason(
    const struct cpu_states *spans); /* there are no switches; NULL: not said */
/* Up to when something is known of it, INT64_MAX where the order alone is. */
int64_t cpu_states_known_ns(const struct cpu_states *spans, uint32_t line);

/* Up to when the kernel's switches say what a thread did of which no end came; INTERVALS_NEVER:
 * they say nothing. */
int64_t cpu_states_switched_until(const struct cpu_states *spans,
                                  const struct thread_timeline *course, enum cpu_state_source most);
/* Did it, as the last that is known of it, give its processor up, and when?  By switches; where
 * none are known, by what was seen from outside.  *call: an enum asleep, where it was seen in it
 * since; end_ns: when all of the run had gone, 0 if it has not; a thread that is killed as it
 * sleeps gets a processor once more, for its end. */
bool cpu_states_asleep(const struct cpu_states *spans, uint32_t line, int64_t end_ns,
                       int64_t *since_ns, unsigned *call);

/* Zero-initialised; of one thread, and one source. */
struct cpu_state_walk {
    enum cpu_state_source most; /* no better source than this; CPU_SOURCE_ORDER: the best */
    size_t near; /* index that was found last */
    uint32_t on; /* while something is visited in which it ran: 1 + the processor; of a task
                    its carrier; 0: not known */
    bool has;
    struct spans_slice { /* between two samples */
        size_t index;
        int64_t from_ns, to_ns;
        int64_t ran_ns, ready_ns; /* of what the order calls running, */
        int64_t passed_ns, at_ns; /* of which so much lies before at_ns */
    } slice;
};

/* Cuts a time in which the order says that it ran into what it did: they fill the time, one after
 * the other. */
void cpu_states_visit(const struct cpu_states *spans, const struct thread_timeline *course,
                      struct cpu_state_walk *walk, int64_t from_ns, int64_t to_ns,
                      void (*visit)(void *context, enum cpu_state is, int64_t from_ns,
                                    int64_t to_ns),
                      void *context);

/* The same, of whatever range, in sums: running, ready, system, and blocked is what the order says
 * of the rest of it. */
struct cpu_state_sums {
    enum cpu_state_source source;
    int64_t error_ns; /* sums are off by so much at most, at either end of the range */
    int64_t running_ns, ready_ns, blocked_ns, system_ns; /* all together: what of the range is
                                                            between its first and last event */
};
struct cpu_state_sums cpu_states_sum(const struct cpu_states *spans,
                                     const struct thread_timeline *course, int64_t from_ns,
                                     int64_t to_ns);

#endif
