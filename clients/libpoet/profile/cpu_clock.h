/* The processor clock of a thread at its events, where the meter states is wanted: a record that is
 * made more than 4 us after the one before it (20 times what it takes to read it, where that is
 * more) bears it (wire/activity_record.h, ACTIVITY_CPU).  Between two records that follow each
 * other faster a thread cannot have been without a processor for longer than that, and it comes in
 * with the next one that bears it.
 *
 * A task of the program's own has one of its own: the clocks of the threads of the system for as
 * long as they ran it.  Async-signal-safe; the thread alone changes its own. */
#ifndef CLIENTS_LIBPOET_PROFILE_CPU_CLOCK_H
#define CLIENTS_LIBPOET_PROFILE_CPU_CLOCK_H

#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/thread.h"
#include "wire/activity_record.h"

#pragma GCC visibility push(hidden)

/* Whether it is wanted from now on. */
void cpu_clock_want(struct traced_thread *thread, bool wanted);
/* What a record that is made now is to say; of the calling thread. */
struct activity_record cpu_clock_now(struct traced_thread *thread);
/* Another task goes on in this thread of the system, and this one is back, perhaps in another
 * one. */
void cpu_clock_away(struct traced_thread *thread);
void cpu_clock_back(struct traced_thread *thread);

/* Must a record that is made at `now` bear it? */
static inline bool cpu_clock_is_due(const struct traced_thread *t, uint64_t now)
{
    return t->clock_gap && now - t->recorded_at > t->clock_gap && seccomp_allows(ALLOWED_CPU);
}

#pragma GCC visibility pop
#endif
