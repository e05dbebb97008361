#include "server/run/cpu_placement.h"

#include "server/timing/cpu_states.h"

static void cpu_placement_free(void *states) { cpu_states_free(states); }

static struct cpu_states *spans_in(struct run *run)
{
    struct cpu_states *states = cpu_placement_states(run);
    if (!states) {
        states = cpu_states_new();
        run_addon_attach(&run->addons, RUN_ADDON_CPU_STATES,
                         (struct run_addon){states, cpu_placement_free});
    }
    return states;
}

void cpu_placement_sampled(struct run *run, uint32_t line, bool delay, int64_t at_ns, uint64_t ns,
                           bool last)
{
    cpu_states_sampled(spans_in(run), line, delay, at_ns, ns, last);
}

void cpu_placement_ran_before(struct run *run, uint32_t line, uint64_t ns)
{
    cpu_states_ran_before(spans_in(run), line, ns);
}

void cpu_placement_clocked(struct run *run, uint32_t line, int64_t at_ns, uint64_t ran_ns,
                           bool unknown_before)
{
    cpu_states_clocked(spans_in(run), line, at_ns, ran_ns, unknown_before);
}

void cpu_placement_switched(struct run *run, uint32_t line, unsigned what, unsigned cpu,
                            int64_t at_ns)
{
    if (what < SWITCH_KINDS)
        cpu_states_switched(spans_in(run), line, (enum switch_kind)what, cpu, at_ns);
}

void cpu_placement_asleep(struct run *run, uint32_t line, uint64_t call, int64_t at_ns)
{
    cpu_states_note_sleep(spans_in(run), line, call, at_ns);
}

void cpu_placement_futex(struct run *run, uint32_t line, enum usage_futex_fact fact,
                         uint64_t address)
{
    cpu_states_note_futex(spans_in(run), line, fact, address);
}

void cpu_placement_held(struct run *run, uint32_t line, uint32_t holder, int64_t at_ns)
{
    cpu_states_note_lock_holder(spans_in(run), line, holder, at_ns);
}

struct placements *cpu_placement_tasks(struct run *run)
{
    return cpu_states_placements(spans_in(run));
}

void cpu_placement_lost(struct run *run, uint64_t switches)
{
    cpu_states_lost(spans_in(run), switches);
}

void cpu_placement_unavailable(struct run *run, const char *why)
{
    cpu_states_unavailable(spans_in(run), why);
}
