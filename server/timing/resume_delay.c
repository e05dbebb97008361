#include "server/timing/resume_delay.h"

#include "server/timing/cpu_state_index.h"

/* Returns the index of the interval that ends with the wait; the count if none does. */
static size_t last_of(const struct thread_timeline *c, const struct wait_record *wait)
{
    size_t i = intervals_at(c, wait->to_ns - 1);
    return i < c->count && c->items[i].to_ns == wait->to_ns ? i : c->count;
}

static void resume_delay_add_span(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns)
{
    *(int64_t *)context += is == CPU_STATE_RUNNING ? 0 : to_ns - from_ns;
}

/* Returns whether the thread has context switches from before one time to after another, with none
 * lost.  An exit is no switch: a thread that was on a CPU last, with a complete record, was there
 * until its exit. */
static bool is_switched(const struct cpu_state_thread *t, int64_t from_ns, int64_t to_ns,
                        bool whole)
{
    size_t i = t->turns.count;
    const struct cpu_turn *last = i ? &t->turns.items[i - 1] : NULL;
    if (!last || t->turns.items[0].at_ns > from_ns)
        return false;
    if (last->at_ns < to_ns && !(whole && last->what == SWITCH_ON))
        return false;
    while (i && t->turns.items[i - 1].at_ns > to_ns)
        i--;
    for (; i && t->turns.items[i - 1].at_ns > from_ns; i--)
        if (t->turns.items[i - 1].what == SWITCH_LOST)
            return false;
    return i && t->turns.items[i - 1].what != SWITCH_LOST;
}

/* Returns how long it ran between two clock readings, the last before a wait and the first at or
 * after its end; -1 if not known. */
static int64_t ran_by_clock(const struct cpu_samples *clocks, const struct wait_record *wait)
{
    size_t before = cpu_states_sample_after(clocks, wait->from_ns),
           after = cpu_states_sample_after(clocks, wait->to_ns - 1);
    if (!before || after >= clocks->count)
        return -1;
    for (size_t i = before; i <= after; i++)
        if (clocks->items[i].unknown_before)
            return -1;
    return clocks->items[after].ran_ns - clocks->items[before - 1].ran_ns;
}

struct resume_delay resume_delay_measure(const struct cpu_states *spans,
                                         const struct intervals *all,
                                         const struct wait_record *wait, bool whole)
{
    const struct thread_timeline *c = intervals_for_thread(all, wait->thread);
    size_t i = c ? last_of(c, wait) : 0;
    struct resume_delay g = {.source = CPU_SOURCE_ORDER};
    if (!c || i == c->count || c->items[i].is != INTERVAL_LATENCY)
        return g;
    const struct cpu_state_thread *t = cpu_states_thread(spans, wait->thread);
    int64_t from_ns = interval_begin(c, i), ran;
    g.took_ns = wait->to_ns - from_ns;
    if (!g.took_ns || !t)
        return g;
    if (is_switched(t, from_ns, wait->to_ns, whole)) {
        struct cpu_state_walk walk = {.most = CPU_SOURCE_SWITCHES};
        cpu_states_visit(spans, c, &walk, from_ns, wait->to_ns, resume_delay_add_span, &g.ready_ns);
        g.source = CPU_SOURCE_SWITCHES;
    } else if ((ran = ran_by_clock(&t->clocks, wait)) >= 0) {
        g.ready_ns = ran < g.took_ns ? g.took_ns - ran : 0;
        g.source = CPU_SOURCE_CLOCK;
    }
    return g;
}

const char *resume_delay_source(enum cpu_state_source source)
{
    switch (source) {
    case CPU_SOURCE_SWITCHES:
        return "context-switch records";
    case CPU_SOURCE_CLOCK:
        return "thread CPU clock at events (runnable: lower bound)";
    default:
        return "unknown (no scheduling data)";
    }
}
