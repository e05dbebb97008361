/* Swapping two events of a replayed run: which events are repeated before, and where the threads
 * are held. */
#include "clients/cli/swap_events.h"
#include "base/alloc.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { LOCK = 1, ACQUIRED, RELEASED, REQUEST, START, CREATE, BARRIER };

#define EVENTS 32u
#define BIAS 0x400000u

struct play {
    struct event_info events[EVENTS];
    struct event_id partners[EVENTS], after[EVENTS];
    unsigned count;
    struct swap_events swap;
    bool repeated[EVENTS];
};

/* Adds an event of a thread to the trace: partner and after may be {0, 0}. */
static void add(struct play *p, struct event_id at, uint32_t thread, uint32_t type, uint64_t site,
                struct event_id partner, struct event_id after)
{
    struct event_info *e = &p->events[p->count];
    assert_true(p->count < EVENTS);
    p->partners[p->count] = partner;
    p->after[p->count] = after;
    *e = (struct event_info){.at = at,
                             .thread = thread,
                             .type = type,
                             .site = BIAS + site,
                             .relation = partner.line ? RELATION_SYNC : RELATION_NONE,
                             .partners = &p->partners[p->count],
                             .partner_count = partner.line ? 1 : 0,
                             .after = &p->after[p->count],
                             .after_count = after.line ? 1 : 0};
    p->count++;
}

#define AT(line, number) ((struct event_id){line, number})
#define NONE AT(0, 0)

/* A thread enters an object: a sync pair. */
static void pair(struct play *p, struct event_id thread, struct event_id object, uint32_t type,
                 uint64_t site)
{
    add(p, thread, thread.line, type, site, object, NONE);
    add(p, object, thread.line, type + 1, site, thread, NONE);
}

/* Reads the trace twice, as `poet replay --swap` does. */
static void play(struct play *p, const char *a, const char *b)
{
    assert_true(swap_events_read(&p->swap, a, b));
    for (unsigned i = 0; i < p->count; i++)
        swap_events_find(&p->swap, &p->events[i]);
    for (unsigned i = 0; i < p->count; i++)
        p->repeated[i] = swap_events_filter(&p->swap, &p->events[i]);
}

static void repeats(const struct play *p, unsigned count)
{
    for (unsigned i = 0; i < p->count; i++)
        assert_int_equal(p->repeated[i], i < count);
}

static void is_at(struct event_id is, uint32_t line, uint32_t number)
{
    assert_int_equal(is.line, line);
    assert_int_equal(is.number, number);
}

/* Threads 1 and 2 start and lock the mutex 3, one after the other. */
static void play_locks(struct play *p)
{
    add(p, AT(1, 1), 1, START, 1, NONE, NONE);
    add(p, AT(2, 1), 2, START, 2, NONE, NONE);
    add(p, AT(1, 2), 1, REQUEST, 10, NONE, NONE);
    pair(p, AT(1, 3), AT(3, 1), LOCK, 10);
    add(p, AT(2, 2), 2, REQUEST, 20, NONE, NONE);
    add(p, AT(3, 2), 1, RELEASED, 11, NONE, NONE);
    pair(p, AT(2, 3), AT(3, 3), LOCK, 20);
}

static void two_events_are_named_as_line_and_number(void **state)
{
    struct swap_events swap = {.begun = false};
    (void)state;
    assert_true(swap_events_read(&swap, "4:1", "12:345"));
    is_at(swap.events[0], 4, 1);
    is_at(swap.events[1], 12, 345);
    assert_false(swap_events_read(&swap, "4:1", NULL));
    assert_false(swap_events_read(&swap, "4:1", "4:1"));
    assert_false(swap_events_read(&swap, "4:1", "4"));
    assert_false(swap_events_read(&swap, "", "4:1"));
    assert_false(swap_events_read(&swap, "0:1", "4:1"));
    assert_false(swap_events_read(&swap, "4:1", "4:1x"));
}

static void what_precedes_the_lock_request_is_repeated(void **state)
{
    static const char *const names[][2] = {
        {"1:3", "2:3"}, {"2:3", "1:3"}, {"3:1", "3:3"}, {"3:3", "1:3"}};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct play p = {.count = 0};
        play_locks(&p);
        play(&p, names[i][0], names[i][1]);
        repeats(&p, 2);
        is_at(p.swap.first.at, 1, 2);
        assert_int_equal(p.swap.first.type, REQUEST);
        assert_int_equal(p.swap.other.thread, 2);
        assert_int_equal(p.swap.other.times, 1);
        swap_events_free(&p.swap);
    }
}

/* It posts a semaphore in a loop: all is at one call site. */
static void an_operation_begins_behind_the_one_before_it_at_its_site(void **state)
{
    struct play p = {.count = 0};
    (void)state;
    add(&p, AT(1, 1), 1, START, 1, NONE, NONE);
    add(&p, AT(2, 1), 2, START, 2, NONE, NONE);
    for (uint32_t i = 0; i < 3; i++) {
        pair(&p, AT(1, 2 + 2 * i), AT(3, 1 + 3 * i), LOCK, 10);
        add(&p, AT(3, 2 + 3 * i), 1, BARRIER, 10, NONE, NONE);
        add(&p, AT(3, 3 + 3 * i), 1, RELEASED, 10, NONE, NONE);
    }
    pair(&p, AT(2, 2), AT(3, 10), LOCK, 20);
    play(&p, "3:8", "2:2"); /* the third one */
    is_at(p.swap.first.at, 1, 6);
    repeats(&p, 2 + 2 * 4);
    swap_events_free(&p.swap);
}

/* Either half of a sync pair may be the first one in the trace. */
static void the_halves_of_a_pair_are_one_operation(void **state)
{
    struct play p = {.count = 0};
    (void)state;
    add(&p, AT(2, 1), 2, START, 2, NONE, NONE);
    for (uint32_t i = 1; i <= 2; i++) {
        add(&p, AT(3, i), 1, ACQUIRED, 10, AT(1, i), NONE);
        add(&p, AT(1, i), 1, LOCK, 10, AT(3, i), NONE);
    }
    add(&p, AT(1, 3), 1, LOCK, 10, AT(3, 3), NONE);
    add(&p, AT(3, 3), 1, ACQUIRED, 10, AT(1, 3), NONE);
    pair(&p, AT(2, 2), AT(3, 4), LOCK, 20);
    play(&p, "3:3", "2:2");
    is_at(p.swap.first.at, 1, 3);
    repeats(&p, 5);
    swap_events_free(&p.swap);
}

static void how_often_the_other_thread_came_is_counted(void **state)
{
    struct play p = {.count = 0};
    (void)state;
    add(&p, AT(2, 1), 2, BARRIER, 20, NONE, NONE);
    add(&p, AT(1, 1), 1, BARRIER, 10, NONE, NONE); /* the first one */
    add(&p, AT(2, 2), 2, BARRIER, 20, NONE, NONE);
    add(&p, AT(2, 3), 2, BARRIER, 21, NONE, NONE);
    add(&p, AT(4, 1), 4, BARRIER, 20, NONE, NONE);
    add(&p, AT(2, 4), 2, START, 20, NONE, NONE);
    add(&p, AT(2, 5), 2, BARRIER, 20, NONE, NONE); /* the other one */
    add(&p, AT(2, 6), 2, BARRIER, 20, NONE, NONE);
    play(&p, "2:5", "1:1");
    repeats(&p, 1);
    assert_true(p.swap.other.known);
    assert_int_equal(p.swap.other.times, 2);
    swap_events_free(&p.swap);
}

/* Thread 2 begins only after the first event: what its begin needs is repeated, as long as it does
 * not come from that event. */
static void what_starts_the_other_thread_is_repeated(void **state)
{
    struct play p = {.count = 0};
    (void)state;
    add(&p, AT(1, 1), 1, START, 1, NONE, NONE);
    add(&p, AT(1, 2), 1, BARRIER, 10, NONE, NONE);     /* the first one */
    add(&p, AT(4, 1), 4, CREATE, 40, NONE, NONE);      /* repeated */
    add(&p, AT(1, 3), 1, BARRIER, 11, NONE, NONE);     /* after the first one */
    add(&p, AT(5, 1), 5, BARRIER, 50, NONE, AT(1, 3)); /* comes from it */
    add(&p, AT(5, 2), 5, BARRIER, 51, NONE, NONE);
    add(&p, AT(2, 1), 2, START, 2, NONE, AT(4, 1)); /* repeated: the other thread */
    add(&p, AT(2, 2), 2, BARRIER, 20, NONE, NONE);  /* the other one */
    add(&p, AT(4, 2), 4, BARRIER, 41, NONE, NONE);
    play(&p, "1:2", "2:2");
    for (unsigned i = 0; i < p.count; i++)
        assert_int_equal(p.repeated[i], i == 0 || i == 2 || i == 6);
    assert_true(p.swap.other.known);
    swap_events_free(&p.swap);
}

/* The first event of the other thread is the named one. */
static void the_other_event_is_not_repeated(void **state)
{
    struct play p = {.count = 0};
    (void)state;
    add(&p, AT(1, 1), 1, BARRIER, 10, NONE, NONE); /* the first one */
    add(&p, AT(4, 1), 4, CREATE, 40, NONE, NONE);
    add(&p, AT(2, 1), 2, BARRIER, 20, NONE, AT(4, 1)); /* the other one */
    play(&p, "1:1", "2:1");
    for (unsigned i = 0; i < p.count; i++)
        assert_int_equal(p.repeated[i], i == 1);
    swap_events_free(&p.swap);
}

static void what_may_come_from_the_first_event_is_not_repeated(void **state)
{
    struct play p = {.count = 0};
    (void)state;
    add(&p, AT(1, 1), 1, BARRIER, 10, NONE, NONE); /* the first one */
    add(&p, AT(3, 1), 1, RELEASED, 11, NONE, NONE);
    pair(&p, AT(5, 1), AT(3, 2), LOCK, 50); /* thread 5 gets what thread 1 released */
    add(&p, AT(6, 1), 6, BARRIER, 60, AT(1, 1), NONE);
    p.events[p.count - 1].relation = RELATION_RECEIVE;
    add(&p, AT(7, 1), 7, BARRIER, 70, NONE, NONE);
    p.events[p.count - 1].group = 1;
    add(&p, AT(8, 1), 8, BARRIER, 80, AT(1, 1), NONE); /* repeated: it comes before it */
    p.events[p.count - 1].relation = RELATION_SEND;
    add(&p, AT(7, 2), 7, BARRIER, 71, NONE, NONE);
    add(&p, AT(2, 1), 2, START, 2, NONE, NONE);    /* repeated: the other thread */
    add(&p, AT(2, 2), 2, BARRIER, 20, NONE, NONE); /* the other one */
    play(&p, "1:1", "2:2");
    for (unsigned i = 0; i < p.count; i++)
        assert_int_equal(p.repeated[i], i == 6 || i == 8);
    swap_events_free(&p.swap);
}

static void what_is_not_in_the_trace_is_an_error(void **state)
{
    struct trace_metadata book = {.type_count = 0};
    struct schedule_control head;
    const char *why = NULL;
    struct play p = {.count = 0};
    (void)state;
    play_locks(&p);
    play(&p, "1:3", "2:9");
    repeats(&p, 2);
    assert_false(swap_events_hold_points(&p.swap, &book, &head, &why));
    assert_string_equal(why, "the trace does not contain both of them");
    swap_events_free(&p.swap);
    p = (struct play){.count = 0};
    play_locks(&p);
    play(&p, "8:1", "8:2"); /* neither is there: all is repeated */
    repeats(&p, p.count);
    assert_false(swap_events_hold_points(&p.swap, &book, &head, &why));
    swap_events_free(&p.swap);
    p = (struct play){.count = 0};
    play_locks(&p);
    play(&p, "1:3", "3:2"); /* of one thread */
    assert_false(swap_events_hold_points(&p.swap, &book, &head, &why));
    assert_string_equal(why, "one thread performed both");
    swap_events_free(&p.swap);
}

static void the_first_thread_is_held_until_the_other_is_done(void **state)
{
    char *types[] = {(char *)(uintptr_t) "lock", (char *)(uintptr_t) "acquired",
                     (char *)(uintptr_t) "released", (char *)(uintptr_t) "request"};
    struct module_info module = {.start = BIAS, .end = BIAS + 0x1000, .bias = BIAS - 0x80};
    struct process_info process = {.modules = &module, .module_count = 1};
    struct trace_metadata book = {
        .types = types, .type_count = 4, .processes = &process, .process_count = 1};
    struct schedule_control head;
    const char *why = NULL;
    struct play p = {.count = 0};
    (void)state;
    module.path = (char *)(uintptr_t) "/usr/bin/two";
    play_locks(&p);
    play(&p, "2:3", "1:3");
    assert_true(swap_events_hold_points(&p.swap, &book, &head, &why));
    assert_null(why);
    assert_int_equal(head.point_count, 2);
    const struct hold_point *held = &head.points[0], *awaited = &head.points[1];
    assert_int_equal(held->thread, 1);
    assert_int_equal(held->until, HOLD_UNTIL_DONE);
    assert_int_equal(held->others, 2); /* bits: the other point */
    assert_int_equal(held->most, 1);
    assert_int_equal(held->address, 0x80 + 10);
    assert_string_equal(held->type, "request");
    assert_string_equal(held->file, "two");
    assert_int_equal(awaited->thread, 2);
    assert_int_equal(awaited->until, HOLD_UNTIL_NOT_HELD);
    assert_int_equal(awaited->others, 0);
    assert_int_equal(awaited->address, 0x80 + 20);
    assert_string_equal(awaited->type, "lock");
    module.start = BIAS + 15; /* without the first call site */
    assert_false(swap_events_hold_points(&p.swap, &book, &head, &why));
    assert_string_equal(why, "their call sites are unknown");
    book.process_count = 0;
    assert_false(swap_events_hold_points(&p.swap, &book, &head, &why));
    swap_events_free(&p.swap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_events_are_named_as_line_and_number),
        cmocka_unit_test(what_precedes_the_lock_request_is_repeated),
        cmocka_unit_test(an_operation_begins_behind_the_one_before_it_at_its_site),
        cmocka_unit_test(the_halves_of_a_pair_are_one_operation),
        cmocka_unit_test(how_often_the_other_thread_came_is_counted),
        cmocka_unit_test(what_starts_the_other_thread_is_repeated),
        cmocka_unit_test(the_other_event_is_not_repeated),
        cmocka_unit_test(what_may_come_from_the_first_event_is_not_repeated),
        cmocka_unit_test(what_is_not_in_the_trace_is_an_error),
        cmocka_unit_test(the_first_thread_is_held_until_the_other_is_done),
    };
    return cmocka_run_group_tests_name("swap", tests, NULL, NULL);
}
