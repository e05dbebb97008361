/* Alignment of two runs: equal events have the same column, causes have smaller columns than
 * effects, and lines are matched by how they were created. */
#include "clients/schedule/trace_alignment.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

enum { THREADS = 4, LOCKS = 3, VISITS = 40, EVENTS = 2 * (2 * THREADS + 2 * VISITS) };

/* A synthetic run: main creates threads, which visit locks. The numbers of lines differ between
 * runs. */
struct made {
    struct trace_alignment *beside;
    unsigned run;
    uint32_t threads[THREADS], locks[LOCKS]; /* lines */
    uint64_t numbers[THREADS + LOCKS + 1]; /* of the last event, by line */
    struct event_id before[EVENTS][3], at[EVENTS]; /* events that each one follows */
    struct event_id last[THREADS]; /* by thread */
    uint32_t count;
};

static struct event_id put(struct made *m, uint32_t line, unsigned thread, enum relation relation,
                           struct event_id *partner, const char *type)
{
    struct event_info e = {.at = {line, ++m->numbers[line]},
                           .thread = m->threads[thread],
                           .relation = (uint8_t)relation,
                           .partners = partner,
                           .partner_count = partner != NULL};
    assert_true(alignment_event(m->beside, m->run, &e, type));
    m->at[m->count] = e.at;
    m->before[m->count][0] = (struct event_id){line, e.at.number - 1};
    m->before[m->count][1] = m->last[thread];
    m->before[m->count][2] =
        relation == RELATION_RECEIVE && partner ? *partner : (struct event_id){0, 0};
    m->count++;
    m->last[thread] = e.at;
    return e.at;
}

/* Numbers the lines from `first` on, modulo their number. */
static void begin(struct made *m, struct trace_alignment *beside, unsigned run, unsigned first)
{
    *m = (struct made){.beside = beside, .run = run};
    for (unsigned i = 0; i < THREADS + LOCKS; i++) {
        uint32_t line = 1 + (i + first) % (THREADS + LOCKS);
        *(i < THREADS ? &m->threads[i] : &m->locks[i - THREADS]) = line;
    }
    alignment_name(beside, run, m->threads[0], "main");
    put(m, m->threads[0], 0, RELATION_NONE, NULL, "start");
    for (unsigned i = 1; i < THREADS; i++) {
        struct event_id child = {m->threads[i], 1};
        struct event_id sent = put(m, m->threads[0], 0, RELATION_SEND, &child, "create");
        put(m, m->threads[i], i, RELATION_RECEIVE, &sent, "begin");
    }
}

/* Adds a visit: a sync pair of an event on the thread's line and one on the lock's. */
static void visit(struct made *m, unsigned thread, unsigned lock)
{
    struct event_id here = {m->threads[thread], m->numbers[m->threads[thread]] + 1},
                    there = {m->locks[lock], m->numbers[m->locks[lock]] + 1};
    struct event_id before = m->last[thread];
    bool later = random() & 1; /* either event of the pair may come first in the log */
    for (unsigned i = 0; i < 2; i++) {
        m->last[thread] = before; /* neither event of the pair follows the other */
        if (later == (i == 0))
            put(m, m->locks[lock], thread, RELATION_SYNC, &here, "entered");
        else
            put(m, m->threads[thread], thread, RELATION_SYNC, &there, "enter");
    }
}

static void order_is_kept(const struct made *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        for (unsigned k = 0; k < 3; k++) {
            int32_t column = alignment_column(m->beside, m->run, m->at[i]);
            assert_true(column >= 0);
            if (m->before[i][k].number)
                assert_true(alignment_column(m->beside, m->run, m->before[i][k]) < column);
        }
}

static struct event_id counterpart(const struct made *m, struct event_id at)
{
    return (struct event_id){alignment_line(m->beside, m->run, at.line), at.number};
}

/* Returns how many events are equal, and checks that these have the same column and only equal
 * causes. */
static uint32_t equal_ones(const struct made *m, unsigned other)
{
    uint32_t equal = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        if (!alignment_equal(m->beside, m->run, m->at[i]))
            continue;
        struct event_id there = counterpart(m, m->at[i]);
        assert_true(alignment_equal(m->beside, other, there));
        assert_int_equal(alignment_column(m->beside, m->run, m->at[i]),
                         alignment_column(m->beside, other, there));
        for (unsigned k = 0; k < 3; k++)
            assert_true(!m->before[i][k].number ||
                        alignment_equal(m->beside, m->run, m->before[i][k]));
        equal++;
    }
    return equal;
}

static void the_same_is_equal(void **context)
{
    (void)context;
    struct trace_alignment *b = alignment_new();
    struct made a, c;
    begin(&a, b, 0, 0), begin(&c, b, 1, 3);
    for (unsigned i = 0; i < VISITS; i++)
        visit(&a, i % THREADS, i % LOCKS), visit(&c, i % THREADS, i % LOCKS);
    align_traces(b);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(alignment_line(b, 0, a.threads[i]), c.threads[i]);
    for (unsigned i = 0; i < LOCKS; i++)
        assert_int_equal(alignment_line(b, 1, c.locks[i]), a.locks[i]);
    assert_int_equal(alignment_first_divergence(b, 0).line, 0);
    assert_int_equal(alignment_first_divergence(b, 1).line, 0);
    assert_int_equal(equal_ones(&a, 1), a.count);
    order_is_kept(&a), order_is_kept(&c);
    alignment_free(b);
}

/* Two visits of one lock in the other order: they and what follows them differ, everything else is
 * equal. */
static void a_flip_differs_from_there_on(void **context)
{
    (void)context;
    struct trace_alignment *b = alignment_new();
    struct made a, c;
    begin(&a, b, 0, 0), begin(&c, b, 1, 2);
    visit(&a, 1, 0), visit(&c, 1, 0);
    uint32_t same = a.count;
    visit(&a, 1, 0), visit(&a, 2, 0);
    visit(&c, 2, 0), visit(&c, 1, 0);
    visit(&a, 3, 1), visit(&c, 3, 1); /* concurrent with the other visits */
    align_traces(b);
    assert_true(
        event_id_equal(alignment_first_divergence(b, 0), (struct event_id){a.threads[1], 3}));
    assert_true(
        event_id_equal(alignment_first_divergence(b, 1), (struct event_id){c.threads[2], 2}));
    for (unsigned i = same; i < same + 4; i++)
        assert_int_equal(alignment_may_diverge_at(b, 0, a.at[i]), i < same + 2);
    assert_int_equal(alignment_line(b, 0, a.threads[2]), c.threads[2]);
    struct event_id second = {a.threads[1], 3}; /* it did the same, but came second at the lock */
    assert_false(alignment_equal(b, 0, second));
    assert_true(event_id_equal(divergent_event(b, 0, second), (struct event_id){c.threads[1], 3}));
    assert_int_equal(divergent_event(b, 0, (struct event_id){a.threads[1], 99}).line, 0);
    for (unsigned i = 1; i < THREADS; i++) /* created one after the other */
        assert_int_equal(alignment_column(b, 0, (struct event_id){a.threads[i], 1}), i + 1);
    /* both events of a pair share a column, and no column is left out */
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(alignment_column(b, 0, (struct event_id){a.locks[0], i}), i + 2);
        assert_int_equal(alignment_column(b, 1, (struct event_id){c.locks[0], i}), i + 2);
    }
    assert_int_equal(alignment_column(b, 0, (struct event_id){a.threads[2], 2}), 5);
    assert_int_equal(alignment_column(b, 1, (struct event_id){c.threads[2], 2}), 4);
    assert_int_equal(alignment_column(b, 0, (struct event_id){a.threads[3], 2}), 5);
    assert_int_equal(equal_ones(&a, 1), same + 2);
    assert_int_equal(equal_ones(&c, 0), same + 2);
    order_is_kept(&a), order_is_kept(&c);
    alignment_free(b);
}

/* Runs with equal first visits and random others. */
static void whatever_they_do(void **context)
{
    (void)context;
    srandom(7);
    for (unsigned round = 0; round < 200; round++) {
        struct trace_alignment *b = alignment_new();
        struct made a, c;
        unsigned same = (unsigned)random() % VISITS;
        begin(&a, b, 0, (unsigned)random()), begin(&c, b, 1, (unsigned)random());
        for (unsigned i = 0; i < VISITS; i++) {
            unsigned thread = (unsigned)random() % THREADS, lock = (unsigned)random() % LOCKS;
            visit(&a, thread, lock);
            if (i >= same)
                thread = (unsigned)random() % THREADS, lock = (unsigned)random() % LOCKS;
            visit(&c, thread, lock);
        }
        align_traces(b);
        uint32_t equal = equal_ones(&a, 1);
        assert_int_equal(equal, equal_ones(&c, 0));
        assert_true(equal >= 1 + 2 * (THREADS - 1) + 2 * same);
        order_is_kept(&a), order_is_kept(&c);
        alignment_free(b);
    }
}

static void what_is_missing_is_refused(void **context)
{
    (void)context;
    struct trace_alignment *b = alignment_new();
    struct event_info gap = {.at = {1, 2}, .thread = 1},
                      pending = {.at = {1, 1}, .thread = 1, .state = EVENT_PENDING};
    assert_false(alignment_event(b, 0, &gap, "call"));
    assert_false(alignment_event(b, 0, &pending, "call"));
    /* a cycle, which no server sends, must not loop forever */
    struct event_id loop[] = {{2, 1}, {1, 1}};
    struct event_info one = {.at = {1, 1}, .thread = 1, .after = &loop[0], .after_count = 1};
    struct event_info two = {.at = {2, 1}, .thread = 2, .after = &loop[1], .after_count = 1};
    assert_true(alignment_event(b, 0, &one, "call"));
    assert_true(alignment_event(b, 0, &two, "call"));
    align_traces(b);
    assert_int_equal(alignment_column(b, 0, (struct event_id){1, 2}), -1);
    assert_false(alignment_equal(b, 0, (struct event_id){1, 1}));
    assert_true(event_id_equal(alignment_first_divergence(b, 0), (struct event_id){1, 1}));
    alignment_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_is_equal), cmocka_unit_test(a_flip_differs_from_there_on),
        cmocka_unit_test(whatever_they_do), cmocka_unit_test(what_is_missing_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
