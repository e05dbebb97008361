#include "server/timing/cpu_turns.h"

#include "base/alloc.h"
#include "base/extremes.h"
#include "base/lower_bound.h"

void cpu_turns_add(struct cpu_turns *t, struct cpu_turn turn)
{
    t->items = array_reserve(t->items, &t->room, t->count + 1, sizeof *t->items);
    t->items[t->count++] = turn;
}

/* Returns how many switches are at or before a time; *near: the previous result. */
static size_t cpu_turns_before(const struct cpu_turns *t, int64_t at_ns, size_t *near)
{
    size_t low = *near, high = t->count, by = 1;
    if (low > high || (low && t->items[low - 1].at_ns > at_ns))
        low = 0;
    while (low + by < high && t->items[low + by].at_ns <= at_ns) /* it is usually near */
        by *= 2;
    high = low + by < high ? low + by + 1 : high;
    low = LOWER_BOUND(i, low, high, t->items[i].at_ns <= at_ns);
    return *near = low;
}

/* Returns the state after a number of switches.  Before the first one the thread was in the state
 * that this one ended. */
static enum cpu_state cpu_turns_state_after(const struct cpu_turns *t, size_t turns)
{
    static const uint8_t is[SWITCH_KINDS] = {[SWITCH_ON] = CPU_STATE_RUNNING,
                                             [SWITCH_OUT] = CPU_STATE_RUNNABLE,
                                             [SWITCH_ASLEEP] = CPU_STATE_OTHER,
                                             [SWITCH_LOST] = CPU_STATE_RUNNING};
    if (turns)
        return is[t->items[turns - 1].what];
    return t->items[0].what == SWITCH_ON ? CPU_STATE_RUNNABLE : CPU_STATE_RUNNING;
}

/* Returns 1 + the CPU on which it ran: that of the last switch to a CPU or, before the first
 * switch, the one that it left; 0 if not known. */
static uint32_t cpu_turns_cpu_after(const struct cpu_turns *t, size_t turns)
{
    const struct cpu_turn *turn = &t->items[turns ? turns - 1 : 0];
    bool known = turn->cpu != CPU_TURN_NO_CPU &&
                 cpu_turns_state_after(t, turns) == CPU_STATE_RUNNING && turn->what != SWITCH_LOST;
    return known ? 1u + turn->cpu : 0;
}

void cpu_turns_visit(const struct cpu_turns *t, struct cpu_state_walk *walk, int64_t from_ns,
                     int64_t to_ns, struct cpu_state_visitor v)
{
    for (size_t i = cpu_turns_before(t, from_ns, &walk->near); from_ns < to_ns; i++) {
        int64_t until = i < t->count ? int64_min(t->items[i].at_ns, to_ns) : to_ns;
        walk->on = cpu_turns_cpu_after(t, i);
        walk->accuracy =
            i && t->items[i - 1].what == SWITCH_LOST ? CPU_STATE_ESTIMATE : CPU_STATE_EXACT;
        if (until > from_ns)
            v.visit(v.context, cpu_turns_state_after(t, i), from_ns, until);
        from_ns = until > from_ns ? until : from_ns;
        walk->near = i;
    }
}

/* Returns how long a thread ran on a CPU (1 + its number) in a range. */
static int64_t cpu_turns_ran_on_ns(const struct cpu_turns *t, uint32_t on, int64_t from_ns,
                                   int64_t to_ns)
{
    size_t near = 0;
    int64_t ns = 0;
    for (size_t i = cpu_turns_before(t, from_ns, &near); t->count && from_ns < to_ns; i++) {
        int64_t until = i < t->count ? int64_min(t->items[i].at_ns, to_ns) : to_ns;
        ns += cpu_turns_cpu_after(t, i) == on && until > from_ns ? until - from_ns : 0;
        from_ns = until;
    }
    return ns;
}

int64_t cpu_turns_preempted_ns(const struct cpu_turns *t, int64_t from_ns, int64_t to_ns)
{
    size_t near = 0;
    int64_t ns = 0;
    for (size_t i = cpu_turns_before(t, from_ns, &near); from_ns < to_ns; i++) {
        int64_t until = i < t->count ? int64_min(t->items[i].at_ns, to_ns) : to_ns;
        ns += i && t->items[i - 1].what == SWITCH_OUT ? until - from_ns : 0;
        from_ns = until;
    }
    return ns;
}

int64_t cpu_turns_displaced_ns(const struct cpu_turns *t, const struct cpu_turns *other,
                               int64_t from_ns, int64_t to_ns)
{
    size_t near = 0;
    int64_t ns = 0;
    uint32_t on = 0;
    size_t i = cpu_turns_before(t, from_ns, &near);
    for (size_t k = i; k && !on && t->items[k - 1].what != SWITCH_LOST; k--)
        on = cpu_turns_cpu_after(t, k);
    for (; from_ns < to_ns; i++) {
        int64_t until = i < t->count ? int64_min(t->items[i].at_ns, to_ns) : to_ns;
        bool preempted = i && t->items[i - 1].what == SWITCH_OUT;
        if (cpu_turns_state_after(t, i) == CPU_STATE_RUNNING)
            on = cpu_turns_cpu_after(t, i);
        ns += preempted && on ? cpu_turns_ran_on_ns(other, on, from_ns, until) : 0;
        from_ns = until;
    }
    return ns;
}
