/* Fisher's exact test of two series of runs, compared with values computed by hand. */
#include "clients/schedule/fisher_test.h"
#include "tests/bruteforce.h"
#include "tests/unit/viewer_requests.h"

static void is_about(double is, double wanted)
{
    assert_true(is > wanted * (1 - 1e-9) && is < wanted * (1 + 1e-9));
}

static void all_and_none_is_one_of_the_ways_to_choose(void **state)
{
    (void)state;
    is_about(fisher_test_probability(5, 5, 0, 10), 1 / 3003.);
    is_about(fisher_test_probability(3, 3, 0, 7), 1 / 120.);
}

static void what_falls_to_both_is_no_proof(void **state)
{
    (void)state;
    is_about(fisher_test_probability(4, 5, 0, 10), 5 / 1365.);
    is_about(fisher_test_probability(3, 4, 1, 4), (4 * 4 + 1) / 70.); /* the lady tasting tea */
    is_about(fisher_test_probability(5, 5, 3, 10), 120 / 6435.);
    is_about(fisher_test_probability(0, 5, 7, 10), 1);
    is_about(fisher_test_probability(5, 5, 10, 10), 1);
    is_about(fisher_test_probability(0, 0, 0, 10), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_and_none_is_one_of_the_ways_to_choose),
        cmocka_unit_test(what_falls_to_both_is_no_proof),
    };
    return cmocka_run_group_tests_name("odds", tests, NULL, NULL);
}
