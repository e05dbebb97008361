/* Bounds of clock offsets, compared with known clocks and with all pairs of messages. */
#include "server/run/clock_bounds.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

#define MESSAGES 300u

static uint64_t state_of_chance;
static uint64_t chance(uint64_t below)
{
    state_of_chance = state_of_chance * 6364136223846793005u + 1442695040888963407u;
    return (state_of_chance >> 33) % below;
}

struct truth {
    int64_t offset;
    double drift;
};
static int64_t there(const struct truth *t, int64_t a)
{
    return a + t->offset + (int64_t)floor((double)a * t->drift);
}

struct told {
    struct clock_message forth[MESSAGES], back[MESSAGES];
    size_t forths, backs;
};

/* Sends random messages in both directions within `length` ns, in no particular order. */
static void tell(struct told *told, const struct truth *t, int64_t length, size_t count)
{
    *told = (struct told){0};
    for (size_t i = 0; i < count; i++) {
        int64_t at = (int64_t)chance((uint64_t)length),
                later = at + 10000 + (int64_t)chance(chance(4) ? 20000000 : 3000);
        if (chance(2))
            told->forth[told->forths++] = (struct clock_message){at, there(t, later)};
        else
            told->back[told->backs++] = (struct clock_message){there(t, at), later};
    }
}

static size_t cuts_of(struct clock_half_plane *cuts, const struct told *told, double middle,
                      bool all)
{
    struct clock_messages forth = {0}, back = {0};
    for (size_t i = 0; i < told->forths; i++)
        clock_messages_add(&forth, told->forth[i].sent, told->forth[i].got);
    for (size_t i = 0; i < told->backs; i++)
        clock_messages_add(&back, told->back[i].sent, told->back[i].got);
    if (!all) {
        clock_messages_close(&forth);
        clock_messages_close(&back);
    }
    size_t count = clock_region_cuts(cuts, &forth, &back, middle);
    clock_messages_free(&forth);
    clock_messages_free(&back);
    return count;
}

static bool fits(const struct clock_half_plane *cuts, size_t count, double drift, double at)
{
    for (size_t i = 0; i < count; i++) {
        double over = at + drift * cuts[i].x - cuts[i].y;
        if ((cuts[i].is_upper ? over : -over) > CLOCK_REGION_LEAST_NS + 1e-3)
            return false;
    }
    return true;
}

/* Returns the bounds by trying the intersections of all pairs of cuts, among which are the
 * corners. */
static struct clock_interval oracle(const struct clock_half_plane *cuts, size_t count, double x,
                                    bool drifts)
{
    struct clock_interval all = {INFINITY, -INFINITY};
    for (size_t i = 0; i < count + 2; i++)
        for (size_t k = 0; k < i; k++) {
            double slack_k =
                k < count ? cuts[k].is_upper ? CLOCK_REGION_LEAST_NS : -CLOCK_REGION_LEAST_NS : 0;
            double drift, at;
            if (k >= count)
                continue; /* both edges are limits of the drift */
            if (i >= count) {
                drift = i == count ? CLOCK_REGION_DRIFT : -CLOCK_REGION_DRIFT;
            } else {
                double slack_i = cuts[i].is_upper ? CLOCK_REGION_LEAST_NS : -CLOCK_REGION_LEAST_NS;
                if (cuts[i].x == cuts[k].x)
                    continue;
                drift = (cuts[i].y + slack_i - cuts[k].y - slack_k) / (cuts[i].x - cuts[k].x);
            }
            at = cuts[k].y + slack_k - drift * cuts[k].x;
            if (fabs(drift) > CLOCK_REGION_DRIFT * (1 + 1e-9) || !fits(cuts, count, drift, at))
                continue;
            double value = drifts ? drift : x + at + drift * x;
            all.low = fmin(all.low, value);
            all.high = fmax(all.high, value);
        }
    return all;
}

static void bounds_hold_and_are_the_narrowest(void **state)
{
    (void)state;
    static struct told told;
    static struct clock_half_plane cuts[MESSAGES], every[MESSAGES];
    for (unsigned seed = 1; seed <= 150; seed++) {
        state_of_chance = seed;
        struct truth truth = {(int64_t)chance(10000000000) - 5000000000,
                              ((double)chance(401) - 200) / 1e6};
        int64_t length = INT64_C(1000000) << chance(14);
        tell(&told, &truth, length, 2 + chance(seed % 10 ? 40 : MESSAGES - 2));
        double middle = (double)length / 2, at = (double)chance((uint64_t)length) - middle;
        size_t count = cuts_of(cuts, &told, middle, false),
               all = cuts_of(every, &told, middle, true);
        struct clock_region region;
        clock_region_from(&region, cuts, count);
        if (!told.forths || !told.backs) {
            assert_int_equal(region.count, 0);
            continue;
        }
        assert_true(region.count > 0);
        /* these clocks have constant drift */
        assert_true(region.slack_ns == CLOCK_REGION_LEAST_NS);
        struct clock_interval shown = clock_region_map(&region, (struct clock_interval){at, at}),
                              drift = clock_region_drift(&region);
        int64_t real = there(&truth, (int64_t)(at + middle)) - (int64_t)middle;
        assert_true(shown.low <= (double)real && (double)real <= shown.high);
        assert_true(drift.low <= truth.drift && truth.drift <= drift.high);
        struct clock_interval most = oracle(every, all, at, false),
                              ppm = oracle(every, all, at, true);
        assert_true(fabs(shown.low + 1 - most.low) < 1 && fabs(shown.high - 1 - most.high) < 1);
        assert_true(fabs(drift.low - ppm.low) < 1e-9 && fabs(drift.high - ppm.high) < 1e-9);
        struct clock_interval back =
            clock_region_map_back(&region, (struct clock_interval){(double)real, (double)real});
        assert_true(back.low <= at && at <= back.high);
        struct clock_corner centre = clock_region_center(&region);
        assert_true(fits(every, all, centre.drift, centre.at));
    }
}

static void uneven_clocks_are_said_to_be(void **state)
{
    (void)state;
    struct told told = {0};
    struct clock_half_plane cuts[8];
    struct clock_region region;
    for (int64_t i = 0; i < 4; i++) { /* round trips of 2 us, each with a different offset */
        int64_t off = i % 2 ? 100000 : 0;
        told.forth[told.forths++] = (struct clock_message){i * 1000000, i * 1000000 + 1000 + off};
        told.back[told.backs++] =
            (struct clock_message){i * 1000000 + 1000 + off, i * 1000000 + 2000};
    }
    clock_region_from(&region, cuts, cuts_of(cuts, &told, 0, false));
    assert_true(region.count > 0);
    assert_true(region.slack_ns > 10000 && region.slack_ns < 200000);
    told.back[1].sent += 1000000000; /* with a second of difference nothing is known */
    clock_region_from(&region, cuts, cuts_of(cuts, &told, 0, false));
    assert_int_equal(region.count, 0);
}

static void only_the_hull_is_kept(void **state)
{
    (void)state;
    struct clock_messages ways = {0};
    state_of_chance = 7;
    for (unsigned i = 0; i < 100000; i++) {
        int64_t sent = (int64_t)chance(1000000000);
        clock_messages_add(&ways, sent, sent + 1000 + (int64_t)chance(1000000));
    }
    clock_messages_add(&ways, INT64_MAX, INT64_MIN); /* no clock shows these times */
    assert_true(ways.room < 4096);
    clock_messages_close(&ways);
    assert_true(ways.count < 200);
    for (size_t i = 1; i < ways.count; i++)
        assert_true(ways.items[i - 1].sent < ways.items[i].sent);
    clock_messages_free(&ways);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_and_are_the_narrowest),
        cmocka_unit_test(uneven_clocks_are_said_to_be),
        cmocka_unit_test(only_the_hull_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
