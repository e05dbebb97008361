/* Waits and intervals of the threads of a played run, as texts. */
#ifndef TESTS_UNIT_WAIT_TEXTS_H
#define TESTS_UNIT_WAIT_TEXTS_H

#include "server/queries/interval_cache.h"
#include "tests/unit/scripted_run.h"

__attribute__((unused)) static const struct intervals *learn(const struct played *p)
{
    uint64_t budget = UINT64_MAX;
    assert_true(interval_cache_step(p->run, &budget));
    return interval_cache_get(p->run);
}

static double ms(int64_t ns) { return (double)ns / PLAYED_MS; }

/* Returns the waits of a thread as a text: "FROM TO CLASS (TO THREAD CLASS)...", separated by
 * commas. */
__attribute__((unused)) static const char *wait_list_of_thread(const struct intervals *all,
                                                               uint32_t thread)
{
    static const char *const classes[] = {"meet", "excl", "timer"};
    static const char *const whys[] = {"", " unseen", " lost", " open"};
    static const char *const guesses[] = {"", " latest", " late"};
    static char text[4096];
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; i < all->wait_count; i++) {
        const struct wait_record *w = &all->waits[i];
        if (w->thread != thread)
            continue;
        n +=
            (size_t)snprintf(text + n, sizeof text - n, "%s%g %g %s%s", n ? ", " : "",
                             ms(w->from_ns), ms(w->to_ns), classes[w->class], whys[w->unexplained]);
        for (uint32_t k = 0; k < w->count; k++) {
            const struct wait_interval *s = &all->segments[w->segment + k];
            assert_int_equal(s->wait, i);
            n += (size_t)snprintf(text + n, sizeof text - n, " (%g %u %s%s)", ms(s->to_ns),
                                  s->thread, classes[s->class], guesses[s->guess]);
        }
    }
    return text;
}

/* Returns the timeline of a thread as a text: "START runs TO for THREAD TO ...". */
__attribute__((unused)) static const char *course(const struct intervals *all, uint32_t thread)
{
    static const char *const names[] = {"runs", "for", "latency", "timer", "unexplained"};
    static char text[4096];
    size_t n = 0;
    const struct thread_timeline *c = intervals_for_thread(all, thread);
    assert_non_null(c);
    n += (size_t)snprintf(text, sizeof text, "%g", ms(c->start_ns));
    for (size_t i = 0; i < c->count; i++) {
        const struct interval *at = &c->items[i];
        n += (size_t)snprintf(text + n, sizeof text - n, " %s", names[at->is]);
        if (at->is == INTERVAL_SEGMENT)
            n += (size_t)snprintf(text + n, sizeof text - n, " %u", all->segments[at->of].thread);
        n += (size_t)snprintf(text + n, sizeof text - n, " %g", ms(at->to_ns));
    }
    return text;
}

__attribute__((unused)) static void end(struct played *p) { run_free(p->run); }

#endif
