/* The critical path and the activity graph, on programs of which every nanosecond is known: some
 * by hand, and random ones compared with the definitions. */
#include "base/alloc.h"
#include "server/analysis/activity_graph.h"
#include "server/analysis/critical_path.h"
#include "tests/unit/simulated_run.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

/* ---- queries ---- */

static int64_t on_path(const struct intervals *all, const struct critical_path *path, uint32_t name)
{
    int64_t sum = 0;
    for (size_t i = 0; i < path->count; i++)
        if (path->pieces[i].step &&
            code_segments_at(&all->steps, path->pieces[i].step).from == name)
            sum += path->pieces[i].to_ns - path->pieces[i].from_ns;
    return sum;
}

static struct critical_path whole_path(const struct intervals *all)
{
    struct critical_path path = {0};
    critical_path_begin(&path, all, 0, INT64_MAX);
    while (!critical_path_step(&path, 3)) {
    }
    return path;
}

static struct activity_graph *prepared(const struct intervals *all)
{
    struct activity_graph *graph = activity_graph_new(all);
    while (!graph_prepare_step(graph, 5)) {
    }
    return graph;
}

static int64_t length_with(struct activity_graph *graph, struct graph_change change)
{
    activity_graph_forward(graph, change);
    while (!activity_graph_forward_step(graph, 7)) {
    }
    return activity_graph_length(graph);
}

/* Returns the length of the run if all intervals of a step took `factor` millionths of their
 * time. */
static int64_t length_if(const struct world *w, struct activity_graph *graph, uint32_t name,
                         uint32_t factor)
{
    uint32_t *factors = xcalloc(w->all.steps.count + 1, sizeof *factors);
    for (uint32_t i = 0; i < w->all.steps.count; i++)
        factors[i] = w->all.steps.items[i].from == name ? factor : GRAPH_WHOLE;
    int64_t length = length_with(
        graph, (struct graph_change){.factors = factors, .factor_count = w->all.steps.count});
    free(factors);
    return length;
}

static int64_t slack_of(const struct world *w, const struct activity_graph *graph, uint32_t name)
{
    int64_t least = INT64_MAX;
    for (uint32_t t = 0; t < w->all.thread_count; t++)
        for (size_t i = 0; i < w->all.threads[t].count; i++) {
            const struct interval *in = &w->all.threads[t].items[i];
            if (in->step && code_segments_at(&w->all.steps, in->step).from == name &&
                activity_graph_slack(graph, t, i) < least)
                least = activity_graph_slack(graph, t, i);
        }
    return least;
}

static void find_slack(struct activity_graph *graph)
{
    length_with(graph, (struct graph_change){0});
    activity_graph_backward(graph);
    while (!activity_graph_backward_step(graph, 3)) {
    }
}

enum { A1 = 1, A2, B1, B3, C1, C3, F, G, H, K, SLOW, LATE, COMMON, EXTRA, HELD };

/* Returns three threads in a row, each of which waits for a message of the one before. */
static struct world *chain_of_three(void)
{
    struct world *w = world(0);
    add(w, 0, WORK, A1, 50), add(w, 0, SEND, 0, 0), add(w, 0, WORK, A2, 30),
        add(w, 0, RECEIVE, 2, 0);
    add(w, 1, WORK, B1, 20), add(w, 1, RECEIVE, 0, 0), add(w, 1, WORK, B3, 40),
        add(w, 1, SEND, 1, 0);
    add(w, 2, WORK, C1, 25), add(w, 2, RECEIVE, 1, 0), add(w, 2, WORK, C3, 35),
        add(w, 2, SEND, 2, 0);
    assert_true(run(w));
    return w;
}

static void the_path_goes_back_over_messages(void **state)
{
    (void)state;
    struct world *w = chain_of_three();
    struct critical_path path = whole_path(&w->all);
    assert_int_equal(critical_path_length(&path), 125);
    assert_int_equal(on_path(&w->all, &path, A1), 50);
    assert_int_equal(on_path(&w->all, &path, B3), 40);
    assert_int_equal(on_path(&w->all, &path, C3), 35);
    assert_int_equal(path.hops, 3);
    critical_path_free(&path);
    drop(w);
}

static void what_if_and_slack_of_three(void **state)
{
    (void)state;
    struct world *w = chain_of_three();
    struct activity_graph *graph = prepared(&w->all);
    assert_int_equal(length_if(w, graph, A1, 0), 95);
    assert_int_equal(length_if(w, graph, B3, GRAPH_WHOLE / 2), 105);
    assert_int_equal(length_if(w, graph, B3, 0), 85);
    assert_int_equal(length_if(w, graph, C3, 0), 90);
    assert_int_equal(length_if(w, graph, A2, 0), 125);
    assert_int_equal(length_if(w, graph, A2, GRAPH_WHOLE * 4), 170);
    find_slack(graph);
    assert_int_equal(activity_graph_length(graph), 125);
    assert_int_equal(slack_of(w, graph, A2), 45);
    assert_int_equal(slack_of(w, graph, B1), 30);
    assert_int_equal(slack_of(w, graph, C1), 65);
    assert_int_equal(slack_of(w, graph, A1), 0);
    assert_int_equal(slack_of(w, graph, B3), 0);
    assert_int_equal(slack_of(w, graph, C3), 0);
    activity_graph_free(graph);
    drop(w);
}

static void a_lock_handed_on(void **state)
{
    (void)state;
    struct world *w = world(0);
    add(w, 0, LOCK, 0, 0), add(w, 0, WORK, G, 30), add(w, 0, UNLOCK, 0, 0);
    add(w, 1, WORK, A1, 10), add(w, 1, LOCK, 0, 0), add(w, 1, WORK, H, 20), add(w, 1, UNLOCK, 0, 0);
    add(w, 2, WORK, A1, 15), add(w, 2, LOCK, 0, 0), add(w, 2, WORK, K, 5), add(w, 2, UNLOCK, 0, 0);
    assert_true(run(w));
    struct critical_path path = whole_path(&w->all);
    assert_int_equal(critical_path_length(&path), 55);
    assert_int_equal(on_path(&w->all, &path, G), 30);
    assert_int_equal(on_path(&w->all, &path, H), 20);
    assert_int_equal(on_path(&w->all, &path, K), 5);
    struct activity_graph *graph = prepared(&w->all);
    assert_int_equal(length_with(graph, (struct graph_change){.free_line = 1}), 30);
    activity_graph_free(graph);
    critical_path_free(&path);
    drop(w);
}

static void rounds_of_a_barrier(void **state)
{
    (void)state;
    struct world *w = world(0);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned t = 0; t < 4; t++)
            add(w, t, WORK, t == 3 ? LATE : F, 10 * (t + 1)), add(w, t, BARRIER, round, 0);
    assert_true(run(w));
    struct critical_path path = whole_path(&w->all);
    assert_int_equal(critical_path_length(&path), 120);
    assert_int_equal(on_path(&w->all, &path, LATE), 120);
    struct activity_graph *graph = prepared(&w->all);
    /* then the third thread is the critical one */
    assert_int_equal(length_if(w, graph, LATE, 0), 90);
    assert_int_equal(length_if(w, graph, F, 0), 120);
    assert_int_equal(length_if(w, graph, F, GRAPH_WHOLE * 2), 180);
    activity_graph_free(graph);
    critical_path_free(&path);
    drop(w);
}

/* The critical path until a time begins at a thread that had started by then. */
static void who_begins_later_is_not_on_the_path(void **state)
{
    (void)state;
    struct intervals all = {0};
    struct critical_path path = {0};
    uint32_t a = code_segments_code(&all.steps, (struct code_segment_key){.from = 1});
    intervals_start(&all, 1, 100, 0);
    intervals_add_run(&all, 1, a, 150, 1);
    intervals_set_created(&all, 2, 1, 150, 1);
    intervals_start(&all, 2, 160, 2);
    intervals_add_run(&all, 2, a, 200, 3);
    critical_path_begin(&path, &all, 0, 140);
    while (!critical_path_step(&path, 1)) {
    }
    assert_int_equal(critical_path_length(&path), 40);
    critical_path_free(&path);
    intervals_free(&all);
}

static void a_thread_begins_where_it_was_made(void **state)
{
    (void)state;
    struct intervals all = {0};
    uint32_t a = code_segments_code(&all.steps, (struct code_segment_key){.from = 1}),
             b = code_segments_code(&all.steps, (struct code_segment_key){.from = 2});
    intervals_start(&all, 1, 100, 0);
    intervals_add_run(&all, 1, a, 150, 1);
    intervals_set_created(&all, 2, 1, 150, 1);
    intervals_add_run(&all, 1, a, 155, 1);
    intervals_start(&all, 2, 160, 2);
    intervals_add_run(&all, 2, b, 200, 3);
    struct critical_path path = whole_path(&all);
    assert_int_equal(critical_path_length(&path), 100);
    assert_int_equal(path.count, 3);
    assert_int_equal(path.pieces[1].is, PATH_STARTS);
    assert_int_equal(path.pieces[1].to_ns - path.pieces[1].from_ns, 10);
    assert_true(path.pieces[0].hop);
    struct activity_graph *graph = prepared(&all);
    assert_int_equal(length_with(graph, (struct graph_change){0}), 100);
    assert_int_equal(length_with(graph, (struct graph_change){.no_latency = true}), 90);
    uint32_t none[2] = {0, GRAPH_WHOLE};
    assert_int_equal(length_with(graph, (struct graph_change){.factors = none, .factor_count = 2}),
                     50);
    activity_graph_free(graph);
    critical_path_free(&path);
    intervals_free(&all);
}

/* Thread 2 is created at 150, first switched in at 158, starts at 160 and is off-CPU from 170 to
 * 190. */
static void who_could_run_has_a_processor(void **state)
{
    (void)state;
    struct intervals all = {0};
    uint32_t a = code_segments_code(&all.steps, (struct code_segment_key){.from = 1});
    struct cpu_states *spans = cpu_states_new();
    intervals_start(&all, 1, 100, 0);
    intervals_add_run(&all, 1, a, 150, 1);
    intervals_set_created(&all, 2, 1, 150, 1);
    intervals_start(&all, 2, 160, 2);
    intervals_add_run(&all, 2, a, 200, 3);
    cpu_states_switched(spans, 2, SWITCH_ON, 0, 158);
    cpu_states_switched(spans, 2, SWITCH_OUT, 0, 170);
    cpu_states_switched(spans, 2, SWITCH_ON, 0, 190);
    struct activity_graph *graph = prepared(&all);
    assert_int_equal(length_with(graph, (struct graph_change){0}), 100);
    assert_int_equal(length_with(graph, (struct graph_change){.spans = spans}), 100 - 20 - 8);
    assert_int_equal(length_with(graph, (struct graph_change){.spans = spans, .no_latency = true}),
                     100 - 20 - 10);
    assert_int_equal(length_with(graph, (struct graph_change){0}), 100);
    activity_graph_free(graph);
    cpu_states_free(spans);
    intervals_free(&all);
}

/* ---- random programs ---- */

static unsigned below(unsigned n) { return (unsigned)rand() % n; }

static void random_section(struct world *w, unsigned round)
{
    unsigned kinds[] = {0, 2, 1}, kind = kinds[below(w->locks ? 3 : 2)], sender = below(w->count),
             receiver = below(w->count);
    for (unsigned t = 0; t < w->count; t++)
        for (unsigned i = 1 + below(2); i > 0; i--)
            add(w, t, WORK, 1 + below(6), 1 + below(20));
    for (unsigned t = 0; kind == 0 && t < w->count; t++)
        add(w, t, BARRIER, 100 + round, 0);
    for (unsigned t = 0; kind == 1 && t < w->count; t++)
        if (below(5)) {
            unsigned m = below(2);
            add(w, t, LOCK, m, 0), add(w, t, WORK, 1 + below(6), 1 + below(15)),
                add(w, t, UNLOCK, m, 0);
        }
    if (kind == 2 && sender != receiver)
        add(w, sender, SEND, 10 + round, 0), add(w, receiver, RECEIVE, 10 + round, 0);
    for (unsigned t = 0; t < w->count; t++)
        add(w, t, WORK, 1 + below(6), 1);
}

static struct world *random_world(unsigned seed)
{
    srand(seed);
    struct world *w = world((int64_t)below(3));
    w->count = 2 + below(4);
    w->locks = seed % 2;
    for (unsigned round = 2 + below(7); round > 0; round--)
        random_section(w, round);
    if (run(w))
        return w;
    drop(w);
    return NULL;
}

static bool has_locks(const struct world *w)
{
    for (unsigned t = 0; t < w->count; t++)
        for (unsigned i = 0; i < w->threads[t].count; i++)
            if (w->threads[t].ops[i].act == LOCK)
                return true;
    return false;
}

static void the_path_is_as_long_as_the_run(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 4000; seed++) {
        struct world *w = random_world(seed);
        if (!w)
            continue;
        int64_t end = 0;
        for (unsigned t = 0; t < w->count; t++)
            if (w->threads[t].at > end)
                end = w->threads[t].at;
        struct critical_path path = whole_path(&w->all);
        assert_int_equal(critical_path_length(&path), end);
        for (size_t i = 1; i < path.count; i++)
            assert_int_equal(path.pieces[i].from_ns, path.pieces[i - 1].to_ns);
        struct activity_graph *graph = prepared(&w->all);
        assert_int_equal(length_with(graph, (struct graph_change){0}), end);
        if (!has_locks(w)) /* with locks, one may be handed over in no time */
            assert_int_equal(activity_graph_left_out(graph), 0);
        activity_graph_free(graph);
        critical_path_free(&path);
        drop(w);
    }
}

/* Without locks the order cannot change, so the graph must predict exactly how long the changed
 * program takes. */
static void what_if_is_what_is(void **state)
{
    (void)state;
    unsigned compared = 0;
    for (unsigned seed = 0; seed < 4000; seed++) {
        struct world *w = random_world(seed);
        if (w && !has_locks(w) && w->latency == 0)
            for (uint32_t name = 1; name <= 3; name++, compared++) {
                struct world *changed = world(0);
                int64_t end = 0;
                changed->count = w->count;
                for (unsigned t = 0; t < w->count; t++)
                    for (unsigned i = 0; i < w->threads[t].count; i++) {
                        struct op op = w->threads[t].ops[i];
                        bool is = op.act == WORK && op.what == name;
                        add(changed, t, op.act, op.what, is ? op.ns * (int64_t)(name - 1) : op.ns);
                    }
                assert_true(run(changed));
                for (unsigned t = 0; t < changed->count; t++)
                    end = changed->threads[t].at > end ? changed->threads[t].at : end;
                struct activity_graph *graph = prepared(&w->all);
                assert_int_equal(length_if(w, graph, name, GRAPH_WHOLE * (name - 1)), end);
                activity_graph_free(graph);
                drop(changed);
            }
        if (w)
            drop(w);
    }
    assert_true(compared > 1000);
}

/* An interval may take longer by its slack without delaying the end, and not a nanosecond more. */
static void slack_is_exact(void **state)
{
    (void)state;
    unsigned compared = 0;
    for (unsigned seed = 0; seed < 600; seed++) {
        struct world *w = random_world(seed);
        if (!w)
            continue;
        struct activity_graph *graph = prepared(&w->all), *again = prepared(&w->all);
        find_slack(graph);
        for (uint32_t t = 0; t < w->all.thread_count; t++)
            for (size_t i = 0; i < w->all.threads[t].count; i++) {
                struct interval *in = &w->all.threads[t].items[i];
                if (in->is != INTERVAL_RUNS || !in->step)
                    continue;
                int64_t took = in->to_ns - interval_begin(&w->all.threads[t], i);
                int64_t slack = activity_graph_slack(graph, t, i),
                        end = activity_graph_length(graph);
                uint32_t step = in->step;
                in->step = code_segments_code(&w->all.steps, (struct code_segment_key){.from = 77});
                uint32_t *factors = xcalloc(w->all.steps.count, sizeof *factors);
                for (uint32_t k = 0; k < w->all.steps.count; k++)
                    factors[k] = GRAPH_WHOLE;
                for (int more = 0; more < 2; more++, compared++) {
                    /* rounded up, so that truncation yields the wanted length */
                    int64_t want = took + slack + more;
                    factors[in->step - 1] =
                        (uint32_t)((want * (int64_t)GRAPH_WHOLE + took - 1) / took);
                    assert_int_equal(
                        length_with(again,
                                    (struct graph_change){.factors = factors,
                                                          .factor_count = w->all.steps.count}),
                        end + more);
                }
                free(factors);
                in->step = step;
            }
        activity_graph_free(graph);
        activity_graph_free(again);
        drop(w);
    }
    assert_true(compared > 5000);
}

static struct activity_graph *prepared_until(const struct intervals *all, uint32_t thread,
                                             int64_t at_ns)
{
    struct activity_graph *graph = activity_graph_new(all);
    activity_graph_until(graph, thread, at_ns);
    while (!graph_prepare_step(graph, 5)) {
    }
    return graph;
}

/* The chain of three until the second thread has been unblocked and has executed half of its
 * work. */
static void what_is_until_a_moment(void **state)
{
    (void)state;
    struct world *w = chain_of_three();
    struct activity_graph *graph = prepared_until(&w->all, 1, 70);
    /* then it waits for its own work: 20 and 20 */
    assert_int_equal(length_if(w, graph, A1, 0), 40);
    assert_int_equal(length_if(w, graph, B3, 0), 50);
    assert_int_equal(length_if(w, graph, B3, GRAPH_WHOLE / 2), 60);
    assert_int_equal(length_if(w, graph, C1, 0), 70);
    find_slack(graph);
    assert_int_equal(activity_graph_length(graph), 70);
    assert_int_equal(slack_of(w, graph, A1), 0);
    assert_int_equal(slack_of(w, graph, B1), 30);
    assert_int_equal(slack_of(w, graph, B3), 0);
    assert_true(slack_of(w, graph, A2) == INT64_MAX); /* it leads only to later events */
    assert_true(slack_of(w, graph, C1) == INT64_MAX);
    activity_graph_free(graph);
    drop(w);
}

/* With nothing changed, the run takes as long as it took, until any moment of any thread. */
static void until_any_moment_it_is_what_it_was(void **state)
{
    (void)state;
    unsigned compared = 0;
    for (unsigned seed = 0; seed < 60; seed++) {
        struct world *w = random_world(seed);
        for (uint32_t t = 0; w && t < w->all.thread_count; t++) {
            const struct thread_timeline *c = &w->all.threads[t];
            for (size_t i = 0; i < c->count; i++) {
                int64_t begin = interval_begin(c, i), end = c->items[i].to_ns;
                for (int64_t at = end; at > begin; at -= (end - begin + 1) / 2, compared++) {
                    struct activity_graph *graph = prepared_until(&w->all, t, at);
                    struct critical_path path = {0};
                    critical_path_begin(&path, &w->all, c->thread, at);
                    while (!critical_path_step(&path, 3)) {
                    }
                    assert_int_equal(length_with(graph, (struct graph_change){0}),
                                     critical_path_length(&path));
                    critical_path_free(&path);
                    activity_graph_free(graph);
                }
            }
        }
        if (w)
            drop(w);
    }
    assert_true(compared > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_goes_back_over_messages),
        cmocka_unit_test(what_if_and_slack_of_three),
        cmocka_unit_test(a_lock_handed_on),
        cmocka_unit_test(rounds_of_a_barrier),
        cmocka_unit_test(a_thread_begins_where_it_was_made),
        cmocka_unit_test(who_could_run_has_a_processor),
        cmocka_unit_test(who_begins_later_is_not_on_the_path),
        cmocka_unit_test(the_path_is_as_long_as_the_run),
        cmocka_unit_test(what_if_is_what_is),
        cmocka_unit_test(slack_is_exact),
        cmocka_unit_test(what_is_until_a_moment),
        cmocka_unit_test(until_any_moment_it_is_what_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
