#include "server/timing/cpu_turns.h"

#include "base/lower_bound.h"
#include "base/alloc.h"

#include <stdlib.h>

void cpu_turns_free(struct cpu_turns *t) { free(t->items); }

void cpu_turns_add(struct cpu_turns *t, struct cpu_turn turn)
{
    t->items = array_reserve(t->items, &t->room, t->count + 1, sizeof *t->items);
    t->items[t->count++] = turn;
}

/* Returns how many switches are at or before a time; *near: the previous result. */
static size_t turns_before(const struct cpu_turns *t, int64_t at_ns, size_t *near)
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
static enum cpu_state is_after(const struct cpu_turns *t, size_t turns)
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
static uint32_t cpu_after(const struct cpu_turns *t, size_t turns)
{
    const struct cpu_turn *turn = &t->items[turns ? turns - 1 : 0];
    bool known = turn->cpu != LOOP_TURN_NO_CPU && is_after(t, turns) == CPU_STATE_RUNNING &&
                 turn->what != SWITCH_LOST;
    return known ? 1u + turn->cpu : 0;
}

struct cpu_turn_visitor {
    void (*visit)(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns);
    void *context;
};

static int64_t cpu_turns_min(int64_t a, int64_t b) { return a < b ? a : b; }

void cpu_turns_visit(
    const struct cpu_turns *t, struct cpu_state_walk *walk, int64_t from_ns, int64_t to_ns,
    void (*visit)(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns), void *context)
{
    for (size_t i = turns_before(t, from_ns, &walk->near); from_ns < to_ns; i++) {
        int64_t until = i < t->count ? cpu_turns_min(t->items[i].at_ns, to_ns) : to_ns;
        walk->on = cpu_after(t, i);
        walk->accuracy =
            i && t->items[i - 1].what == SWITCH_LOST ? CPU_STATE_ESTIMATE : CPU_STATE_EXACT;
        if (until > from_ns)
            visit(context, is_after(t, i), from_ns, until);
        from_ns = until > from_ns ? until : from_ns;
        walk->near = i;
    }
}

/* ---- placements ---- */

struct cpu_turn_placement {
    struct cpu_state_walk *walk;
    struct cpu_turn_visitor v;
};

static void cpu_turns_on_placement(void *context, uint32_t on, int64_t from_ns, int64_t to_ns)
{
    struct cpu_turn_placement *s = context;
    s->walk->on = on;
    s->v.visit(s->v.context, on ? CPU_STATE_RUNNING : CPU_STATE_RUNNABLE, from_ns, to_ns);
}

void cpu_turns_visit_placements(const struct placements *all, uint32_t task,
                                struct cpu_state_walk *walk, int64_t from_ns, int64_t to_ns,
                                void (*visit)(void *context, enum cpu_state is, int64_t from_ns,
                                              int64_t to_ns),
                                void *context)
{
    size_t count;
    const struct placement_interval *items = placements_for_task(all, task, &count);
    struct cpu_turn_placement staying = {walk, {visit, context}};
    placements_visit(items, count, &walk->near, from_ns, to_ns, cpu_turns_on_placement, &staying);
}
