/* Matches of patterns in random programs, compared with brute force; and errors of patterns. */
#include "server/queries/pattern_search.h"
#include "tests/unit/pattern_reference.h"
#include "tests/unit/random_run.h"

static struct reference all;

/* ---- brute force ---- */

static bool is_type(const struct pattern_event *named, const char *type)
{
    bool any = named->type_count == 0;
    for (uint32_t i = 0; i < named->type_count; i++)
        any |= strcmp(named->types[i], type) == 0;
    return any;
}

/* Returns the line of the other event of a sync pair on its thread's own line; else 0. */
static uint32_t partner_line(const struct run *run, uint64_t position)
{
    struct order_event e = order_event(run->order, position);
    for (uint64_t p = e.point; p <= order_point_end(run->order, position); p++)
        if (p != position && e.relation == RELATION_SYNC && e.line == e.thread)
            return order_event(run->order, p).line;
    return 0;
}

static void choose_all(const struct run *run, const struct event_pattern *pattern)
{
    all.pattern = pattern;
    all.count = 0;
    for (uint64_t p = 0; p < order_count(run->order); p++) {
        struct order_event e = order_event(run->order, p);
        struct match_event m = {.position = p, .number = e.number, .time_ns = e.time_ns};
        for (uint32_t i = 0; i < pattern->event_count && !(e.line & HIDDEN_LINE); i++)
            m.roles |= (uint32_t)is_type(&pattern->events[i], run_type_name(run, e.type)) << i;
        if (!m.roles)
            continue;
        m.values[PATTERN_OBJECT] = e.about              ? e.about
                                   : e.line != e.thread ? e.line
                                                        : partner_line(run, p);
        m.values[PATTERN_THREAD] = e.thread;
        m.values[PATTERN_LINE] = e.line;
        m.values[PATTERN_TYPE] = e.type;
        assert_true(all.count < REFERENCE_EVENTS);
        all.chosen[all.count++] = m;
    }
    reference_relate(&all, run->order);
}

static void check_pattern(const struct run *run, const char *text, unsigned seed)
{
    struct match_settings settings = {
        .limit = UINT64_MAX, .count_limit = UINT64_MAX, .keep_uncertain = true};
    struct error error = {""};
    struct pattern_search *s = pattern_search_new(run, text, &settings, &error);
    if (!s)
        fail_msg("%s: %s", text, error.text);
    for (uint64_t budget = 7; !pattern_search_step(s, &budget);)
        budget = 7;
    choose_all(run, s->pattern);
    assert_int_equal(s->match->event_count, all.count);
    reference_check(&all, s->match, text, seed);
    pattern_search_free(s);
}

static void random_programs_have_the_matches_of_brute_force(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "s: signal; w: wait; s || w; s.object = w.object",
        "s: signal; w: wait; k: wake; w -> s -> k; w.thread = k.thread; s.object = k.object",
        "a: acquire; l: lock; q: acquired; a next l; l = q; a.object = q.line",
        "a: acquired; r: released; a ; r; b: acquired; r -> b; a.line = b.line; !c between r b; "
        "c: acquired; c.line = b.line",
        "a: sem_post; b: sem_acquired|wait; a || b; a.object = b.object",
        "passed = p; p: passed; passed.thread != p.thread",
        "a: read_acquired; b: write_acquired|read_acquired; a -> ..20ms b; a.thread != b.thread",
        "a: arrive; b: passed; a ..10ms b; a.thread = b.thread; !x between a b; x: *; x.thread = "
        "a.thread",
        "m: lock; n: lock; m || n; m.object != n.object",
        "a: wait; b: wake; c: signal; a -> b || c",
    };
    uint64_t found = 0;
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct playing g = play_random(seed);
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
            check_pattern(g.p.run, patterns[i], seed);
            found += got_count > 0;
        }
        run_free(g.p.run);
    }
    assert_true(found > 200);
}

/* ---- the text ---- */

static void errors_name_their_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t column;
        const char *words;
    } wrong[] = {
        {"", 1, "no event"},
        {"a -> ", 6, "expected an event at the end"},
        {"a: lock b", 9, "expected a relation or ; instead of \"b\""},
        {"a: lock; a: lock", 10, "\"a\" is defined twice"},
        {"a:", 3, "the type of an event"},
        {"a -> a", 7, "no relation to itself"},
        {"a ..5 b", 5, "expected a time"},
        {"a.object < b.object", 20, "two events are compared with = or !="},
        {"a.object = b.type", 18, "object and type cannot be equal"},
        {"a(object~\"x)", 10, "missing \""},
        {"a(object<x)", 10, "object has no order"},
        {"a(time=5ms)", 8, "compare times with <"},
        {"a(time<5)", 8, "\"5\" is not a time"},
        {"!c between a", 13, "expected an event at the end"},
        {"!c between a c", 15, "three different events"},
        {"!c between a b; c -> a", 2, "has no other relation"},
        {"a || b || c || d || e || f || g || h || i", 41, "more than 8 events"},
        {"a ->\nb", 5, "before the end of the line"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pattern_error error;
        struct event_pattern *p = event_pattern_read(wrong[i].text, &error);
        if (p || error.column != wrong[i].column || !strstr(error.text, wrong[i].words))
            fail_msg("%s: column %u: %s", wrong[i].text, error.column, p ? "none" : error.text);
    }
}

static struct event_pattern *read_pattern(const char *text)
{
    struct pattern_error error;
    struct event_pattern *p = event_pattern_read(text, &error);
    if (!p)
        fail_msg("%s: column %u: %s", text, error.column, error.text);
    return p;
}

static void a_semicolon_after_space_means_next(void **state)
{
    (void)state;
    struct event_pattern *p = read_pattern("a ; b; c -> d ; e: lock ; a.object = b.object");
    assert_int_equal(p->relation_count, 2);
    assert_int_equal(p->relations[0].kind, PATTERN_NEXT);
    assert_int_equal(p->relations[1].kind, PATTERN_BEFORE);
    assert_int_equal(p->comparison_count, 1);
    assert_int_equal(p->event_count, 5);
    event_pattern_free(p);
}

static void values_end_at_separators_unless_quoted(void **state)
{
    (void)state;
    struct event_pattern *p =
        read_pattern("a: lock(line=M:x, text=\"b, \\\"c\\\"\", place~/d\\/e/); a.kind != mutex");
    static const char *const values[] = {"M:x", "b, \"c\"", "d/e", "mutex"};
    assert_int_equal(p->condition_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_string_equal(p->conditions[i].value, values[i]);
    event_pattern_free(p);
}

static void concurrent_events_in_a_row_are_so_to_each_other(void **state)
{
    (void)state;
    struct event_pattern *p = read_pattern("a || b || c -> ..2ms d || e");
    assert_int_equal(p->relation_count, 6);
    assert_int_equal(p->relations[4].within_ns, 2000000);
    event_pattern_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_have_the_matches_of_brute_force),
        cmocka_unit_test(errors_name_their_columns),
        cmocka_unit_test(a_semicolon_after_space_means_next),
        cmocka_unit_test(values_end_at_separators_unless_quoted),
        cmocka_unit_test(concurrent_events_in_a_row_are_so_to_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
