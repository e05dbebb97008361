/* Receives the CPU activity of a run's threads, which server/timing/cpu_states.h keeps. */
#ifndef SERVER_RUN_CPU_PLACEMENT_H
#define SERVER_RUN_CPU_PLACEMENT_H

#include "wire/os_usage.h"

#include "server/run/run.h"

/* Returns the CPU states of the run; NULL: none were received. */
static inline struct cpu_states *cpu_placement_states(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_CPU_STATES);
}

/* A thread's line, ns of the run; `what` an enum switch_kind. */
void cpu_placement_sampled(struct run *run, uint32_t line, bool delay, int64_t at_ns, uint64_t ns,
                           bool last);
void cpu_placement_ran_before(struct run *run, uint32_t line, uint64_t ns);
void cpu_placement_clocked(struct run *run, uint32_t line, int64_t at_ns, uint64_t ran_ns,
                           bool unknown_before);
void cpu_placement_switched(struct run *run, uint32_t line, unsigned what, unsigned cpu,
                            int64_t at_ns); /* cpu UINT_MAX: not known */
/* Records the call in which a thread sleeps, a value of USAGE_ASLEEP. */
void cpu_placement_asleep(struct run *run, uint32_t line, uint64_t call, int64_t at_ns);
/* Records what is known of the wait at the futex at which a thread sleeps. */
void cpu_placement_futex(struct run *run, uint32_t line, enum usage_futex_fact fact,
                         uint64_t address);
/* Records which thread holds the loader's lock, at which a thread sleeps. */
void cpu_placement_held(struct run *run, uint32_t line, uint32_t holder, int64_t at_ns);
/* placements of tasks on carriers, for filling */
struct placements *cpu_placement_tasks(struct run *run);
void cpu_placement_lost(struct run *run, uint64_t switches);
/* Records why context switches are unavailable; copies the text. */
void cpu_placement_unavailable(struct run *run, const char *why);

#endif
