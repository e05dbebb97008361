/* The palette of thread states: distances in CIELAB for normal and color-blind eyes, and of grays
 * without color.  Matrices: Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB. */
#include "render/palette.h"
#include "tests/unit/unit.h"

#include <math.h>

#define COLOR_DISTANCE 40.0
#define GRAY_DISTANCE 25.0

static const uint8_t states[] = {THREAD_STATE_RUNNING, THREAD_STATE_RUNNABLE, THREAD_STATE_BLOCKED,
                                 THREAD_STATE_OFF_CPU};
enum { STATES = sizeof states };

struct lab {
    double l, a, b;
};

static double linear_of(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double lab_root(double t)
{
    return t > 216 / 24389.0 ? cbrt(t) : (24389 / 27.0 * t + 16) / 116;
}

/* Returns CIELAB, with white D65, of linear RGB; components outside the gamut are clipped. */
static struct lab lab_of(const double linear[3])
{
    double c[3];
    for (int i = 0; i < 3; i++)
        c[i] = fmin(fmax(linear[i], 0), 1);
    double x = lab_root((0.4124564 * c[0] + 0.3575761 * c[1] + 0.1804375 * c[2]) / 0.95047),
           y = lab_root(0.2126729 * c[0] + 0.7151522 * c[1] + 0.0721750 * c[2]),
           z = lab_root((0.0193339 * c[0] + 0.1191920 * c[1] + 0.9503041 * c[2]) / 1.08883);
    return (struct lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

static struct lab seen(unsigned state, bool grey, const double eye[3][3])
{
    struct target_color c = palette_color(state, grey);
    double rgb[3] = {linear_of(c.red), linear_of(c.green), linear_of(c.blue)}, through[3] = {0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            through[i] += eye[i][k] * rgb[k];
    return lab_of(through);
}

static double distance(struct lab x, struct lab y)
{
    return sqrt(pow(x.l - y.l, 2) + pow(x.a - y.a, 2) + pow(x.b - y.b, 2));
}

static const double eyes[][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                    {{0.152286, 1.052583, -0.204868},
                                     {0.114503, 0.786281, 0.099216},
                                     {-0.003882, -0.048116, 1.051998}},
                                    {{0.367322, 0.860646, -0.227968},
                                     {0.280085, 0.672501, 0.047413},
                                     {-0.011820, 0.042940, 0.968881}},
                                    {{1.255528, -0.076749, -0.178779},
                                     {-0.078411, 0.930809, 0.147602},
                                     {0.004733, 0.691367, 0.303900}}};

/* The computation agrees with published values: pure red is (53.24, 80.09, 67.20). */
static void lab_is_that_of_the_standard(void **state)
{
    (void)state;
    struct lab red = lab_of((const double[]){1, 0, 0});
    assert_true(distance(red, (struct lab){53.24, 80.09, 67.20}) < 0.1);
}

static void states_differ_for_every_eye(void **state)
{
    (void)state;
    for (size_t eye = 0; eye < sizeof eyes / sizeof *eyes; eye++)
        for (unsigned i = 0; i < STATES; i++)
            for (unsigned k = 0; k < i; k++) {
                double far =
                    distance(seen(states[i], false, eyes[eye]), seen(states[k], false, eyes[eye]));
                if (far < COLOR_DISTANCE)
                    fail_msg("eye %zu: states %u and %u are %.1f apart", eye, states[i], states[k],
                             far);
            }
}

/* A thread that has not started looks different from one that has ended. */
static void created_and_exited_differ(void **state)
{
    (void)state;
    for (size_t eye = 0; eye < sizeof eyes / sizeof *eyes; eye++)
        assert_true(distance(seen(THREAD_STATE_CREATED, false, eyes[eye]),
                             seen(THREAD_STATE_EXITED, false, eyes[eye])) > 15);
    assert_true(distance(seen(THREAD_STATE_CREATED, true, eyes[0]),
                         seen(THREAD_STATE_EXITED, true, eyes[0])) > 10);
}

static void grays_differ_in_lightness(void **state)
{
    (void)state;
    for (unsigned i = 0; i < STATES; i++)
        for (unsigned k = 0; k < i; k++) {
            double far = fabs(seen(states[i], true, eyes[0]).l - seen(states[k], true, eyes[0]).l);
            if (far < GRAY_DISTANCE)
                fail_msg("grays of states %u and %u are %.1f apart", states[i], states[k], far);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lab_is_that_of_the_standard),
        cmocka_unit_test(states_differ_for_every_eye),
        cmocka_unit_test(grays_differ_in_lightness),
        cmocka_unit_test(created_and_exited_differ),
    };
    return cmocka_run_group_tests_name("palette", tests, NULL, NULL);
}
