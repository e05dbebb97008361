/* Waits and their releases at given times: semaphores, timeouts, read-write locks, pthread_once,
 * late receivers; lifetimes, lost events, and waits that have not ended. */
#include "tests/unit/wait_texts.h"

/* ---- semaphores ---- */

static void semaphore_as_lock(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t t[3], s;
    for (unsigned i = 0; i < 3; i++) {
        t[i] = play_line(&p, "thread", "t");
        PLAY(&p, t[i], "start", 0, 0);
    }
    s = play_line(&p, "semaphore", "s");
    PLAY_ON(&p, t[0], s, "wait", 0);
    PLAY_ON(&p, t[0], s, "sem_acquired", 0);
    PLAY_ON(&p, t[1], s, "wait", 10);
    PLAY_ON(&p, t[2], s, "wait", 15);
    PLAY_ON(&p, t[0], s, "sem_post", 30);
    PLAY_ON(&p, t[1], s, "sem_acquired", 30);
    PLAY_ON(&p, t[1], s, "sem_post", 50);
    PLAY_ON(&p, t[2], s, "sem_acquired", 50);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, t[0]), "");
    assert_string_equal(wait_list_of_thread(all, t[1]), "10 30 meet (30 1 excl)");
    assert_string_equal(wait_list_of_thread(all, t[2]), "15 50 meet (30 1 excl) (50 2 excl)");
    end(&p);
}

static void timed_out(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t t = play_line(&p, "thread", "t"), s = play_line(&p, "semaphore", "s");
    PLAY(&p, t, "start", 0, 0);
    PLAY_ON(&p, t, s, "timed_wait", 5);
    PLAY_ON(&p, t, s, "timeout", 25);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, t), "5 25 timer");
    assert_string_equal(course(all, t), "0 runs 5 timer 25");
    end(&p);
}

/* ---- other objects ---- */

static void last_reader(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t t[4], l;
    for (unsigned i = 0; i < 4; i++) {
        t[i] = play_line(&p, "thread", "t");
        PLAY(&p, t[i], "start", -1, 0);
    }
    l = play_line(&p, "rwlock", "l");
    for (unsigned i = 0; i < 3; i++)
        play_pair(&p, t[i], l, "lock", "read_acquired", -1);
    PLAY(&p, t[3], "acquire", 0, l);
    for (unsigned i = 0; i < 3; i++)
        play_pair(&p, t[i], l, "unlock", "read_released", 10 * (i + 1));
    play_pair(&p, t[3], l, "lock", "write_acquired", 30);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, t[3]), "0 30 excl (30 3 excl)");
    end(&p);
}

static void once(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t a = play_line(&p, "thread", "a"), b = play_line(&p, "thread", "b"),
             o = play_line(&p, "once", "o");
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    PLAY(&p, a, "acquire", 0, o);
    PLAY(&p, a, "initialize", 0, o);
    PLAY(&p, b, "acquire", 5, o);
    struct event_id done = PLAY(&p, a, "initialized", 20, o);
    play_event(&p, b, b, "ready", 20, o, done);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, b), "5 20 excl (20 1 excl)");
    end(&p);
}

static void late_receiver(void **state)
{
    (void)state;
    struct played p = play("mpi");
    uint32_t a = play_line(&p, "rank", "a"), b = play_line(&p, "rank", "b");
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    play_message(&p, a, "send", 10, RELATION_SEND, 1);
    PLAY(&p, b, "recv", 35, 0);
    play_message(&p, b, "receive", 35, RELATION_RECEIVE, 1);
    PLAY(&p, a, "sent", 36, 0);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, a), "10 36 meet (35 2 meet late)");
    assert_string_equal(wait_list_of_thread(all, b), "");
    end(&p);
}

/* A receiver that requested the message before it was sent, or only after the sender had resumed,
 * was not awaited. */
static void nobody_is_late(void **state)
{
    (void)state;
    struct played p = play("mpi");
    uint32_t a = play_line(&p, "rank", "a"), b = play_line(&p, "rank", "b");
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    PLAY(&p, b, "recv", 5, a);
    play_message(&p, a, "send", 10, RELATION_SEND, 1);
    PLAY(&p, a, "sent", 14, b);
    play_message(&p, b, "receive", 13, RELATION_RECEIVE, 1);
    play_message(&p, a, "isend", 20, RELATION_SEND, 2);
    PLAY(&p, a, "wait", 21, b);
    PLAY(&p, a, "completed", 23, 0);
    PLAY(&p, b, "recv", 30, a);
    play_message(&p, b, "receive", 30, RELATION_RECEIVE, 2);
    PLAY(&p, a, "wait", 40, b); /* for an unknown message */
    PLAY(&p, a, "receive", 44, b);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, a), "10 14 meet, 21 23 meet, 40 44 meet unseen");
    assert_string_equal(course(all, a),
                        "0 runs 10 latency 14 runs 20 runs 21 latency 23 runs 40 unexplained 44");
    end(&p);
}

/* A thread that waits for a lock does not wait for the receiver of a message that it sent
 * before. */
static void a_message_is_no_lock(void **state)
{
    (void)state;
    struct played p = play("process");
    uint32_t a = play_line(&p, "thread", "a"), b = play_line(&p, "thread", "b"),
             m = play_line(&p, "mutex", "m"), s = play_line(&p, "stream", "s");
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    play_message(&p, a, "write", 5, RELATION_SEND, 1);
    PLAY(&p, a, "acquire", 10, m);
    PLAY(&p, b, "empty", 15, s);
    play_message(&p, b, "read", 16, RELATION_RECEIVE, 1);
    play_pair(&p, a, m, "lock", "acquired", 20);
    assert_string_equal(wait_list_of_thread(learn(&p), a), "10 20 excl unseen");
    end(&p);
}

/* A receive that arrives later changes the wait of its send: the intervals are computed again when
 * the run is complete. */
static void a_receive_comes_later(void **state)
{
    (void)state;
    struct played p = play("mpi");
    uint32_t a = play_line(&p, "rank", "a"), b = play_line(&p, "rank", "b");
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    play_message(&p, a, "send", 10, RELATION_SEND, 1);
    PLAY(&p, a, "sent", 36, b);
    assert_string_equal(wait_list_of_thread(learn(&p), a), "10 36 meet unseen");
    uint64_t again = interval_cache_generation(p.run);
    PLAY(&p, b, "recv", 35, a);
    play_message(&p, b, "receive", 36, RELATION_RECEIVE, 1);
    p.run->status.finished = true;
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, a), "10 36 meet (35 2 meet late)");
    assert_int_equal(interval_cache_generation(p.run), again + 1);
    PLAY(&p, b, "exit", 37, 0);
    assert_string_equal(wait_list_of_thread(learn(&p), a), "10 36 meet (35 2 meet late)");
    assert_int_equal(interval_cache_generation(p.run), again + 1);
    end(&p);
}

/* A mutex is free from its release on: a thread that requests it before the lock is acquired waits
 * for no thread. */
static void free_lock(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t a = play_line(&p, "thread", "a"), b = play_line(&p, "thread", "b"),
             m = play_line(&p, "mutex", "m"), n = play_line(&p, "mutex", "n");
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    play_hold(&p, a, m, 1, 1, 10);
    PLAY(&p, b, "acquire", 11, m);
    play_pair(&p, b, m, "lock", "acquired", 14);
    PLAY(&p, b, "acquire", 20, n);
    play_pair(&p, b, n, "lock", "acquired", 25);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, b), "11 14 excl, 20 25 excl unseen");
    assert_string_equal(course(all, b), "0 runs 11 latency 14 runs 20 unexplained 25");
    end(&p);
}

/* A task that accepts calls lets other tasks enter, which need not wait. */
static void accepted_at_once(void **state)
{
    (void)state;
    struct played p = play("ucpp");
    uint32_t a = play_line(&p, "task", "a"), b = play_line(&p, "task", "b");
    PLAY(&p, a, "create", 0, 0);
    PLAY(&p, b, "create", 0, 0);
    PLAY(&p, a, "accept", 5, 0);
    PLAY(&p, b, "petition", 11, a);
    play_pair(&p, b, a, "enter", "entered", 14);
    play_pair(&p, b, a, "left", "leave", 20);
    PLAY(&p, a, "accepted", 21, 0);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, b), "");
    assert_string_equal(wait_list_of_thread(all, a), "5 21 meet (20 2 meet)");
    end(&p);
}

/* All ranks arrive at the same call without any order edge: the last one to arrive is guessed to
 * release the others, and itself waits for none. */
static void no_order_at_the_end(void **state)
{
    (void)state;
    struct played p = play("mpi");
    uint32_t r[3], world = play_line(&p, "communicator", "world");
    for (unsigned i = 0; i < 3; i++) {
        r[i] = play_line(&p, "rank", "r");
        PLAY(&p, r[i], "start", 0, 0);
    }
    for (unsigned i = 0; i < 3; i++)
        PLAY(&p, r[i], "finalize", 10 * (i + 1), world);
    for (unsigned i = 0; i < 3; i++)
        PLAY(&p, r[i], "finalized", 35, 0);
    const struct intervals *all = learn(&p);
    char text[64];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%u 35 meet (30 %u meet latest)", 10 * (i + 1), r[2]);
        assert_string_equal(wait_list_of_thread(all, r[i]), text);
    }
    assert_string_equal(wait_list_of_thread(all, r[2]), "30 35 meet");
    assert_string_equal(course(all, r[2]), "0 runs 30 latency 35");
    end(&p);
}

static void life(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t main = play_line(&p, "thread", "main"), t = play_line(&p, "thread", "t"),
             m = play_line(&p, "mutex", "m");
    PLAY(&p, main, "start", 0, 0);
    struct event_id made = PLAY_ON(&p, main, t, "create", 0);
    play_event(&p, t, t, "start", 1, 0, made);
    play_hold(&p, main, m, 2, 2, 25);
    PLAY(&p, t, "acquire", 10, m);
    play_pair(&p, t, m, "lock", "acquired", 30);
    play_pair(&p, t, m, "unlock", "released", 31);
    PLAY(&p, t, "exit", 50, 0);
    PLAY_ON(&p, main, t, "close", 60);
    const struct intervals *all = learn(&p);
    const struct thread_timeline *c = intervals_for_thread(all, t);
    assert_int_equal(c->maker, main);
    assert_true(c->made_ns == 0 && c->start_ns == 1 * PLAYED_MS && c->end_ns == 50 * PLAYED_MS &&
                c->closed_ns == 60 * PLAYED_MS);
    assert_string_equal(course(all, t), "1 runs 10 for 1 25 latency 30 runs 31 runs 50");
    assert_string_equal(wait_list_of_thread(all, t), "10 30 excl (25 1 excl)");
    end(&p);
}

/* A process begins after the fork of its parent; a write to it is recorded only when the call has
 * returned. */
static void a_process_and_its_parent(void **state)
{
    (void)state;
    struct played p = play("process");
    uint32_t a = play_line(&p, "thread", "a"), b = play_line(&p, "thread", "b"),
             s = play_line(&p, "stream", "s");
    PLAY(&p, a, "start", 0, 0);
    play_message(&p, a, "fork", 2, RELATION_SEND, 1);
    play_message(&p, b, "start", 3, RELATION_RECEIVE, 1);
    PLAY(&p, b, "empty", 5, s);
    play_message(&p, a, "write", 30, RELATION_SEND, 2);
    play_message(&p, b, "read", 29, RELATION_RECEIVE, 2);
    const struct intervals *all = learn(&p);
    const struct thread_timeline *c = intervals_for_thread(all, b);
    assert_int_equal(c->maker, a);
    assert_true(c->made_ns == 2 * PLAYED_MS && c->start_ns == 3 * PLAYED_MS);
    assert_string_equal(wait_list_of_thread(all, b), "5 29 meet (29 1 meet)");
    assert_string_equal(course(all, b), "3 runs 5 for 1 29");
    assert_int_equal(intervals_for_thread(all, a)->maker, 0);
    end(&p);
}

/* A writer to a full pipe waits for the reader, though the read is recorded after the writer
 * resumed. */
static void no_room(void **state)
{
    (void)state;
    struct played p = play("process");
    uint32_t a = play_line(&p, "thread", "a"), b = play_line(&p, "thread", "b"),
             s = play_line(&p, "stream", "s");
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    for (unsigned key = 1; key < 4; key++) { /* recorded in time, too late, and never */
        double at = 100 * key;
        PLAY(&p, a, "full", at, s);
        PLAY(&p, b, "note", at + 10, 0);
        if (key == 1)
            PLAY(&p, b, "read", at + 30, s);
        struct arrival sent = played_next(&p, a, a, "write", at + 31);
        sent.relation = RELATION_SEND;
        sent.keyed = true;
        sent.key[0] = 9, sent.key[1] = key;
        sent.about = s;
        order_insert(p.run->order, &sent);
        if (key == 2)
            PLAY(&p, b, "read", at + 33, s);
        if (key < 3)
            play_message(&p, b, "read", at + 40, RELATION_RECEIVE, key);
    }
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, a),
                        "100 131 meet (130 2 meet late), 200 231 meet (231 2 "
                        "meet late), 300 331 meet unseen");
    end(&p);
}

static void lost_and_open(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t a = play_line(&p, "thread", "a"), b = play_line(&p, "thread", "b"),
             m = play_line(&p, "mutex", "m");
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    play_hold(&p, a, m, 0, 0, 10);
    order_note_loss(p.run->order, m, p.numbers[m] + 1, 2);
    p.numbers[m] += 2;
    play_hold(&p, b, m, 5, 20, 30);
    PLAY(&p, a, "acquire", 25, m);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, b), "5 20 excl lost");
    assert_string_equal(wait_list_of_thread(all, a), "");
    struct wait_record *open;
    assert_int_equal(interval_cache_open(p.run, &open), 1);
    assert_true(open[0].thread == a && open[0].from_ns == 25 * PLAYED_MS &&
                open[0].to_ns == 30 * PLAYED_MS && open[0].unexplained == UNATTRIBUTED_OPEN &&
                open[0].end == NO_POSITION);
    free(open);
    /* once it has resumed, the wait is not open any more */
    play_pair(&p, a, m, "lock", "acquired", 40);
    all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, a), "25 40 excl (30 2 excl)");
    assert_int_equal(interval_cache_open(p.run, &open), 0);
    free(open);
    end(&p);
}

/* A signal handler does not end a wait. */
static void interrupted(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t a = play_line(&p, "thread", "a"), b = play_line(&p, "thread", "b"),
             m = play_line(&p, "mutex", "m");
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    play_hold(&p, b, m, 0, 0, 30);
    PLAY(&p, a, "acquire", 10, m);
    PLAY(&p, a, "handler", 20, 0);
    play_pair(&p, a, m, "lock", "acquired", 30);
    PLAY(&p, a, "handler", 35, 0);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, a), "10 30 excl (30 2 excl)");
    assert_string_equal(course(all, a), "0 runs 10 for 2 30 runs 35");
    end(&p);
}

/* Discarded events are absent; waits that began before them are derived from the events that are
 * kept. */
static void forgotten(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t a = play_line(&p, "thread", "a"), b = play_line(&p, "thread", "b"),
             m = play_line(&p, "mutex", "m");
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    for (unsigned i = 0; i < 40000; i++) {
        play_hold(&p, a, m, i, i, i + 0.5);
        play_hold(&p, b, m, i + 0.25, i + 0.5, i + 1);
    }
    size_t all = learn(&p)->wait_count, again = interval_cache_generation(p.run);
    assert_int_equal(all, 40000);
    run_discard(p.run, order_count(p.run->order) / 2);
    assert_true(order_first(p.run->order) > 0);
    const struct intervals *left = learn(&p);
    assert_int_equal(interval_cache_generation(p.run), again + 1);
    assert_true(left->wait_count > all / 3 && left->wait_count < all * 2 / 3);
    for (size_t i = 0; i < left->wait_count; i++) {
        const struct wait_record *w = &left->waits[i];
        bool first = w->begin < order_first(p.run->order) + 4;
        assert_true(w->begin >= order_first(p.run->order));
        assert_true(w->count == 1 || first);
        assert_true(w->count || w->unexplained == UNATTRIBUTED_LOST);
    }
    end(&p);
}

/* If events of the thread itself are lost, its activity there is unknown. */
static void gap_in_the_thread(void **state)
{
    (void)state;
    struct played p = play("pthread");
    uint32_t a = play_line(&p, "thread", "a"), b = play_line(&p, "thread", "b");
    struct event_id ended;
    PLAY(&p, a, "start", 0, 0);
    PLAY(&p, b, "start", 0, 0);
    PLAY(&p, a, "join", 1, b);
    ended = PLAY(&p, b, "exit", 10, 0);
    order_note_loss(p.run->order, a, p.numbers[a] + 1, 3);
    p.numbers[a] += 3;
    play_event(&p, a, a, "joined", 20, b, ended);
    const struct intervals *all = learn(&p);
    assert_string_equal(wait_list_of_thread(all, a), "1 20 meet lost");
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(semaphore_as_lock),
        cmocka_unit_test(timed_out),
        cmocka_unit_test(last_reader),
        cmocka_unit_test(once),
        cmocka_unit_test(late_receiver),
        cmocka_unit_test(free_lock),
        cmocka_unit_test(nobody_is_late),
        cmocka_unit_test(accepted_at_once),
        cmocka_unit_test(a_message_is_no_lock),
        cmocka_unit_test(a_receive_comes_later),
        cmocka_unit_test(no_order_at_the_end),
        cmocka_unit_test(life),
        cmocka_unit_test(a_process_and_its_parent),
        cmocka_unit_test(no_room),
        cmocka_unit_test(lost_and_open),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(forgotten),
        cmocka_unit_test(gap_in_the_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
