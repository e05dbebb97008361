#include "base/alloc.h"
#include "server/timing/cpu_state_index.h"

#define SWITCHES_MOST ((size_t)8 << 20) /* context switches of all threads, 16 bytes each */
/* samples of a thread; at the limit every other one is dropped */
#define SAMPLES_MOST ((size_t)1 << 14)
#define CLOCKS_MOST ((size_t)1 << 18)   /* the same for CPU clocks */

struct cpu_states *cpu_states_new(void) { return xcalloc(1, sizeof(struct cpu_states)); }

static void free_thread(void *value)
{
    struct cpu_state_thread *t = value;
    cpu_turns_free(&t->turns);
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
        free_thread(walk.value);
    map_free(&spans->threads);
    placements_free(spans->placements);
    free(spans->why);
    free(spans);
}

static struct cpu_state_thread *made_thread(struct cpu_states *spans, uint32_t line)
{
    struct cpu_state_thread *t = cpu_states_thread(spans, line);
    if (!t)
        map_put(&spans->threads, line, 0, t = xcalloc(1, sizeof *t));
    return t;
}

static int64_t cpu_states_max(int64_t a, int64_t b) { return a > b ? a : b; }

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
    struct cpu_turns *t = &made_thread(spans, line)->turns;
    const struct cpu_turn *last = t->count ? &t->items[t->count - 1] : NULL;
    bool full = spans->turns >= SWITCHES_MOST;
    if (full)
        spans->lost++, spans->most = SWITCHES_MOST;
    if ((full && last && last->what == SWITCH_LOST) || (last && at_ns < last->at_ns))
        return; /* (beyond the limit one more is kept per thread, to mark where its switches end) */
    cpu_turns_add(
        t, (struct cpu_turn){.at_ns = at_ns,
                             .cpu = cpu < LOOP_TURN_NO_CPU ? (uint16_t)cpu : LOOP_TURN_NO_CPU,
                             .what = (uint8_t)(full ? SWITCH_LOST : what)});
    spans->turns++;
    spans->cpus |= cpu < LOOP_TURN_NO_CPU;
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
static struct cpu_sample *sample_of(struct cpu_samples *s, int64_t at_ns, size_t most_items)
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
    struct cpu_state_thread *t = made_thread(spans, line);
    t->awake = SLEEP_VALUE_CALL(call) == SLEEP_IN_NOT;
    if (t->awake)
        return; /* (a thread that is killed while asleep runs once more, to exit) */
    t->asleep = SLEEP_VALUE_CALL(call) < SLEEP_IN_CALLS ? call : SLEEP_IN_OTHER;
    t->asleep_ns = at_ns;
}

void cpu_states_sampled(struct cpu_states *spans, uint32_t line, bool delay, int64_t at_ns,
                        uint64_t ns, bool last)
{
    struct cpu_state_thread *t = made_thread(spans, line);
    struct cpu_samples *all = &t->samples;
    if (ns > INT64_MAX || (t->ended && !last))
        return; /* a thread that has ended is still sampled until it is joined */
    while (last && all->count && all->items[all->count - 1].at_ns > at_ns)
        all->count--; /* it was received earlier, but sampled after the final value */
    t->ended |= last;
    free(t->shares);
    t->shares = NULL;
    struct cpu_sample *s = sample_of(all, at_ns, SAMPLES_MOST);
    if (!s)
        return;
    int64_t *stood = delay ? &s->ready_ns : &s->ran_ns;
    *stood = cpu_states_max(*stood, (int64_t)ns);
}

void cpu_states_ran_before(struct cpu_states *spans, uint32_t line, uint64_t ns)
{
    struct cpu_state_thread *t = made_thread(spans, line);
    free(t->shares);
    t->shares = NULL;
    t->before_ns = ns > INT64_MAX ? 0 : (int64_t)ns;
}

void cpu_states_clocked(struct cpu_states *spans, uint32_t line, int64_t at_ns, uint64_t ran_ns,
                        bool unknown_before)
{
    struct cpu_sample *s = ran_ns <= INT64_MAX
                               ? sample_of(&made_thread(spans, line)->clocks, at_ns, CLOCKS_MOST)
                               : NULL;
    if (!s)
        return;
    s->ran_ns = unknown_before ? (int64_t)ran_ns : cpu_states_max(s->ran_ns, (int64_t)ran_ns);
    s->unknown_before = unknown_before;
}
