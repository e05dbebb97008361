/* CPU clock of a thread at its events, if state measurement is wanted: a record that is made more
 * than 4 us after the previous one (or 20 times as long as a reading takes, if that is more)
 * includes it (wire/slot.h, ACTIVITY_CPU). Between two records that are closer together
 * a thread cannot have been off-CPU for longer than that, and this time is included in the next
 * reading.
 *
 * A user-level task has its own clock: the sum of the clocks of the threads of the system for as
 * long as they ran it. Async-signal-safe; each thread changes only its own. */
#ifndef CLIENTS_LIBPOET_PROFILE_CPU_CLOCK_H
#define CLIENTS_LIBPOET_PROFILE_CPU_CLOCK_H

#include "clients/libpoet/core/seccomp_allowed.h"
#include "wire/slot.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

/* The CPU clock of a thread, in the unit of its slots if not stated otherwise. Written by the
 * thread: the time of its last record by record.c, the rest by cpu_clock.c. */
struct thread_cpu_clock {
    uint64_t recorded_at; /* the time of the last record, where `gap` is not 0 */
    uint64_t gap; /* after this time a record has the CPU clock; 0: not wanted */
    uint64_t used_ns; /* CPU time used until `since_ns` */
    uint64_t since_ns; /* the clock of the system's thread from which on more is added */
    bool restarted; /* it counts from the next record on */
};

/* Sets whether it is wanted from now on. */
void cpu_clock_want(struct traced_thread *thread, bool wanted);
/* Returns what a record that is made now reports; for the calling thread only. */
struct activity_record cpu_clock_now(struct traced_thread *thread);
/* Called when another task replaces this one on the thread of the system, and when it resumes,
 * perhaps on another thread. */
void cpu_clock_away(struct thread_cpu_clock *clock);
void cpu_clock_back(struct thread_cpu_clock *clock);

/* Returns whether a record that is made at `now` must include it. */
static inline bool cpu_clock_is_due(const struct thread_cpu_clock *clock, uint64_t now)
{
    return clock->gap && now - clock->recorded_at > clock->gap && seccomp_allows(ALLOWED_CPU);
}

#pragma GCC visibility pop
#endif
