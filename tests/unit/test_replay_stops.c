/* Breakpoints in a replay: threads are held before an event until released, and the debugger is
 * notified once, at the right time. */
#define _GNU_SOURCE
#include "clients/libpoet/replay/replay_stops.h"
#include "clients/libpoet/core/tracer.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Waits for at most a minute; usually it takes milliseconds, or a second where a timeout must
 * expire. */
#define WAIT_FOR(condition)                                                                        \
    for (int looks = 0; !(condition); looks++) {                                                   \
        assert_true(looks < 60000);                                                                \
        usleep(1000);                                                                              \
    }

enum { LINES = 3, EVENTS = 10 }; /* EVENTS: of each line */

static struct schedule_breakpoint *stop_at(uint32_t line)
{
    return (struct schedule_breakpoint *)(void *)((char *)tracer.replay.schedule +
                                                  tracer.replay.schedule->stops_at) +
           line;
}

static int begin(void **unused)
{
    (void)unused;
    size_t lines_at = sizeof *tracer.replay.schedule,
           stops_at = lines_at + (LINES + 1) * sizeof(struct schedule_line),
           bytes = stops_at + (LINES + 1) * sizeof(struct schedule_breakpoint);
    tracer.replay.schedule = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!tracer.replay.schedule)
        return -1;
    memset(tracer.replay.schedule, 0, bytes);
    tracer.replay.schedule->line_count = LINES;
    tracer.replay.schedule->lines_at = lines_at;
    tracer.replay.schedule->stops_at = stops_at;
    for (uint32_t i = 1; i <= LINES; i++)
        shared_schedule_line(i)->count = EVENTS;
    atomic_store(&tracer.replay.schedule->debugged, (uint32_t)getpid());
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    free(tracer.replay.schedule);
    tracer.replay.schedule = NULL;
    return 0;
}

/* Sets a breakpoint as the debugger does: before is 1 + the event's index. */
static void hold(uint32_t line, uint64_t before, enum schedule_awaited awaited)
{
    atomic_store(&stop_at(line)->before, before);
    atomic_store(&stop_at(line)->awaited, awaited);
}

static void want(enum schedule_breakpoint_mode when)
{
    atomic_store(&tracer.replay.schedule->stop, when);
}
static bool told(void) { return atomic_load(&tracer.replay.schedule->stop) == 0; }

/* ---- a thread that reaches its events ---- */

struct coming {
    uint32_t line;
    uint64_t first, last;
    bool amid;
    pthread_t thread;
    _Atomic bool over;
};

static void *come(void *given)
{
    struct coming *c = given;
    replay_stop_reach(shared_schedule_line(c->line), c->first, c->last, c->amid);
    atomic_store(&c->over, true);
    return NULL;
}

static void begin_to_come(struct coming *c)
{
    assert_int_equal(pthread_create(&c->thread, NULL, come, c), 0);
}

static bool is_held(const struct coming *c) { return atomic_load(&stop_at(c->line)->at) != 0; }

static void is_let(struct coming *c)
{
    assert_int_equal(pthread_join(c->thread, NULL), 0);
    assert_true(c->over);
    assert_int_equal(stop_at(c->line)->at, 0);
}

/* ---- cases ---- */

static void the_first_process_is_the_debuggers(void **unused)
{
    (void)unused;
    atomic_store(&tracer.replay.schedule->debugged, SCHEDULE_ANY_PROCESS);
    replay_stop_begin();
    assert_int_equal(tracer.replay.schedule->debugged, getpid());
    atomic_store(&tracer.replay.schedule->debugged, 1);
    replay_stop_begin();
    assert_int_equal(tracer.replay.schedule->debugged, 1);
    atomic_store(&tracer.replay.schedule->debugged, 0);
    replay_stop_begin();
    assert_int_equal(tracer.replay.schedule->debugged, 0);
}

static void who_plays_a_part_is_known(void **unused)
{
    (void)unused;
    errno = 77;
    replay_stop_check(shared_schedule_line(2));
    assert_int_equal(errno, 77);
    assert_int_equal(stop_at(2)->process, getpid());
    assert_int_equal(stop_at(2)->id, syscall(SYS_gettid));
    assert_int_equal(stop_at(1)->process, 0);
}

static void who_is_not_to_be_held_goes_on(void **unused)
{
    (void)unused;
    errno = 77;
    replay_stop_reach(shared_schedule_line(1), 0, 2, false); /* no breakpoint */
    hold(1, 5, SCHEDULE_HELD);
    replay_stop_reach(shared_schedule_line(1), 1, 3,
                      false); /* not reached: 1 + 4 is the first event to be held */
    assert_int_equal(stop_at(1)->at, 0);
    atomic_store(&tracer.replay.schedule->debugged, 0);
    replay_stop_reach(shared_schedule_line(1), 4, 4, false); /* no debugger */
    atomic_store(&tracer.replay.schedule->debugged, (uint32_t)getpid());
    atomic_store(&tracer.replay.schedule->state, SCHEDULE_LEFT);
    replay_stop_reach(shared_schedule_line(1), 4, 4, false); /* the schedule was abandoned */
    assert_int_equal(errno, 77);
    assert_int_equal(stop_at(1)->at, 0);
}

static void one_is_held_until_it_is_let(void **unused)
{
    (void)unused;
    struct coming c = {.line = 1, .first = 4, .last = 4};
    hold(1, 5, SCHEDULE_HELD);
    want(SCHEDULE_BREAKPOINT_REACHED);
    begin_to_come(&c);
    WAIT_FOR(told());
    assert_int_equal(stop_at(1)->at, 5);
    assert_false(c.over);
    hold(1, 6, SCHEDULE_HELD); /* releases it for one event */
    is_let(&c);
}

/* In a record of several events, the thread is held before the event of the breakpoint; at the
 * first event of the record if that has passed. */
static void within_a_record_the_event_is_named(void **unused)
{
    (void)unused;
    struct coming c = {.line = 2, .first = 3, .last = 6}, d = {.line = 2, .first = 3, .last = 6};
    hold(2, 6, SCHEDULE_HELD);
    begin_to_come(&c);
    WAIT_FOR(is_held(&c));
    assert_int_equal(stop_at(2)->at, 6);
    hold(2, 0, SCHEDULE_NOT_AWAITED);
    is_let(&c);
    hold(2, 3, SCHEDULE_HELD);
    begin_to_come(&d);
    WAIT_FOR(is_held(&d));
    assert_int_equal(stop_at(2)->at, 4);
    hold(2, 0, SCHEDULE_NOT_AWAITED);
    is_let(&d);
}

static void amid_a_record_who_is_to_have_done_some_of_it_goes_on(void **unused)
{
    (void)unused;
    struct coming c = {.line = 1, .first = 4, .last = 5, .amid = true};
    hold(1, 5, SCHEDULE_DONE);
    replay_stop_reach(shared_schedule_line(1), 4, 5, true);
    enum schedule_awaited others[] = {SCHEDULE_NOT_AWAITED, SCHEDULE_HELD};
    for (int i = 0; i < 2; i++) { /* the debugger could not notice how far an unawaited thread is */
        hold(1, 5, others[i]);
        begin_to_come(&c);
        WAIT_FOR(is_held(&c));
        hold(1, 5, SCHEDULE_DONE);
        is_let(&c);
    }
}

static void it_is_told_when_all_are_there(void **unused)
{
    (void)unused;
    struct coming one = {.line = 1, .first = 4, .last = 4},
                  other = {.line = 2, .first = 0, .last = 0};
    hold(1, 5, SCHEDULE_HELD);
    hold(2, 1, SCHEDULE_HELD);
    hold(3, 4, SCHEDULE_DONE); /* after three of its events */
    want(SCHEDULE_BREAKPOINT_REACHED);
    begin_to_come(&one);
    WAIT_FOR(is_held(&one));
    begin_to_come(&other);
    WAIT_FOR(is_held(&other));
    assert_false(told());
    atomic_store(&shared_schedule_line(3)->at, 2);
    replay_stop_done();
    assert_false(told());
    atomic_store(&shared_schedule_line(3)->at, 3);
    replay_stop_done();
    assert_true(told());
    replay_stop_done(); /* notified only once */
    for (uint32_t line = 1; line <= LINES; line++)
        hold(line, 0, SCHEDULE_NOT_AWAITED);
    is_let(&one);
    is_let(&other);
}

static void who_is_not_awaited_is_held_and_not_waited_for(void **unused)
{
    (void)unused;
    struct coming c = {.line = 1, .first = 4, .last = 4};
    hold(1, 5, SCHEDULE_HELD);
    hold(2, 4, SCHEDULE_NOT_AWAITED);
    want(SCHEDULE_BREAKPOINT_REACHED);
    begin_to_come(&c);
    WAIT_FOR(told());
    hold(1, 0, SCHEDULE_NOT_AWAITED);
    is_let(&c);
}

/* After its last event a thread reaches no other one: it is enough that all its events are done. */
static void who_has_no_more_to_do_is_there_when_all_is_done(void **unused)
{
    (void)unused;
    hold(1, EVENTS + 1, SCHEDULE_HELD);
    want(SCHEDULE_BREAKPOINT_REACHED);
    atomic_store(&shared_schedule_line(1)->at, EVENTS - 1);
    replay_stop_done();
    assert_false(told());
    atomic_store(&shared_schedule_line(1)->at, EVENTS);
    replay_stop_done();
    assert_true(told());
}

/* A thread that blocks between its events, or computes for long, is awaited only for a limited
 * time. */
static void who_does_not_come_is_awaited_for_a_while_only(void **unused)
{
    (void)unused;
    struct coming c = {.line = 1, .first = 4, .last = 4};
    hold(1, 5, SCHEDULE_HELD);
    hold(2, 4, SCHEDULE_HELD);
    atomic_store(&shared_schedule_line(2)->at, 3); /* all events before it are done */
    want(SCHEDULE_BREAKPOINT_REACHED);
    begin_to_come(&c);
    WAIT_FOR(is_held(&c));
    WAIT_FOR(told());
    hold(1, 0, SCHEDULE_NOT_AWAITED);
    is_let(&c);
}

static void who_debugs_only_the_end_hears_nothing_before(void **unused)
{
    (void)unused;
    want(SCHEDULE_BREAKPOINT_LEFT);
    replay_stop_done();
    assert_false(told());
    replay_stop_report();
    assert_true(told());
}

static void another_process_tells_nobody(void **unused)
{
    (void)unused;
    atomic_store(&tracer.replay.schedule->debugged, (uint32_t)getpid() + 1);
    want(SCHEDULE_BREAKPOINT_REACHED);
    replay_stop_done();
    replay_stop_report();
    assert_false(told());
}

static void when_the_script_is_left_all_go_on(void **unused)
{
    (void)unused;
    struct coming c = {.line = 1, .first = 4, .last = 4};
    hold(1, 5, SCHEDULE_HELD);
    begin_to_come(&c);
    WAIT_FOR(is_held(&c));
    atomic_store(&tracer.replay.schedule->state, SCHEDULE_LEFT);
    is_let(&c);
}

static void when_nobody_debugs_it_any_more_all_go_on(void **unused)
{
    (void)unused;
    struct coming c = {.line = 1, .first = 4, .last = 4};
    hold(1, 5, SCHEDULE_HELD);
    begin_to_come(&c);
    WAIT_FOR(is_held(&c));
    atomic_store(&tracer.replay.schedule->debugged, 0);
    is_let(&c);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(the_first_process_is_the_debuggers),
        CASE(who_plays_a_part_is_known),
        CASE(who_is_not_to_be_held_goes_on),
        CASE(one_is_held_until_it_is_let),
        CASE(within_a_record_the_event_is_named),
        CASE(amid_a_record_who_is_to_have_done_some_of_it_goes_on),
        CASE(it_is_told_when_all_are_there),
        CASE(who_is_not_awaited_is_held_and_not_waited_for),
        CASE(who_has_no_more_to_do_is_there_when_all_is_done),
        CASE(who_does_not_come_is_awaited_for_a_while_only),
        CASE(who_debugs_only_the_end_hears_nothing_before),
        CASE(another_process_tells_nobody),
        CASE(when_the_script_is_left_all_go_on),
        CASE(when_nobody_debugs_it_any_more_all_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
