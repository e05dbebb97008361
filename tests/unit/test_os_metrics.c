/* Metrics of the operating system: texts of /proc, complete, truncated and invalid; series of
 * limited size. */
#define _GNU_SOURCE
#include "server/osmetrics/proc_files.h"
#include "server/run/metrics.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static const struct proc_units units = {.tick_ns = 10000000, .page_bytes = 4096};

static uint64_t value_of(const struct usage_figure *figures, size_t count, enum usage_meter meter)
{
    for (size_t i = 0; i < count; i++)
        if (figures[i].meter == meter)
            return figures[i].value;
    return UINT64_MAX;
}

/* A program name may contain blanks and parentheses. */
static void stat_is_read_behind_the_name(void **state)
{
    static const char text[] =
        "4711 (a ) R 1 (b) S 1 4711 4711 0 -1 4194304 123 4 5 6 70 8 9 10 20 0 3 0 12345 999424 77 "
        "18446744073709551615 1 1 0\n";
    struct usage_figure f[8];
    (void)state;
    size_t n = proc_stat(text, strlen(text), units, f, 8);
    assert_int_equal(n, 6);
    assert_int_equal(value_of(f, n, USAGE_FAULTS), 123);
    assert_int_equal(value_of(f, n, USAGE_MAJOR_FAULTS), 5);
    assert_int_equal(value_of(f, n, USAGE_CPU_USER), 700000000);
    assert_int_equal(value_of(f, n, USAGE_CPU_SYSTEM), 80000000);
    assert_int_equal(value_of(f, n, USAGE_THREADS), 3);
    assert_int_equal(value_of(f, n, USAGE_RESIDENT), 77 * 4096);
    /* truncated: only complete fields are returned */
    for (size_t cut = 0; cut < strlen(text); cut++)
        assert_true(proc_stat(text, cut, units, f, 8) <= 6);
    assert_int_equal(proc_stat(text, strlen(text), units, f, 2), 2);
    assert_int_equal(proc_stat("1 (x", 4, units, f, 8), 0);
    assert_int_equal(proc_stat("", 0, units, f, 8), 0);
}

static void figures_have_names(void **state)
{
    static const char status[] =
        "Name:\tx\nVmHWM:\t    1000 kB\nSeccomp:\t0\nSeccomp_filters:\t3\n";
    static const char io[] = "rchar: 10\nwchar: 20\nsyscr: 1\nsyscw: 2\nread_bytes: 4096\n"
                             "write_bytes: 8192\ncancelled_write_bytes: 0\n";
    struct usage_figure f[8];
    bool filtered = true;
    (void)state;
    size_t n = proc_status(status, strlen(status), &filtered, f, 8);
    assert_int_equal(value_of(f, n, USAGE_PEAK), 1024000);
    assert_false(filtered);
    n = proc_status("Seccomp:\t2\n", 11, &filtered, f, 8);
    assert_int_equal(n, 0);
    assert_true(filtered);
    proc_status("", 0, &filtered, f, 8);
    assert_true(filtered); /* no such line: it may be filtered */
    assert_true(proc_same_numbers("NSpid:\t4711\nx", 13));
    /* equal by chance, in another PID namespace */
    assert_false(proc_same_numbers("NSpid:\t4711\t4711\n", 17));
    assert_false(proc_same_numbers("NSpid:\t4711", 11)); /* truncated */
    assert_false(proc_same_numbers("Pid:\t4711\n", 10));
    n = proc_io(io, strlen(io), f, 8);
    assert_int_equal(n, 6);
    assert_int_equal(value_of(f, n, USAGE_WRITTEN), 20);
    assert_int_equal(value_of(f, n, USAGE_DISK_READ), 4096);
    n = proc_io(io, 12, f, 8);
    assert_int_equal(n, 1);
    n = proc_schedstat("123456 789 5\n", 13, f, 8);
    assert_int_equal(value_of(f, n, USAGE_CPU), 123456);
    assert_int_equal(value_of(f, n, USAGE_READY), 789);
    assert_int_equal(proc_schedstat("123456", 6, f, 8), 0);
    assert_int_equal(proc_schedstat("99999999999999999999999 1", 25, f, 8), 0); /* out of range */
}

/* However many samples are added, a series has the first and the newest, in order, evenly spaced,
 * and the true extremes. */
static void series_stay_small_and_true(void **state)
{
    struct run *run = run_new("usage@1", 1, NULL);
    struct os_metric_series of = {.meter = USAGE_RESIDENT};
    (void)state;
    unsigned seed = 1;
    int64_t most = 0, least = INT64_MAX;
    int64_t at = 0;
    for (unsigned i = 0; i < 50000; i++) {
        int64_t value = (int64_t)rand_r(&seed) + 1;
        at += 1 + rand_r(&seed) % 1000;
        most = value > most ? value : most;
        least = value < least ? value : least;
        os_metrics_add(run, &of, (struct os_metric_point){at, value});
        const struct os_metric_series *s = os_metrics_at(run, 0);
        assert_true(s->count <= OS_METRICS_POINTS);
        assert_int_equal(s->points[s->count - 1].at_ns, at);
        assert_int_equal(s->points[s->count - 1].value, value);
    }
    const struct os_metric_series *s = os_metrics_at(run, 0);
    int64_t widest = 0;
    for (uint32_t i = 1; i < s->count; i++) {
        int64_t apart = s->points[i].at_ns - s->points[i - 1].at_ns;
        assert_true(apart > 0);
        widest = apart > widest ? apart : widest;
    }
    assert_true(s->count > OS_METRICS_POINTS / 4);
    assert_true(widest < at / (OS_METRICS_POINTS / 16));
    assert_int_equal(s->samples, 50000);
    assert_int_equal(s->most, most);
    assert_int_equal(s->least, least);
    os_metrics_add(run, &of, (struct os_metric_point){1, 1}); /* earlier than the first */
    assert_int_equal(os_metrics_at(run, 0)->samples, 50000);
    of.exact = true;
    /* a sample was reported before the exact value */
    os_metrics_add(run, &of, (struct os_metric_point){at - 1, 7});
    assert_int_equal(os_metrics_at(run, 0)->points[os_metrics_at(run, 0)->count - 1].value, 7);
    of.exact = false;
    os_metrics_add(run, &of, (struct os_metric_point){at + 9, 8}); /* it has ended */
    assert_true(os_metrics_at(run, 0)->exact);
    assert_int_equal(os_metrics_at(run, 0)->samples, 50001);
    of.thread = 3;
    os_metrics_add(run, &of, (struct os_metric_point){1, 1});
    assert_int_equal(os_metrics_count(run), 2);
    run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_is_read_behind_the_name),
        cmocka_unit_test(figures_have_names),
        cmocka_unit_test(series_stay_small_and_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
