/* Positions of points within a column: those with overlapping rows are at different positions. */
#include "render/scene_builder.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

static void overlapping_points_stand_side_by_side(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 2000; seed++) {
        struct slot_point points[40];
        unsigned random = seed;
        uint32_t count = execution_random(&random, 40);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t row = execution_random(&random, 30);
            points[i] = (struct slot_point){execution_random(&random, 8), row,
                                            row + execution_random(&random, 4), 99};
        }
        scene_columns_assign_slots(points, count);
        for (uint32_t i = 0; i < count; i++) {
            bool forced = points[i].slot == 0;
            for (uint32_t k = 0; k < count; k++) {
                bool meet = i != k && points[i].column == points[k].column &&
                            points[i].first_row <= points[k].last_row &&
                            points[k].first_row <= points[i].last_row;
                if (meet && points[i].slot < SLOTS_MAX - 1)
                    assert_int_not_equal(points[i].slot, points[k].slot);
                forced |= meet && points[k].slot + 1 == points[i].slot;
            }
            assert_true(forced); /* no position is left empty without a reason */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(overlapping_points_stand_side_by_side)};
    return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
