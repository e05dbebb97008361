#include "server/timing/cpu_states.h"

#include "base/alloc.h"
#include "base/extremes.h"
#include "server/timing/cpu_state_index.h"

#include <string.h>

#define SWITCHES_MOST ((size_t)8 << 20) /* context switches of all threads, 16 bytes each */
/* samples of a thread; at the limit every other one is dropped */
#define SAMPLES_MOST ((size_t)1 << 14)
#define CLOCKS_MOST ((size_t)1 << 18)   /* the same for CPU clocks */

struct cpu_states *cpu_states_new(void) { return xcalloc(1, sizeof(struct cpu_states)); }

static void cpu_states_free_thread(void *value)
{
    struct cpu_state_thread *t = value;
    free(t->turns.items);
    free(t->samples.items);
    free(t->clocks.items);
    free(t->shares);
    free(t);
}

void cpu_states_free(struct cpu_states *spans)
{
    if (!spans)
        return;
    for (struct map_walk walk = {.map = &spans->threads}; map_next(&walk);)
        cpu_states_free_thread(walk.value);
    map_free(&spans->threads);
    placements_free(spans->placements);
    free(spans->why);
    free(spans);
}

static struct cpu_state_thread *cpu_states_make_thread(struct cpu_states *spans, uint32_t line)
{
    struct cpu_state_thread *t = cpu_states_thread(spans, line);
    if (!t)
        map_put(&spans->threads, line, 0, t = xcalloc(1, sizeof *t));
    return t;
}

/* ---- filling ---- */

void cpu_states_unavailable(struct cpu_states *spans, const char *why)
{
    free(spans->why);
    spans->why = xstrdup(why);
}

void cpu_states_lost(struct cpu_states *spans, uint64_t switches) { spans->lost += switches; }

struct placements *cpu_states_placements(struct cpu_states *spans)
{
    return spans->placements = spans->placements ? spans->placements : placements_new();
}

void cpu_states_switched(struct cpu_states *spans, uint32_t line, enum switch_kind what,
                         unsigned cpu, int64_t at_ns)
{
    struct cpu_turns *t = &cpu_states_make_thread(spans, line)->turns;
    const struct cpu_turn *last = t->count ? &t->items[t->count - 1] : NULL;
    bool full = spans->turns >= SWITCHES_MOST;
    if (full)
        spans->lost++, spans->most = SWITCHES_MOST;
    if ((full && last && last->what == SWITCH_LOST) || (last && at_ns < last->at_ns))
        return; /* (beyond the limit one more is kept per thread, to mark where its switches end) */
    cpu_turns_add(t,
                  (struct cpu_turn){.at_ns = at_ns,
                                    .cpu = cpu < CPU_TURN_NO_CPU ? (uint16_t)cpu : CPU_TURN_NO_CPU,
                                    .what = (uint8_t)(full ? SWITCH_LOST : what)});
    spans->turns++;
    spans->cpus |= cpu < CPU_TURN_NO_CPU;
}

static void cpu_states_thin_samples(struct cpu_samples *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (i % 2 == 0 || i + 1 == s->count || s->items[i].unknown_before)
            s->items[kept++] = s->items[i];
    s->count = kept;
}

/* Returns a new sample, or the last one if it has the same time; NULL if the time is before
 * that. */
static struct cpu_sample *cpu_states_new_sample(struct cpu_samples *s, int64_t at_ns,
                                                size_t most_items)
{
    if (s->count >= most_items)
        cpu_states_thin_samples(s);
    struct cpu_sample *last = s->count ? &s->items[s->count - 1] : NULL;
    if (last && at_ns <= last->at_ns)
        return at_ns < last->at_ns ? NULL : last;
    struct cpu_sample next = {at_ns, last ? last->ran_ns : 0, last ? last->ready_ns : 0, false};
    s->items = array_reserve(s->items, &s->room, s->count + 1, sizeof *s->items);
    s->items[s->count] = next;
    return &s->items[s->count++];
}

void cpu_states_note_sleep(struct cpu_states *spans, uint32_t line, uint64_t call, int64_t at_ns)
{
    struct cpu_state_thread *t = cpu_states_make_thread(spans, line);
    t->awake = SLEEP_VALUE_CALL(call) == SLEEP_IN_NOT;
    if (t->awake)
        return; /* (a thread that is killed while asleep runs once more, to exit) */
    t->asleep = SLEEP_VALUE_CALL(call) < SLEEP_IN_CALLS ? call : SLEEP_IN_OTHER;
    t->asleep_ns = at_ns;
    memset(t->futex, 0, sizeof t->futex);
}

void cpu_states_note_futex(struct cpu_states *spans, uint32_t line, enum usage_futex_fact fact,
                           uint64_t address)
{
    cpu_states_make_thread(spans, line)->futex[fact - USAGE_FUTEX_SITE] = address;
}

void cpu_states_note_lock_holder(struct cpu_states *spans, uint32_t line, uint32_t holder,
                                 int64_t at_ns)
{
    struct cpu_state_thread *t = cpu_states_make_thread(spans, line);
    t->lock_holder = holder;
    t->held_ns = at_ns;
}

void cpu_states_sampled(struct cpu_states *spans, uint32_t line, bool delay, int64_t at_ns,
                        uint64_t ns, bool last)
{
    struct cpu_state_thread *t = cpu_states_make_thread(spans, line);
    struct cpu_samples *all = &t->samples;
    if (ns > INT64_MAX || (t->ended && !last))
        return; /* a thread that has ended is still sampled until it is joined */
    while (last && all->count && all->items[all->count - 1].at_ns > at_ns)
        all->count--; /* it was received earlier, but sampled after the final value */
    t->ended |= last;
    free(t->shares);
    t->shares = NULL;
    struct cpu_sample *s = cpu_states_new_sample(all, at_ns, SAMPLES_MOST);
    if (!s)
        return;
    int64_t *stood = delay ? &s->ready_ns : &s->ran_ns;
    *stood = int64_max(*stood, (int64_t)ns);
}

void cpu_states_ran_before(struct cpu_states *spans, uint32_t line, uint64_t ns)
{
    struct cpu_state_thread *t = cpu_states_make_thread(spans, line);
    free(t->shares);
    t->shares = NULL;
    t->before_ns = ns > INT64_MAX ? 0 : (int64_t)ns;
}

void cpu_states_clocked(struct cpu_states *spans, uint32_t line, int64_t at_ns, uint64_t ran_ns,
                        bool unknown_before)
{
    struct cpu_sample *s = ran_ns <= INT64_MAX
                               ? cpu_states_new_sample(&cpu_states_make_thread(spans, line)->clocks,
                                                       at_ns, CLOCKS_MOST)
                               : NULL;
    if (!s)
        return;
    s->ran_ns = unknown_before ? (int64_t)ran_ns : int64_max(s->ran_ns, (int64_t)ran_ns);
    s->unknown_before = unknown_before;
}

/* ---- wake-up latency ---- */

/* Returns the index of the interval that ends with the wait; the count if none does. */
static size_t resume_delay_last_interval(const struct thread_timeline *c,
                                         const struct wait_record *wait)
{
    size_t i = intervals_at(c, wait->to_ns - 1);
    return i < c->count && c->items[i].to_ns == wait->to_ns ? i : c->count;
}

static void resume_delay_add_span(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns)
{
    *(int64_t *)context += is == CPU_STATE_RUNNING ? 0 : to_ns - from_ns;
}

/* Returns whether the thread has context switches from before one time to after another, with none
 * lost.  An exit is not a switch: a thread that was on a CPU last, with a complete record, was
 * there until its exit. */
static bool resume_delay_is_switched(const struct cpu_state_thread *t, int64_t from_ns,
                                     int64_t to_ns, bool whole)
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
static int64_t resume_delay_ran_by_clock(const struct cpu_samples *clocks,
                                         const struct wait_record *wait)
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
    size_t i = c ? resume_delay_last_interval(c, wait) : 0;
    struct resume_delay g = {.source = CPU_SOURCE_ORDER};
    if (!c || i == c->count || c->items[i].is != INTERVAL_LATENCY)
        return g;
    const struct cpu_state_thread *t = cpu_states_thread(spans, wait->thread);
    int64_t from_ns = interval_begin(c, i), ran;
    g.took_ns = wait->to_ns - from_ns;
    if (!g.took_ns || !t)
        return g;
    if (resume_delay_is_switched(t, from_ns, wait->to_ns, whole)) {
        struct cpu_state_walk walk = {.most = CPU_SOURCE_SWITCHES};
        cpu_states_visit(spans, c, &walk, from_ns, wait->to_ns, resume_delay_add_span, &g.ready_ns);
        g.source = CPU_SOURCE_SWITCHES;
    } else if ((ran = resume_delay_ran_by_clock(&t->clocks, wait)) >= 0) {
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
