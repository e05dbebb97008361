/* Clocks of many hosts that are related by messages: bounds are true, and exist where messages
 * were sent in both directions. */
#include "server/run/clock_fit.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

#define CLOCKS 12u
#define LENGTH 1000000000.0

static uint64_t state_of_chance;
static uint64_t chance(uint64_t below)
{
    state_of_chance = state_of_chance * 6364136223846793005u + 1442695040888963407u;
    return (state_of_chance >> 33) % below;
}

struct truth {
    double offset, drift;
};
static double shows(const struct truth *t, double at) { return at + t->offset + at * t->drift; }

struct world {
    struct truth clocks[CLOCKS];
    unsigned count;
    bool reach[CLOCKS][CLOCKS]; /* by sender and receiver: messages were sent */
    struct message {
        uint32_t from, to;
        int64_t sent, got;
    } messages[4000];
    size_t message_count;
};

static void send(struct world *w, uint32_t from, uint32_t to)
{
    double at = (double)chance((uint64_t)LENGTH), later = at + 5000 + (double)chance(2000000);
    w->messages[w->message_count++] =
        (struct message){from, to, (int64_t)floor(shows(&w->clocks[from], at)),
                         (int64_t)ceil(shows(&w->clocks[to], later))};
    w->reach[from][to] = true;
}

static void make(struct world *w)
{
    *w = (struct world){.count = 2 + (unsigned)chance(CLOCKS - 1)};
    for (unsigned c = 0; c < w->count; c++)
        w->clocks[c] =
            (struct truth){(double)chance(10000000000) - 5e9, ((double)chance(401) - 200) / 1e6};
    for (unsigned pair = 0; pair < w->count + 2; pair++) {
        uint32_t a = (uint32_t)chance(w->count), b = (uint32_t)chance(w->count);
        unsigned ways = (unsigned)chance(3); /* 0: in one direction only */
        for (unsigned i = 0; i < 40 && a != b; i++)
            send(w, ways && i % 2 ? b : a, ways && i % 2 ? a : b);
    }
}

static struct clock_ties *tied(const struct world *w)
{
    struct clock_ties *t = clock_ties_new(w->count, LENGTH / 2);
    for (size_t i = 0; i < w->message_count; i++) {
        const struct message *m = &w->messages[i];
        size_t bond = clock_ties_note(t, m->from, m->to, m->sent, m->got);
        assert_true(bond < t->count);
        assert_int_equal(clock_pair_other(&t->bonds[bond], m->from), m->to);
    }
    clock_ties_close(t);
    return t;
}

/* Finds the clocks connected to clock 0 by messages in both directions, by repetition until a
 * fixed point. */
static void find_known(const struct world *w, bool *known)
{
    known[0] = true;
    for (unsigned round = 0; round < w->count; round++)
        for (unsigned a = 0; a < w->count; a++)
            for (unsigned b = 0; b < w->count; b++)
                known[b] |= known[a] && w->reach[a][b] && w->reach[b][a];
}

static void bounds_are_true(const struct world *w, const struct clock_ties *t)
{
    struct clock_tied is[CLOCKS];
    bool known[CLOCKS] = {false};
    double at = LENGTH * 0.9, shown = shows(&w->clocks[0], at);
    find_known(w, known);
    clock_ties_bound(t, shown, is);
    for (unsigned c = 0; c < w->count; c++) {
        assert_int_equal(is[c].known, known[c]);
        if (!known[c])
            continue;
        double ahead = shows(&w->clocks[c], at) - shown;
        double drift = (1 + w->clocks[c].drift) / (1 + w->clocks[0].drift) - 1;
        assert_false(is[c].uneven);
        assert_true(is[c].ahead_ns.low <= ahead + 1 && ahead - 1 <= is[c].ahead_ns.high);
        assert_true(is[c].drift.low <= drift + 1e-12 && drift - 1e-12 <= is[c].drift.high);
    }
}

/* Checks that no message is received before it was sent, even with messages in one direction
 * only. */
static void lines_contradict_nothing(const struct world *w, const struct clock_ties *t)
{
    struct line_fit fits[CLOCKS];
    for (unsigned c = 0; c < w->count; c++) /* a rough estimate */
        fits[c] = (struct line_fit){w->clocks[c].offset - w->clocks[0].offset + 1e6, 0};
    fits[0].at = 0;
    clock_fit_lines(t, fits);
    for (size_t i = 0; i < w->message_count; i++) {
        const struct message *m = &w->messages[i];
        double sent = line_fit_time(&fits[m->from], t->middle, (double)m->sent),
               got = line_fit_time(&fits[m->to], t->middle, (double)m->got);
        assert_true(sent <= got + 0.01);
    }
}

static void what_is_said_of_clocks_is_true(void **state)
{
    (void)state;
    static struct world world;
    for (unsigned seed = 1; seed <= 400; seed++) {
        state_of_chance = seed;
        make(&world);
        struct clock_ties *t = tied(&world);
        bounds_are_true(&world, t);
        lines_contradict_nothing(&world, t);
        clock_ties_free(t);
    }
}

/* A chain of hosts: the memory is proportional to the pairs that communicate, not to all pairs. */
static void many_hosts_take_little(void **state)
{
    (void)state;
    const uint32_t many = 20000;
    struct clock_ties *t = clock_ties_new(many, 0);
    for (uint32_t c = 1; c < many; c++) {
        clock_ties_note(t, c - 1, c, 0, 1000);
        clock_ties_note(t, c, c - 1, 0, 1000);
    }
    clock_ties_close(t);
    assert_int_equal(t->count, many - 1);
    assert_int_equal(t->begin[many], 2 * (many - 1));
    clock_ties_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_of_clocks_is_true),
        cmocka_unit_test(many_hosts_take_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
