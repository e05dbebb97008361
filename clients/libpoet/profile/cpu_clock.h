/* CPU clock of a thread at its events, if state measurement is wanted: a record that is made more
 * than 4 us after the previous one (or 20 times as long as a reading takes, if that is more)
 * includes it (wire/activity_record.h, ACTIVITY_CPU). Between two records that are closer together
 * a thread cannot have been off-CPU for longer than that, and this time is included in the next
 * reading.
 *
 * A user-level task has its own clock: the sum of the clocks of the threads of the system for as
 * long as they ran it. Async-signal-safe; each thread changes only its own. */
#ifndef CLIENTS_LIBPOET_PROFILE_CPU_CLOCK_H
#define CLIENTS_LIBPOET_PROFILE_CPU_CLOCK_H

#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/thread.h"
#include "wire/activity_record.h"

#pragma GCC visibility push(hidden)

/* Sets whether it is wanted from now on. */
void cpu_clock_want(struct traced_thread *thread, bool wanted);
/* Returns what a record that is made now reports; for the calling thread only. */
struct activity_record cpu_clock_now(struct traced_thread *thread);
/* Called when another task replaces this one on the thread of the system, and when it resumes,
 * perhaps on another thread. */
void cpu_clock_away(struct traced_thread *thread);
void cpu_clock_back(struct traced_thread *thread);

/* Returns whether a record that is made at `now` must include it. */
static inline bool cpu_clock_is_due(const struct traced_thread *t, uint64_t now)
{
    return t->clock_gap && now - t->recorded_at > t->clock_gap && seccomp_allows(ALLOWED_CPU);
}

#pragma GCC visibility pop
#endif
