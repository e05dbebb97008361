/* Activity records: discarded with their events, limited in size, and never of more time than lies
 * between two events, whatever they contain. */
#include "server/queries/interval_cache.h"
#include "server/run/activity_store.h"
#include "tests/unit/scripted_run.h"
#include "wire/profile_snapshot.h"

#define EVENTS 4000u

static bool tell(struct played *p, uint32_t thread, struct event_id at, int64_t ns, unsigned count,
                 const struct code_segment *steps)
{
    struct activity_record head = {.what = ACTIVITY_STEPS, .count = (uint16_t)count};
    return activity_add(p->run, thread, at, ns, &head, steps);
}

static void forgotten_with_its_events(void **state)
{
    struct played p = play("pthread");
    uint32_t t = play_line(&p, "thread", "t");
    struct code_segment steps[] = {{0, 1, 700}, {0, 1, 300}};
    (void)state;
    for (unsigned i = 0; i < EVENTS; i++) {
        struct event_id at = PLAY(&p, t, i ? "note" : "start", i, 0);
        assert_true(tell(&p, t, at, (int64_t)i * PLAYED_MS, 1 + i % 2, steps));
        if (i % 500 == 499) {
            uint64_t first = activity_first(p.run, t);
            run_discard(p.run, i - 100);
            assert_true(activity_first(p.run, t) > first && activity_first(p.run, t) <= i - 100);
            assert_true(activity_first(p.run, t) + 200 > i);
        }
        assert_true(activity_bytes(p.run) <
                    700 * (sizeof(struct activity_span) + 2 * sizeof *steps));
    }
    assert_null(activity_span(p.run, t, activity_first(p.run, t) - 1));
    assert_null(activity_span(p.run, t, EVENTS));
    for (uint64_t i = activity_first(p.run, t); i < EVENTS; i++) {
        const struct activity_span *span = activity_span(p.run, t, i);
        assert_non_null(span);
        assert_int_equal(span->at.number, i + 1);
        assert_int_equal(span->count, 1 + i % 2);
        assert_int_equal(activity_steps(p.run, t, span)[span->count - 1].ticks, i % 2 ? 300 : 700);
    }
    assert_int_equal(activity_is_beyond(p.run), 0);
    run_free(p.run);
}

/* Records of events that never arrive are discarded, too. */
static void what_never_came_is_passed_over(void **state)
{
    struct played p = play("pthread");
    uint32_t t = play_line(&p, "thread", "t"), never = play_line(&p, "thread", "never");
    struct code_segment step = {0, 1, 1};
    (void)state;
    for (unsigned i = 0; i < EVENTS; i++) {
        struct event_id at = PLAY(&p, t, i ? "note" : "start", i, 0);
        bool odd = i >= 100 && i < 800; /* a longer sequence than is searched one by one */
        tell(&p, t, odd ? (struct event_id){never, i} : at, (int64_t)i * PLAYED_MS, 1, &step);
    }
    run_discard(p.run, EVENTS - 100);
    assert_true(activity_first(p.run, t) + 200 > EVENTS);
    run_free(p.run);
}

/* Above the limit, one record notes that the activity is unknown, until there is space again. */
static void no_more_than_there_is_room_for(void **state)
{
    struct played p = play("pthread");
    uint32_t t = play_line(&p, "thread", "t"), kept = 0;
    struct code_segment steps[64] = {{0, 1, 10}};
    (void)state;
    activity_limit(1u << 16);
    for (unsigned i = 0; i < EVENTS; i++)
        kept +=
            tell(&p, t, PLAY(&p, t, i ? "note" : "start", i, 0), (int64_t)i * PLAYED_MS, 64, steps);
    assert_true(activity_bytes(p.run) <= (1u << 16) + sizeof(struct activity_span));
    assert_int_equal(activity_is_beyond(p.run), EVENTS - kept + 1);
    assert_int_equal(activity_span(p.run, t, kept - 1)->count, 0);
    assert_null(activity_span(p.run, t, kept));
    run_discard(p.run, EVENTS - 50);
    assert_int_equal(activity_bytes(p.run), 0);
    assert_true(
        tell(&p, t, PLAY(&p, t, "note", EVENTS, 0), (int64_t)EVENTS * PLAYED_MS, 64, steps));
    assert_int_equal(activity_is_beyond(p.run), EVENTS - kept + 1);
    run_free(p.run);
}

static uint64_t random_time(unsigned *seed)
{
    *seed = *seed * 1103515245 + 12345;
    unsigned kind = *seed >> 16 & 7;
    return kind == 0 ? 0 : kind == 1 ? SNAPSHOT_TIME_MOST / 512 : (*seed >> 4) % (kind << 18);
}

/* Checks that the intervals cover the thread's time from its first event to its last, without gaps
 * and in order. */
static void assert_whole(const struct run *run, uint32_t thread, int64_t end_ns)
{
    const struct thread_timeline *c = intervals_for_thread(interval_cache_get(run), thread);
    assert_non_null(c);
    assert_true(c->count > 0);
    for (size_t i = 0; i < c->count; i++)
        assert_true(c->items[i].to_ns > interval_begin(c, i));
    assert_int_equal(c->items[c->count - 1].to_ns, end_ns);
}

static void whatever_is_told_fits_between_the_events(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 30; seed++) {
        struct played p = play("pthread");
        uint32_t t = play_line(&p, "thread", "t");
        unsigned random = seed;
        for (unsigned i = 0; i < 60; i++) {
            struct code_segment steps[6];
            struct event_id at = PLAY(&p, t, i ? "note" : "start", i, 0);
            unsigned count = (unsigned)random_time(&random) % 7;
            for (unsigned k = 0; k < count; k++)
                steps[k] = (struct code_segment){(random + k) % 3 ? 0 : ACTIVITY_REST, 1,
                                                 random_time(&random)};
            if (i % 7) /* some events have no record */
                tell(&p, t, at, (int64_t)i * PLAYED_MS, count, steps);
        }
        uint64_t budget = UINT64_MAX / 2;
        assert_true(interval_cache_step(p.run, &budget));
        assert_whole(p.run, t, 59 * (int64_t)PLAYED_MS);
        run_free(p.run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forgotten_with_its_events),
        cmocka_unit_test(what_never_came_is_passed_over),
        cmocka_unit_test(no_more_than_there_is_room_for),
        cmocka_unit_test(whatever_is_told_fits_between_the_events),
    };
    return cmocka_run_group_tests_name("did", tests, NULL, NULL);
}
