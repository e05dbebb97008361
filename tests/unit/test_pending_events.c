/* Pending events: kept in the order of arrival, whichever of them are delivered in between. */
#include "server/order/order.h"
#include "tests/unit/unit.h"

#define LINES 40u
#define SENDER (LINES + 1)
#define STEPS 60000u
#define MOST 20u /* maximum pending events of a line, behind a missing number */

static struct {
    struct event_id at;
    bool waits;
} came[STEPS];
static uint32_t came_count;
static uint64_t missing[LINES + 1], newest[LINES + 1];
static unsigned seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

/* Inserts the missing event, which delivers the pending events of the line, and skips another
 * number. */
static void let_go(struct order *order, uint32_t line)
{
    order_insert(order, &(struct arrival){.at = {line, missing[line]}, .type = 1});
    for (uint32_t i = 0; i < came_count; i++)
        came[i].waits &= came[i].at.line != line;
    missing[line] = newest[line] + 1;
    newest[line]++;
}

static void put(struct order *order, uint32_t line)
{
    const struct event_id others[] = {{SENDER, 1}, {SENDER, 2}};
    struct arrival a = {.at = {line, ++newest[line]}, .type = 1};
    came[came_count].at = a.at;
    came[came_count++].waits = true;
    if (below(4) == 0) { /* partners are copied, into the same block or beside it */
        a.relation = RELATION_RECEIVE;
        a.partners = others;
        a.partner_count = 1 + below(2);
    }
    order_insert(order, &a);
}

struct visit {
    uint32_t next;
    bool wrong;
};

static void compare(void *context, const struct arrival *a)
{
    struct visit *visit = context;
    while (visit->next < came_count && !came[visit->next].waits)
        visit->next++;
    visit->wrong |= visit->next == came_count || !event_id_equal(came[visit->next].at, a->at);
    visit->next++;
}

static void all_is_there(const struct order *order)
{
    struct visit visit = {0};
    order_pending(order, UINT64_MAX, compare, &visit);
    while (visit.next < came_count && !came[visit.next].waits)
        visit.next++;
    assert_false(visit.wrong);
    assert_int_equal(visit.next, came_count);
}

/* Makes one step of a walk: the event must be pending and have arrived after those before it. */
static bool walk_on(struct pending_walk *walk, uint32_t *after)
{
    struct event_id at;
    if (!pending_walk_next(walk, &at))
        return false;
    while (*after < came_count && !event_id_equal(came[*after].at, at)) {
        assert_false(came[*after].waits); /* otherwise the walk skipped it */
        ++*after;
    }
    assert_true(*after < came_count && came[*after].waits);
    ++*after;
    return true;
}

/* One line in eight keeps its pending events for long, so that many blocks become nearly empty. */
static void what_waits_lies_in_the_order_of_its_coming(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 4; round++) {
        struct order *order = order_new();
        struct pending_walk walk = {0};
        uint32_t after = 0;
        bool walking = false;
        seed = round + 1;
        came_count = 0;
        for (uint32_t line = 1; line <= SENDER; line++)
            order_line(order, false, 1);
        for (uint32_t line = 1; line <= LINES; line++)
            missing[line] = newest[line] = 1;
        for (uint64_t n = 1; n <= 2; n++)
            order_insert(
                order, &(struct arrival){.at = {SENDER, n}, .type = 1, .relation = RELATION_SEND});
        for (uint32_t i = 0; i < STEPS / 16; i++) {
            uint32_t line = 1 + below(LINES), stays = line % 8 == 0;
            if (newest[line] - missing[line] < MOST && below(MOST))
                put(order, line);
            else if (!stays || below(64) == 0)
                let_go(order, line);
            if (!walking && below(100) == 0) {
                pending_walk_begin(order, &walk);
                walking = true;
                after = 0;
            }
            if (walking && below(2) && !walk_on(&walk, &after)) {
                pending_walk_end(&walk);
                walking = false;
            }
            if (i % 100 == 0)
                all_is_there(order);
        }
        if (walking)
            pending_walk_end(&walk);
        assert_int_equal(order_figures(order).contradictions, 0);
        order_free(order);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waits_lies_in_the_order_of_its_coming),
    };
    return cmocka_run_group_tests_name("pending", tests, NULL, NULL);
}
