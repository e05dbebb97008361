/* Zoomed-out thread states, compared with the state intervals of random programs: each pixel of
 * each row contains the same time of each state, to the ns. */
#include "server/queries/thread_state_timeline.h"
#include "server/queries/interval_cache.h"
#include "server/run/cpu_placement.h"
#include "server/timing/thread_states.h"
#include "tests/unit/random_run.h"
#include "wire/state_bands.h"

#define PIXELS_MOST 40u
#define CHILDREN 6u

/* ---- comparison ---- */

/* a range in pixels, and the time of each state in each pixel, in 1/pixels of a ns */
struct looked {
    struct summary_range range;
    uint64_t part[PIXELS_MOST][THREAD_STATES];
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static void add_spell(void *context, const struct thread_state_interval *s)
{
    struct looked *l = context;
    int64_t span = l->range.to - l->range.from, n = l->range.pixels;
    for (int64_t i = 0; i < n; i++) {
        int64_t begin = most((s->from_ns - l->range.from) * n, i * span),
                end = least((s->to_ns - l->range.from) * n, (i + 1) * span);
        if (end > begin)
            l->part[i][s->state] += (uint64_t)(end - begin);
    }
}

static uint64_t blocked(const struct summary_pixel *p)
{
    return p->part[BAND_LIVING_MEETING] + p->part[BAND_LIVING_EXCLUSION] +
           p->part[BAND_LIVING_TIMER] + p->part[BAND_LIVING_UNKNOWN];
}

static uint64_t part_of(const struct summary_pixel *p, unsigned state)
{
    static const uint8_t codes[THREAD_STATES] = {[THREAD_STATE_CREATED] = BAND_LIVING_START,
                                                 [THREAD_STATE_RUNNABLE] = BAND_LIVING_READY,
                                                 [THREAD_STATE_RUNNING] = BAND_LIVING_RUNNING,
                                                 [THREAD_STATE_OFF_CPU] = BAND_LIVING_SYSTEM,
                                                 [THREAD_STATE_EXITED] = BAND_LIVING_TERMINATE};
    return state == THREAD_STATE_BLOCKED ? blocked(p) : p->part[codes[state]];
}

static void compare(const struct lifetimes *lives, const struct summary_tree *pyramid,
                    const struct thread_timeline *course, struct looked *l)
{
    struct summary_pixel pixels[PIXELS_MOST] = {0};
    int64_t to = l->range.cut ? least(l->range.to, l->range.until) : l->range.to;
    memset(l->part, 0, sizeof l->part);
    thread_states_visit(lives, course, l->range.from, to, add_spell, l);
    summary_tree_add_pixels(pyramid, course->thread, &l->range, 0, l->range.pixels, pixels);
    for (unsigned i = 0; i < l->range.pixels; i++)
        for (unsigned state = 0; state < THREAD_STATES; state++)
            if (part_of(&pixels[i], state) != l->part[i][state])
                fail_msg("thread %u, pixel %u of %u from %lld to %lld: %s %llu, of spells %llu",
                         course->thread, i, l->range.pixels, (long long)l->range.from,
                         (long long)l->range.to, thread_state_name(state),
                         (unsigned long long)part_of(&pixels[i], state),
                         (unsigned long long)l->part[i][state]);
}

/* ---- states of a run ---- */

static int by_thread(const void *a, const void *b)
{
    return (int)((const struct wait_record *)a)->thread -
           (int)((const struct wait_record *)b)->thread;
}

static struct lifetimes measured_states_of(const struct run *run, struct wait_record **open)
{
    struct lifetimes lives = interval_cache_lifetimes(run);
    lives.open_count = interval_cache_open(run, open);
    for (size_t i = 0; i < lives.open_count; i++)
        (*open)[i].to_ns = most((*open)[i].to_ns, interval_cache_until_ns(run));
    if (lives.open_count)
        qsort(*open, lives.open_count, sizeof **open, by_thread);
    lives.open = *open;
    return lives;
}

/* Computes everything in steps of a given size. */
static void learn(const struct run *run, uint64_t step)
{
    uint64_t budget;
    do
        budget = step;
    while (!timeline_build(run, TIMELINE_LIVING, &budget));
}

static void look(const struct run *run, unsigned *random)
{
    struct wait_record *open = NULL;
    struct lifetimes lives = measured_states_of(run, &open);
    int64_t end = interval_cache_until_ns(run);
    for (unsigned round = 0; round < 20; round++) {
        int64_t span = end + 2000000;
        struct looked l = {.range = {.by_time = true, .end = end, .cut = round % 3 == 2}};
        l.range.from = (int64_t)execution_random(random, (unsigned)span) - 1000000;
        l.range.to = l.range.from + 1 + execution_random(random, (unsigned)span);
        if (round == 0)
            l.range = (struct summary_range){.by_time = true, .to = end + 1, .end = end};
        l.range.pixels = 1 + execution_random(random, PIXELS_MOST);
        l.range.until = l.range.from - 5 + execution_random(random, (unsigned)span);
        for (uint32_t i = 0; i < lives.all->thread_count; i++)
            compare(&lives, timeline_tree(run, TIMELINE_LIVING), &lives.all->threads[i], &l);
    }
    free(open);
}

/* ---- random programs ---- */

/* Creates threads, of which some do not start, exit, or are joined. */
static void make_children(struct playing *g, uint32_t *children)
{
    for (unsigned i = 0; i < CHILDREN; i++) {
        children[i] = play_line(&g->p, "thread", "child");
        PLAY_ON(&g->p, g->actors[0].line, children[i], "create", g->now += chance(g, 3));
        if (chance(g, 4))
            PLAY(&g->p, children[i], "start", g->now += chance(g, 2), 0);
    }
}

static void end_children(struct playing *g, const uint32_t *children)
{
    for (unsigned i = 0; i < CHILDREN; i++) {
        unsigned how = chance(g, 4);
        bool began = g->p.numbers[children[i]] > 1;
        if (began && how > 0)
            PLAY(&g->p, children[i], "exit", g->now += chance(g, 4), 0);
        if (how > 1)
            PLAY_ON(&g->p, g->actors[0].line, children[i], "close", g->now += chance(g, 4));
    }
}

/* Adds samples, clocks or context switches of each thread, up to after its last event. */
static void add_cpu_data(struct run *run, unsigned *random)
{
    const struct intervals *all = interval_cache_get(run);
    for (uint32_t i = 0; i < all->thread_count; i++) {
        const struct thread_timeline *c = &all->threads[i];
        unsigned source = execution_random(random, CPU_SOURCE_SOURCES);
        int64_t at = 0, ran = 0, delayed = 0,
                end = c->end_ns == INTERVALS_NEVER ? interval_cache_until_ns(run) : c->end_ns;
        for (unsigned n = 0; n < 30 && at < end; n++) {
            int64_t took = 1 + execution_random(random, (unsigned)(end / 15 + 1));
            at = least(at + took, end);
            ran += execution_random(random, (unsigned)took);
            delayed += execution_random(random, (unsigned)took) / 2;
            if (source == CPU_SOURCE_SWITCHES)
                cpu_placement_switched(run, c->thread, n % 2 ? SWITCH_ASLEEP : SWITCH_ON, 0, at);
            if (source == CPU_SOURCE_CLOCK)
                cpu_placement_clocked(run, c->thread, at, (uint64_t)ran, n == 3);
            if (source != CPU_SOURCE_SAMPLES)
                continue;
            cpu_placement_sampled(run, c->thread, false, at, (uint64_t)ran, at == end);
            cpu_placement_sampled(run, c->thread, true, at, (uint64_t)delayed, at == end);
        }
    }
}

/* The same, with CPU data. */
static void pixels_have_the_cpu_states_of_spells(void **state)
{
    (void)state;
    timeline_set_source(TIMELINE_LIVING, &thread_state_source);
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct playing g = play_random(seed);
        uint32_t children[CHILDREN];
        uint64_t all = UINT64_MAX;
        unsigned random = seed;
        make_children(&g, children);
        end_children(&g, children);
        while (!interval_cache_step(g.p.run, &all))
            all = UINT64_MAX;
        add_cpu_data(g.p.run, &random);
        learn(g.p.run, 11);
        look(g.p.run, &random);
        run_free(g.p.run);
    }
}

static void pixels_have_what_spells_have(void **state)
{
    (void)state;
    timeline_set_source(TIMELINE_LIVING, &thread_state_source);
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct playing g = play_random(seed);
        uint32_t children[CHILDREN];
        unsigned random = seed;
        if (seed % 2)
            learn(g.p.run, 7);
        if (seed % 2)
            look(g.p.run, &random);
        make_children(&g, children);
        if (seed % 3 == 0)
            learn(g.p.run, 100);
        end_children(&g, children);
        learn(g.p.run, 11);
        look(g.p.run, &random);
        run_free(g.p.run);
    }
}

/* A thread that is still waiting is blocked until now, which is after the last event. */
static void who_waits_still_waits_until_now(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t t = play_line(&p, "thread", "t"), m = play_line(&p, "mutex", "m");
    timeline_set_source(TIMELINE_LIVING, &thread_state_source);
    PLAY(&p, t, "start", 0, 0);
    PLAY(&p, t, "acquire", 10, m);
    p.run->clock.ended_ns = 30 * PLAYED_MS;
    learn(p.run, 100);
    struct summary_pixel pixels[2] = {0};
    struct summary_range range = {.by_time = true,
                                  .from = 0,
                                  .to = 40 * PLAYED_MS,
                                  .pixels = 2,
                                  .end = interval_cache_until_ns(p.run)};
    summary_tree_add_pixels(timeline_tree(p.run, TIMELINE_LIVING), t, &range, 0, 2, pixels);
    assert_int_equal(pixels[0].part[BAND_LIVING_RUNNING], 10ull * PLAYED_MS * 2);
    assert_int_equal(blocked(&pixels[0]), 10ull * PLAYED_MS * 2);
    assert_int_equal(blocked(&pixels[1]), 10ull * PLAYED_MS * 2);
    assert_int_equal(pixels[0].about, m);
    run_free(p.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_have_what_spells_have),
        cmocka_unit_test(pixels_have_the_cpu_states_of_spells),
        cmocka_unit_test(who_waits_still_waits_until_now),
    };
    return cmocka_run_group_tests_name("living", tests, NULL, NULL);
}
