/* User-defined metrics, from the cells of a region to the run; and the syntax that selects what is
 * measured. */
#define _GNU_SOURCE
#include "config/measurement_spec.h"
#include "base/alloc.h"
#include "wire/profile_region.h"
#include "server/decode/metric_records.h"
#include "tests/unit/unit.h"
#include "wire/metric_messages.h"
#include "wire/program_messages.h"

#include <stdlib.h>
#include <string.h>

static struct profile_region_cell *cell_at(struct region_reader *r, uint32_t code)
{
    return (struct profile_region_cell *)(void *)((char *)(uintptr_t)r->head + REGION_CELLS_AT) +
           code;
}

static struct profile_region_head *head_of(struct region_reader *r)
{
    return (struct profile_region_head *)(uintptr_t)r->head;
}

static void begin(struct region_reader *r)
{
    *r = (struct region_reader){.head = calloc(1, REGION_MAP_BYTES)};
}

static void end(struct region_reader *r)
{
    metric_records_pending(r);
    free(head_of(r));
}

/* Returns the number of metrics that changed since the last call, the last of them in *sums. */
static uint32_t tell(struct region_reader *r, struct metric_sums *sums)
{
    struct encoder out = {0};
    uint32_t count = 0;
    if (metric_records_encode(r, 5, &out)) {
        struct decoder in = decoder_init(out.data, out.size);
        assert_int_equal(decode_u64(&in), 5);
        count = decode_count(&in, METRIC_SUMS_BYTES);
        for (uint32_t i = 0; i < count; i++)
            assert_true(decode_metric_sums(&in, sums));
        assert_true(decoder_finish(&in));
    } else {
        assert_int_equal(out.size, 0);
    }
    encoder_free(&out);
    return count;
}

static void what_changed_is_told(void **state)
{
    struct region_reader r;
    struct metric_sums sums;
    (void)state;
    begin(&r);
    assert_int_equal(tell(&r, &sums), 0);
    head_of(&r)->cells = 9;
    head_of(&r)->kinds[2] = METRIC_COUNT;
    head_of(&r)->kinds[3] = METRIC_DISTRIBUTION;
    cell_at(&r, 2)->count = 3;
    cell_at(&r, 2)->sum = -7;
    cell_at(&r, 3)->count = 1;
    cell_at(&r, 3)->least = cell_at(&r, 3)->most = cell_at(&r, 3)->last = 6;
    cell_at(&r, 3)->rest[1] = 1;
    cell_at(&r, 7)->rest[2] = 4; /* the last bucket */
    assert_int_equal(tell(&r, &sums), 2);
    assert_int_equal(sums.code, 3);
    assert_int_equal(sums.most, 6);
    assert_int_equal(sums.buckets[1], 1);
    assert_int_equal(sums.buckets[METRIC_BUCKETS - 1], 4);
    assert_int_equal(tell(&r, &sums), 0);
    cell_at(&r, 2)->count = 4;
    assert_int_equal(tell(&r, &sums), 1);
    assert_int_equal(sums.code, 2);
    assert_int_equal(sums.sum, -7);
    metric_records_pending(&r);
    assert_int_equal(tell(&r, &sums), 2);
    end(&r);
}

static void wild_cells_are_left_out(void **state)
{
    struct region_reader r;
    struct metric_sums sums;
    (void)state;
    begin(&r);
    head_of(&r)->cells = UINT32_MAX;
    memset(head_of(&r)->kinds, 0xff, sizeof head_of(&r)->kinds);
    /* a distribution needs more cells than remain */
    head_of(&r)->kinds[REGION_CELLS - 1] = METRIC_DISTRIBUTION;
    head_of(&r)->kinds[REGION_CELLS - METRIC_CELLS] = METRIC_DISTRIBUTION;
    assert_int_equal(tell(&r, &sums), 1);
    assert_int_equal(sums.code, REGION_CELLS - METRIC_CELLS);
    end(&r);
}

static bool named(struct run *run, uint32_t session, uint32_t code, uint8_t kind)
{
    struct encoder out = {0};
    encode_metric(&out, &(struct metric_message){code, kind, text_view_of("n"), text_view_of("u")});
    struct decoder in = decoder_init(out.data, out.size);
    bool good = metric_records_decode_name(run, session, 0, &in);
    encoder_free(&out);
    return good;
}

static void names_fit_their_kind(void **state)
{
    struct run *run = run_new("r", 1, NULL);
    (void)state;
    assert_true(named(run, 0, 1, METRIC_COUNT));
    assert_true(named(run, 0, METRIC_WATCHED_CODES, METRIC_WATCHED));
    assert_true(named(run, PROGRAM_METRICS_NO_PROCESS, METRIC_SAMPLED_CODES, METRIC_SAMPLED));
    assert_int_equal(program_metrics_names(run), 3);
    assert_int_equal(program_metrics_code(run, "n"), METRIC_SAMPLED_CODES);
    assert_false(named(run, 0, 0, METRIC_COUNT));
    assert_false(named(run, 0, REGION_CELLS, METRIC_GAUGE));
    assert_false(named(run, 0, 1, METRIC_WATCHED));
    assert_false(named(run, 0, METRIC_WATCHED_CODES + WATCH_CELLS, METRIC_WATCHED));
    assert_false(named(run, 0, METRIC_SAMPLED_CODES, METRIC_SAMPLED));
    assert_false(named(run, PROGRAM_METRICS_NO_PROCESS, 1, METRIC_COUNT));
    run_free(run);
}

static void samples_hold_until_the_next(void **state)
{
    static const int64_t at[] = {0, 10, 40}, values[] = {2, 8, 5};
    struct run *run = run_new("r", 1, NULL);
    struct encoder out = {0};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        encode_u64(&out, (uint64_t)at[i]);
        encode_u32(&out, 1);
        encode_u32(&out, METRIC_WATCHED_CODES + 1);
        encode_u64(&out, (uint64_t)values[i]);
        struct decoder in = decoder_init(out.data, out.size);
        assert_true(metric_records_decode_samples(run, 0, 0, &in));
        out.size = 0;
    }
    const struct program_metric_samples *s = program_metrics_sampled_at(run, 0);
    assert_int_equal(s->count, 3);
    assert_int_equal(s->least, 2);
    assert_int_equal(s->most, 8);
    assert_int_equal(s->last, 5);
    assert_true(s->total > 259.5 && s->total < 260.5); /* 2 in 10 ns, 8 in 30 ns */
    const struct os_metric_series *f =
        os_metrics_find(run, 0, 0, OS_METRICS_OWN + METRIC_WATCHED_CODES + 1);
    assert_non_null(f);
    assert_int_equal(f->points[f->count - 1].value, 5);
    run_free(run);
    encoder_free(&out);
}

static void buckets_are_powers_of_two(void **state)
{
    (void)state;
    assert_int_equal(metric_bucket_end(0), 1);
    assert_int_equal(metric_bucket_end(7), 128);
    assert_true(metric_bucket_end(METRIC_BUCKETS - 1) == INT64_MAX);
}

static void words_and_files_say_the_same(void **state)
{
    static const char *const words[] = {"calls=counts",
                                        "calls=every,states,rate=1000",
                                        "calls=cpu,states,memory,metrics,usage,waits,rate=7",
                                        "states,waits,samples=997,rate=7",
                                        "samples=10000",
                                        "none"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct measurement_spec m, again;
        struct error error;
        char *list, *text, *same;
        assert_true(measurement_spec_parse(words[i], &m, &error));
        list = measurement_spec_list(&m);
        assert_string_equal(list, words[i]);
        text = measurement_spec_write(&m);
        assert_true(measurement_spec_is_set(text));
        assert_true(measurement_spec_read(text, "m", stderr, &again));
        same = measurement_spec_list(&again);
        assert_string_equal(same, words[i]);
        free(list);
        free(text);
        free(same);
    }
    struct measurement_spec listed = {.wanted = WANTED_COUNTS}, again;
    listed.lists[MEASURE_COUNT] = xstrdup(" ns::f*, \"g\\h\",main\n");
    listed.lists[MEASURE_ONLY] = xstrdup("");
    char *text = measurement_spec_write(&listed);
    assert_true(measurement_spec_read(text, "m", stderr, &again));
    assert_string_equal(again.lists[MEASURE_COUNT], "ns::f*,\"g\\h\",main");
    assert_null(again.lists[MEASURE_ONLY]);
    assert_null(again.lists[MEASURE_IGNORE]);
    measurement_spec_free(&listed);
    measurement_spec_free(&again);
    free(text);
    static const char *const bad[] = {"call",         "calls=", "calls=cpus",      "rate=0",
                                      "rate=1001",    "rate=x", "states,,nothing", "samples=0",
                                      "samples=10001"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct measurement_spec m;
        struct error error;
        assert_false(measurement_spec_parse(bad[i], &m, &error));
        assert_non_null(strstr(error.text, ": unknown measurement; "));
    }
    struct measurement_spec both;
    struct error error;
    assert_false(measurement_spec_parse("samples=99,calls=counts", &both, &error));
    assert_non_null(strstr(error.text, "exclude each other"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_changed_is_told),      cmocka_unit_test(wild_cells_are_left_out),
        cmocka_unit_test(names_fit_their_kind),      cmocka_unit_test(samples_hold_until_the_next),
        cmocka_unit_test(buckets_are_powers_of_two), cmocka_unit_test(words_and_files_say_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
