/* Figures over time by pixels: levels hold until the next, rates are what was added, and nothing is where nothing is known. */
#include "memory/memory.h"
#include "server/run/figures.h"
#include "tests/unit/asking.h"
#include "wire/curve.h"

#include <string.h>

static struct run *run_of_one(void)
{
    struct run *run = run_new("curve@1", 1, NULL);
    struct run_process process = {.pid = 7, .path = strdup("/bin/x"), .host = strdup("here")};
    run_process(run, process);
    return run;
}

static void add(struct run *run, uint32_t meter, bool exact, int64_t at, int64_t value)
{
    struct figures of = {.meter = meter, .exact = exact};
    figures_add(run, &of, (struct figures_point){at, value});
}

static struct shown_curves ask(const struct run *run, struct curve_request r)
{
    struct out body = {0};
    struct shown_curves curves;
    r.meter = r.meter ? r.meter : (char *)(uintptr_t) "";
    put_curve_request(&body, &r);
    struct out out = answer_to(run, &question_curve, body, 1);
    struct answer answer;
    struct in in;
    size_t at = 0;
    assert_true(next_part(&out, &at, &answer, &in));
    assert_int_equal(answer.part, PART_CURVE);
    get_curves(&in, &curves);
    assert_true(in_done(&in));
    out_free(&out);
    return curves;
}

static void is(struct curve_pixel p, unsigned known, int64_t least, int64_t mean, int64_t most)
{
    assert_int_equal(p.known, known);
    assert_int_equal(p.least, least);
    assert_int_equal(p.mean, mean);
    assert_int_equal(p.most, most);
}

static void levels_hold(void **state)
{
    struct run *run = run_of_one();
    (void)state;
    add(run, USAGE_RESIDENT, false, 15, 100);
    add(run, USAGE_RESIDENT, false, 35, 300);
    add(run, USAGE_THREADS, false, 60, 2); /* until then it was looked at */
    struct shown_curves c =
        ask(run, (struct curve_request){.from = 0,
                                        .to = 100,
                                        .pixels = 10,
                                        .groups = CURVE_USAGE,
                                        .meter = (char *)(uintptr_t) "resident"});
    assert_int_equal(c.count, 1);
    assert_string_equal(c.items[0].program, "x[7]");
    assert_string_equal(c.items[0].unit, "bytes");
    const struct curve_pixel *p = c.items[0].pixels;
    is(p[0], CURVE_NOTHING, 0, 0, 0);
    is(p[1], CURVE_TOLD, 100, 100, 100);
    is(p[2], CURVE_BETWEEN, 100, 100, 100);
    is(p[3], CURVE_TOLD, 100, 200, 300);
    is(p[5], CURVE_BETWEEN, 300, 300, 300);
    is(p[6], CURVE_NOTHING, 0, 0, 0);
    shown_curves_free(&c);
    run_free(run);
}

static void rates_are_what_was_added(void **state)
{
    struct run *run = run_of_one();
    (void)state;
    add(run, USAGE_CPU_USER, false, 10, 0);
    add(run, USAGE_CPU_USER, false, 30, 0);
    add(run, USAGE_CPU_USER, false, 50, 20); /* one processor */
    add(run, USAGE_CPU_USER, true, 60, 40); /* two, and that was its end */
    struct shown_curves c =
        ask(run, (struct curve_request){.from = 0, .to = 100, .pixels = 5, .groups = CURVE_USAGE});
    const struct curve_pixel *p = c.items[0].pixels;
    const int64_t one = (int64_t)CURVE_RATE_SCALE * 1000000000;
    assert_true(c.items[0].grows && c.items[0].exact);
    assert_int_equal(c.items[0].scale, CURVE_RATE_SCALE);
    is(p[0], CURVE_TOLD, 0, 0, 0);
    is(p[1], CURVE_TOLD, 0, one / 2, one);
    is(p[2], CURVE_TOLD, one, 3 * one / 2, 2 * one);
    is(p[3], CURVE_NOTHING, 0, 0, 0);
    is(p[4], CURVE_NOTHING, 0, 0, 0);
    shown_curves_free(&c);
    run_free(run);
}

static void own_meters_have_their_names(void **state)
{
    struct run *run = run_of_one();
    struct figures_meter as = {"load", "jobs", false, 1000};
    (void)state;
    add(run, FIGURES_HEAP_LIVE, false, 5, 64);
    add(run, FIGURES_OWN + 3, false, 5, 1500);
    figures_name(run, 0, FIGURES_OWN + 3, as);
    struct shown_curves c =
        ask(run, (struct curve_request){.pixels = 3, .groups = CURVE_MEMORY | CURVE_OWN});
    assert_int_equal(c.count, 2);
    assert_string_equal(c.items[0].name, "heap_live");
    assert_string_equal(c.items[1].name, "load");
    assert_int_equal(c.items[1].scale, 1000);
    shown_curves_free(&c);
    c = ask(run, (struct curve_request){.pixels = LIMIT_PIXELS, .groups = CURVE_OWN});
    assert_int_equal(c.count, 1);
    shown_curves_free(&c);
    run_free(run);
}

static void nonsense_is_refused(void **state)
{
    struct out body = {0};
    struct curve_request r = {.pixels = 0, .groups = 1}, got;
    (void)state;
    put_curve_request(&body, &r);
    struct in in = in_from(body.data, body.size);
    get_curve_request(&in, &got);
    assert_false(in_done(&in));
    curve_request_free(&got);
    out_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_hold),
        cmocka_unit_test(rates_are_what_was_added),
        cmocka_unit_test(own_meters_have_their_names),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
