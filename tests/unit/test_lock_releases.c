/* Waits and their releases at given times: messages, barriers, mutexes and condition variables. */
#include "server/queries/interval_cache.h"
#include "tests/unit/wait_texts.h"

/* ---- messages in a ring, by four kinds of synchronization ---- */

static void check_ring(struct played *p, const uint32_t *t)
{
    const struct intervals *all = learn(p);
    char text[64];
    snprintf(text, sizeof text, "20 50 meet (50 %u meet)", t[0]);
    assert_string_equal(wait_list_of_thread(all, t[1]), text);
    snprintf(text, sizeof text, "25 90 meet (90 %u meet)", t[1]);
    assert_string_equal(wait_list_of_thread(all, t[2]), text);
    snprintf(text, sizeof text, "80 125 meet (125 %u meet)", t[2]);
    assert_string_equal(wait_list_of_thread(all, t[0]), text);
    end(p);
}

static void ring_of_semaphores(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t t[3], s[3];
    for (unsigned i = 0; i < 3; i++) {
        t[i] = play_line(&p, "thread", "t");
        PLAY(&p, t[i], "start", 0, 0);
    }
    for (unsigned i = 0; i < 3; i++)
        s[i] = play_line(&p, "semaphore", "s");
    PLAY_ON(&p, t[1], s[0], "wait", 20);
    PLAY_ON(&p, t[2], s[1], "wait", 25);
    PLAY_ON(&p, t[0], s[0], "sem_post", 50);
    PLAY_ON(&p, t[1], s[0], "sem_acquired", 50);
    PLAY_ON(&p, t[0], s[2], "wait", 80);
    PLAY_ON(&p, t[1], s[1], "sem_post", 90);
    PLAY_ON(&p, t[2], s[1], "sem_acquired", 90);
    PLAY_ON(&p, t[2], s[2], "sem_post", 125);
    PLAY_ON(&p, t[0], s[2], "sem_acquired", 125);
    check_ring(&p, t);
}

static void ring_of_messages(void **state)
{
    (void)state;
    struct played p = play("mpi");
    uint32_t t[3];
    for (unsigned i = 0; i < 3; i++) {
        t[i] = play_line(&p, "rank", "r");
        PLAY(&p, t[i], "start", 0, 0);
    }
    PLAY(&p, t[1], "recv", 20, 0);
    PLAY(&p, t[2], "recv", 25, 0);
    play_message(&p, t[0], "isend", 50, RELATION_SEND, 1);
    play_message(&p, t[1], "receive", 50, RELATION_RECEIVE, 1);
    PLAY(&p, t[0], "recv", 80, 0);
    play_message(&p, t[1], "isend", 90, RELATION_SEND, 2);
    play_message(&p, t[2], "receive", 90, RELATION_RECEIVE, 2);
    play_message(&p, t[2], "isend", 125, RELATION_SEND, 3);
    play_message(&p, t[0], "receive", 125, RELATION_RECEIVE, 3);
    check_ring(&p, t);
}

/* A condition variable that is used with one mutex. */
struct condition {
    uint32_t mutex, condition;
    struct event_id signal;
};

static void await(struct played *p, uint32_t t, struct condition *c, double at)
{
    PLAY(p, t, "acquire", at, c->mutex);
    play_pair(p, t, c->mutex, "lock", "acquired", at);
    play_event(p, t, c->mutex, "wait", at, c->condition, (struct event_id){0});
}

static void call(struct played *p, uint32_t t, struct condition *c, double at, double leaves)
{
    PLAY(p, t, "acquire", at, c->mutex);
    play_pair(p, t, c->mutex, "lock", "acquired", at);
    c->signal = play_event(p, t, c->mutex, "signal", at, c->condition, (struct event_id){0});
    play_pair(p, t, c->mutex, "unlock", "released", leaves);
}

static void go_on(struct played *p, uint32_t t, struct condition *c, double at)
{
    play_event(p, t, c->mutex, "wake", at, c->condition, c->signal);
    play_pair(p, t, c->mutex, "unlock", "released", at);
}

static struct condition condition(struct played *p)
{
    return (struct condition){play_line(p, "mutex", "m"), play_line(p, "condvar", "c"), {0}};
}

static void ring_of_conditions(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t t[3];
    struct condition c[3];
    for (unsigned i = 0; i < 3; i++) {
        t[i] = play_line(&p, "thread", "t");
        PLAY(&p, t[i], "start", 0, 0);
    }
    for (unsigned i = 0; i < 3; i++)
        c[i] = condition(&p);
    await(&p, t[1], &c[0], 20);
    await(&p, t[2], &c[1], 25);
    call(&p, t[0], &c[0], 50, 50);
    go_on(&p, t[1], &c[0], 50);
    await(&p, t[0], &c[2], 80);
    call(&p, t[1], &c[1], 90, 90);
    go_on(&p, t[2], &c[1], 90);
    call(&p, t[2], &c[2], 125, 125);
    go_on(&p, t[0], &c[2], 125);
    check_ring(&p, t);
}

/* ---- a barrier ---- */

static void barrier(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t t[4], b;
    for (unsigned i = 0; i < 4; i++) {
        t[i] = play_line(&p, "thread", "t");
        PLAY(&p, t[i], "start", 0, 0);
    }
    b = play_line(&p, "barrier", "b");
    for (uint32_t round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 4; i++)
            PLAY(&p, t[i], "arrive", 40 * round + 10 * (i + 1), b);
        for (unsigned i = 0; i < 4; i++)
            play_member(&p, t[i], "passed", 40 * (round + 1), round, 4, b);
    }
    const struct intervals *all = learn(&p);
    assert_int_equal(all->wait_count, 9);
    assert_string_equal(wait_list_of_thread(all, t[0]),
                        "10 40 meet (40 4 meet), 50 80 meet (80 4 meet), 90 120 meet (120 4 meet)");
    assert_string_equal(
        wait_list_of_thread(all, t[2]),
        "30 40 meet (40 4 meet), 70 80 meet (80 4 meet), 110 120 meet (120 4 meet)");
    assert_string_equal(wait_list_of_thread(all, t[3]), "");
    const struct thread_timeline *c = intervals_for_thread(all, t[1]);
    assert_int_equal(c->gathering_count, 3);
    assert_true(c->gatherings[1].came_ns == 60 * PLAYED_MS &&
                c->gatherings[1].at_ns == 80 * PLAYED_MS);
    assert_true(intervals_for_thread(all, t[3])->gatherings[1].group == c->gatherings[1].group);
    assert_true(c->gatherings[2].group != c->gatherings[1].group);
    end(&p);
}

/* ---- locks ---- */

static void convoy(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t t[3], m;
    for (unsigned i = 0; i < 3; i++) {
        t[i] = play_line(&p, "thread", "t");
        PLAY(&p, t[i], "start", 0, 0);
    }
    m = play_line(&p, "mutex", "m");
    play_hold(&p, t[0], m, 0, 0, 30);
    play_hold(&p, t[1], m, 10, 30, 50);
    play_hold(&p, t[2], m, 15, 50, 55);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, t[0]), "");
    assert_string_equal(wait_list_of_thread(all, t[1]), "10 30 excl (30 1 excl)");
    assert_string_equal(wait_list_of_thread(all, t[2]), "15 50 excl (30 1 excl) (50 2 excl)");
    assert_string_equal(course(all, t[2]), "0 runs 15 for 1 30 for 2 50 runs 55");
    end(&p);
}

/* A part of a run that begins in the middle: a thread that is waiting then has waited since its
 * request; a thread with a request after the end is absent. */
static void a_part_of_a_convoy(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t t[4], m;
    for (unsigned i = 0; i < 4; i++) {
        t[i] = play_line(&p, "thread", "t");
        PLAY(&p, t[i], "start", 0, 0);
    }
    m = play_line(&p, "mutex", "m");
    play_hold(&p, t[0], m, 0, 0, 30);
    play_hold(&p, t[1], m, 10, 30, 50);
    play_hold(&p, t[2], m, 15, 50, 55);
    PLAY(&p, t[3], "exit", 18, 0);
    play_hold(&p, t[0], m, 60, 60, 61);
    size_t all_waits = learn(&p)->wait_count;
    struct partial_run *apart = partial_run_new(p.run, 20 * PLAYED_MS, 55 * PLAYED_MS, 0);
    partial_run_enter(p.run, apart);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, t[1]), "10 30 excl (30 1 excl)");
    assert_string_equal(wait_list_of_thread(all, t[2]), "15 50 excl (30 1 excl) (50 2 excl)");
    assert_string_equal(course(all, t[0]), "0 runs 30");
    assert_true(interval_cache_position(p.run) < order_count(p.run->order));
    partial_run_leave(p.run, apart);
    partial_run_free(apart);
    assert_int_equal(learn(&p)->wait_count, all_waits);
    end(&p);
}

static void cascade(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t main = play_line(&p, "thread", "main"), q = play_line(&p, "thread", "q"),
             r = play_line(&p, "thread", "r"), m = play_line(&p, "mutex", "m");
    PLAY(&p, main, "start", 0, 0);
    PLAY(&p, q, "start", 0, 0);
    PLAY(&p, r, "start", 0, 0);
    PLAY(&p, main, "join", 0, q);
    play_hold(&p, r, m, 0, 0, 40);
    PLAY(&p, q, "acquire", 10, m);
    play_pair(&p, q, m, "lock", "acquired", 40);
    play_pair(&p, q, m, "unlock", "released", 50);
    struct event_id end_of_q = PLAY(&p, q, "exit", 50, 0);
    play_event(&p, main, main, "joined", 50, q, end_of_q);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, main), "0 50 meet (50 2 meet)");
    assert_string_equal(wait_list_of_thread(all, q), "10 40 excl (40 3 excl)");
    assert_true(intervals_for_thread(all, q)->end_ns == 50 * PLAYED_MS);
    end(&p);
}

/* Until the signal, the wait is a rendezvous; then it is contention with the holder of the
 * mutex. */
static void held_after_the_signal(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t fast = play_line(&p, "thread", "fast"), slow = play_line(&p, "thread", "slow");
    struct condition c = condition(&p);
    PLAY(&p, fast, "start", 0, 0);
    PLAY(&p, slow, "start", 0, 0);
    await(&p, fast, &c, 10);
    call(&p, slow, &c, 35, 40);
    go_on(&p, fast, &c, 41);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, fast), "10 41 meet (35 2 meet) (40 2 excl)");
    assert_string_equal(course(all, fast), "0 runs 10 for 2 35 for 2 40 latency 41");
    end(&p);
}

/* Between the signal and the wake-up other threads held the mutex, too; holders before the signal
 * do not matter. */
static void others_after_the_signal(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t a = play_line(&p, "thread", "a"), b = play_line(&p, "thread", "b"),
             d = play_line(&p, "thread", "d");
    struct condition c = condition(&p);
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    PLAY(&p, d, "start", 0, 0);
    await(&p, a, &c, 10);
    play_hold(&p, d, c.mutex, 12, 12, 20);
    call(&p, b, &c, 35, 40);
    play_hold(&p, d, c.mutex, 38, 40, 47);
    go_on(&p, a, &c, 50);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, a),
                        "10 50 meet (35 2 meet) (40 2 excl) (47 3 excl)");
    assert_string_equal(wait_list_of_thread(all, d), "38 40 excl (40 2 excl)");
    end(&p);
}

/* No edge leads from a signal: the latest one at the condition variable is guessed. */
static void guessed_signal(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t a = play_line(&p, "thread", "a"), b = play_line(&p, "thread", "b");
    struct condition c = condition(&p);
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    await(&p, a, &c, 10);
    PLAY(&p, b, "signal", 20, c.condition);
    PLAY(&p, b, "signal", 30, c.condition);
    go_on(&p, a, &c, 33);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, a), "10 33 meet (30 2 meet latest)");
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_of_semaphores),
        cmocka_unit_test(ring_of_messages),
        cmocka_unit_test(ring_of_conditions),
        cmocka_unit_test(barrier),
        cmocka_unit_test(convoy),
        cmocka_unit_test(a_part_of_a_convoy),
        cmocka_unit_test(cascade),
        cmocka_unit_test(held_after_the_signal),
        cmocka_unit_test(others_after_the_signal),
        cmocka_unit_test(guessed_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
