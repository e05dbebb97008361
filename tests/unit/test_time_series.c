/* Time series by pixels: levels hold until the next sample, rates are increments, and unknown
 * ranges stay empty. */
#include "base/alloc.h"
#include "server/run/metrics.h"
#include "tests/unit/viewer_requests.h"
#include "wire/time_series.h"

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
    struct os_metric_series of = {.meter = meter, .exact = exact};
    os_metrics_add(run, &of, (struct os_metric_point){at, value});
}

static struct time_series_set ask(const struct run *run, struct series_request r)
{
    struct encoder body = {0};
    struct time_series_set curves;
    r.meter = r.meter ? r.meter : (char *)(uintptr_t) "";
    encode_series_request(&body, &r);
    struct encoder out = answer_to(run, &query_time_series, body, 1);
    struct response_chunk answer;
    struct decoder in;
    size_t at = 0;
    assert_true(next_part(&out, &at, &answer, &in));
    assert_int_equal(answer.part, RESPONSE_TIME_SERIES);
    decode_time_series(&in, &curves);
    assert_true(decoder_finish(&in));
    encoder_free(&out);
    return curves;
}

static void is(struct series_pixel p, unsigned known, int64_t least, int64_t mean, int64_t most)
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
    add(run, USAGE_THREADS, false, 60, 2); /* sampled until this time */
    struct time_series_set c =
        ask(run, (struct series_request){.from = 0,
                                         .to = 100,
                                         .pixels = 10,
                                         .groups = SERIES_USAGE,
                                         .meter = (char *)(uintptr_t) "resident"});
    assert_int_equal(c.count, 1);
    assert_string_equal(c.items[0].program, "x[7]");
    assert_string_equal(c.items[0].unit, "bytes");
    const struct series_pixel *p = c.items[0].pixels;
    is(p[0], SERIES_NOTHING, 0, 0, 0);
    is(p[1], SERIES_RECORDED, 100, 100, 100);
    is(p[2], SERIES_BETWEEN, 100, 100, 100);
    is(p[3], SERIES_RECORDED, 100, 200, 300);
    is(p[5], SERIES_BETWEEN, 300, 300, 300);
    is(p[6], SERIES_NOTHING, 0, 0, 0);
    time_series_free(&c);
    run_free(run);
}

static void rates_are_what_was_added(void **state)
{
    struct run *run = run_of_one();
    (void)state;
    add(run, USAGE_CPU_USER, false, 10, 0);
    add(run, USAGE_CPU_USER, false, 30, 0);
    add(run, USAGE_CPU_USER, false, 50, 20); /* one CPU */
    add(run, USAGE_CPU_USER, true, 60, 40); /* two CPUs; the last sample */
    struct time_series_set c = ask(
        run, (struct series_request){.from = 0, .to = 100, .pixels = 5, .groups = SERIES_USAGE});
    const struct series_pixel *p = c.items[0].pixels;
    const int64_t one = (int64_t)SERIES_RATE_SCALE * 1000000000;
    assert_true(c.items[0].grows && c.items[0].exact);
    assert_int_equal(c.items[0].scale, SERIES_RATE_SCALE);
    is(p[0], SERIES_RECORDED, 0, 0, 0);
    is(p[1], SERIES_RECORDED, 0, one / 2, one);
    is(p[2], SERIES_RECORDED, one, 3 * one / 2, 2 * one);
    is(p[3], SERIES_NOTHING, 0, 0, 0);
    is(p[4], SERIES_NOTHING, 0, 0, 0);
    time_series_free(&c);
    run_free(run);
}

static void own_meters_have_their_names(void **state)
{
    struct run *run = run_of_one();
    struct os_metric_kind as = {"load", "jobs", false, 1000};
    (void)state;
    add(run, OS_METRICS_HEAP_LIVE, false, 5, 64);
    add(run, OS_METRICS_OWN + 3, false, 5, 1500);
    os_metrics_name(run, 0, OS_METRICS_OWN + 3, as);
    struct time_series_set c =
        ask(run, (struct series_request){.pixels = 3, .groups = SERIES_MEMORY | SERIES_OWN});
    assert_int_equal(c.count, 2);
    assert_string_equal(c.items[0].name, "heap_live");
    assert_string_equal(c.items[1].name, "load");
    assert_int_equal(c.items[1].scale, 1000);
    time_series_free(&c);
    c = ask(run, (struct series_request){.pixels = LIMIT_PIXELS, .groups = SERIES_OWN});
    assert_int_equal(c.count, 1);
    time_series_free(&c);
    run_free(run);
}

static void nonsense_is_refused(void **state)
{
    struct encoder body = {0};
    struct series_request r = {.pixels = 0, .groups = 1}, got;
    (void)state;
    encode_series_request(&body, &r);
    struct decoder in = decoder_init(body.data, body.size);
    decode_series_request(&in, &got);
    assert_false(decoder_finish(&in));
    series_request_free(&got);
    encoder_free(&body);
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
