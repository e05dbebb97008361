/* Bug prediction, compared with all interleavings: random small programs of threads with nested
 * locks, of which one schedule is analyzed; a cycle is found if and only if some schedule
 * deadlocks. */
#include "server/analysis/bug_prediction.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define STEPS 12
#define LOCKS 3
#define PROGRAMS 20000

struct program {
    int count[THREADS];
    /* l + 1: acquire lock l; -(l + 1): release it; 0: barrier with all threads */
    signed char step[THREADS][STEPS];
};

static unsigned seed;

static unsigned some(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

/* Makes a thread that acquires and releases nested locks. */
static void make_thread(struct program *p, int t, bool meets)
{
    int held[LOCKS], depth = 0, n = 0, most = 4 + (int)some(5);
    while (n < most) {
        int lock = (int)some(LOCKS);
        bool has = false;
        for (int i = 0; i < depth; i++)
            has |= held[i] == lock;
        if (!has && some(5) < 3) {
            held[depth++] = lock;
            p->step[t][n++] = (signed char)(lock + 1);
        } else if (depth) {
            p->step[t][n++] = (signed char)-(held[--depth] + 1);
        }
    }
    while (depth)
        p->step[t][n++] = (signed char)-(held[--depth] + 1);
    p->count[t] = n;
    if (meets) { /* before all other steps, or after them */
        int at = some(2) ? 0 : n;
        memmove(&p->step[t][at + 1], &p->step[t][at], (size_t)(n - at));
        p->step[t][at] = 0;
        p->count[t]++;
    }
}

struct state {
    signed char at[THREADS];
    signed char owner[LOCKS]; /* 1 + thread; 0: free */
};

static bool can_step(const struct program *p, const struct state *s, int t)
{
    if (s->at[t] >= p->count[t])
        return false;
    int step = p->step[t][(int)s->at[t]];
    if (step > 0)
        return !s->owner[step - 1];
    for (int i = 0; i < THREADS && step == 0; i++)
        if (s->at[i] >= p->count[i] || p->step[i][(int)s->at[i]] != 0)
            return false;
    return true;
}

static void do_step(const struct program *p, struct state *s, int t)
{
    int step = p->step[t][(int)s->at[t]];
    if (step > 0)
        s->owner[step - 1] = (signed char)(t + 1);
    else if (step < 0)
        s->owner[-step - 1] = 0;
    for (int i = 0; i < THREADS; i++)
        if (i == t || step == 0)
            s->at[i]++;
}

/* Returns whether some threads wait for locks of each other. */
static bool is_deadlock(const struct program *p, const struct state *s)
{
    for (int t = 0; t < THREADS; t++) {
        int at = t;
        for (int n = 0; n <= THREADS && at >= 0; n++) {
            int step = s->at[at] < p->count[at] ? p->step[at][(int)s->at[at]] : 0;
            at = step > 0 ? s->owner[step - 1] - 1 : -1;
        }
        if (at >= 0)
            return true;
    }
    return false;
}

#define STATES (1u << 15)
static unsigned char seen[STATES];

static bool comes_to_deadlock(const struct program *p, struct state s)
{
    unsigned key = 0;
    for (int t = 0; t < THREADS; t++)
        key = key << 5 | (unsigned)s.at[t];
    if (seen[key])
        return false;
    seen[key] = 1;
    if (is_deadlock(p, &s))
        return true;
    for (int t = 0; t < THREADS; t++)
        if (can_step(p, &s, t)) {
            struct state next = s;
            do_step(p, &next, t);
            if (comes_to_deadlock(p, next))
                return true;
        }
    return false;
}

/* ---- analysis of one schedule ---- */

static struct mhb_vector *met; /* what happened before the barrier; NULL: not passed yet */

static struct sync_op sync_op(enum sync_op_kind is, int t, int lock, uint32_t position)
{
    return (struct sync_op){.is = is,
                            .thread = (uint32_t)t + 1,
                            .lock = (uint32_t)lock + 10,
                            .place = (uint32_t)(t * 100 + (int)position),
                            .position = position,
                            .mark = {(uint32_t)t, position, met->count ? met : NULL}};
}

/* Passes a random schedule to the prediction. Returns false if it deadlocks. */
static bool tell(const struct program *p, struct bug_prediction *m)
{
    struct state s = {0};
    uint32_t position = 1;
    for (;;) {
        int t = (int)some(THREADS), tries = 0;
        while (!can_step(p, &s, t) && tries++ < THREADS)
            t = (t + 1) % THREADS;
        if (tries > THREADS)
            break;
        int step = p->step[t][(int)s.at[t]];
        if (step == 0) {
            met->count = THREADS;
            for (int i = 0; i < THREADS; i++)
                met->at[i] = position;
            position++;
        } else if (step > 0) {
            struct sync_op request = sync_op(SYNC_OP_REQUEST, t, step - 1, position++);
            struct sync_op acquire = sync_op(SYNC_OP_ACQUIRE, t, step - 1, position++);
            predict_feed(m, &request);
            predict_feed(m, &acquire);
        } else {
            struct sync_op release = sync_op(SYNC_OP_RELEASE, t, -step - 1, position++);
            predict_feed(m, &release);
        }
        do_step(p, &s, t);
    }
    for (int t = 0; t < THREADS; t++)
        if (s.at[t] < p->count[t])
            return false;
    return true;
}

static bool finds_inversion(struct bug_prediction *m)
{
    uint64_t budget = 1000;
    while (!predict_step(m, &budget))
        budget = 1000;
    const struct findings *found = predict_results(m);
    for (size_t i = 0; i < found->count; i++)
        if (found->items[i].kind == FINDING_LOCK_ORDER_INVERSION)
            return true;
    return false;
}

static void cycles_are_found_where_some_order_is_a_deadlock(void **state)
{
    (void)state;
    unsigned could = 0, told = 0;
    met = calloc(1, sizeof *met + THREADS * sizeof *met->at);
    for (seed = 1; told < PROGRAMS;) {
        unsigned began = seed;
        struct program p = {0};
        bool meet = some(3) == 0;
        for (int t = 0; t < THREADS; t++)
            make_thread(&p, t, meet);
        struct bug_prediction *m = predict_new();
        met->count = 0;
        if (tell(&p, m)) {
            memset(seen, 0, sizeof seen);
            bool can = comes_to_deadlock(&p, (struct state){0});
            if (finds_inversion(m) != can)
                for (int t = 0; t < THREADS; t++, print_message("\n"))
                    for (int i = 0; i < p.count[t]; i++)
                        print_message("%d ", p.step[t][i]);
            if (finds_inversion(m) != can)
                fail_msg("program of seed %u: %s", began,
                         can ? "a deadlock that was not found" : "found, and there is none");
            could += can;
            told++;
        }
        predict_free(m);
        seed += 7;
    }
    free(met);
    assert_in_range(could, PROGRAMS / 20, PROGRAMS - PROGRAMS / 20);
}

/* ---- calls and visits, passed one by one ---- */

struct told {
    struct bug_prediction *prediction;
    uint32_t position;
};

static void tell_one(struct told *t, enum sync_op_kind is, uint32_t thread, uint32_t lock,
                     uint32_t about, uint32_t place, const struct mhb_vector *after)
{
    uint32_t at = ++t->position;
    struct sync_op d = {.is = is,
                        .thread = thread + 1,
                        .lock = lock,
                        .about = about,
                        .place = place,
                        .position = at,
                        .mark = {thread, at, after}};
    predict_feed(t->prediction, &d);
}

static unsigned count_of(struct told *t, enum finding_kind kind)
{
    uint64_t budget = UINT64_MAX;
    unsigned count = 0;
    while (!predict_step(t->prediction, &budget))
        budget = UINT64_MAX;
    const struct findings *found = predict_results(t->prediction);
    for (size_t i = 0; i < found->count; i++)
        count += found->items[i].kind == kind;
    return count;
}

#define LOCK 10
#define OBJECT 20

static void wait_for_it(struct told *t, uint32_t thread, uint32_t place)
{
    tell_one(t, SYNC_OP_REQUEST, thread, LOCK, 0, place, NULL);
    tell_one(t, SYNC_OP_ACQUIRE, thread, LOCK, 0, place, NULL);
    tell_one(t, SYNC_OP_WAIT, thread, LOCK, OBJECT, place + 1, NULL);
}

static void pass(struct told *t, uint32_t thread, uint32_t place, const struct mhb_vector *after)
{
    tell_one(t, SYNC_OP_REQUEST, thread, LOCK, 0, place, after);
    tell_one(t, SYNC_OP_ACQUIRE, thread, LOCK, 0, place, after);
    tell_one(t, SYNC_OP_RELEASE, thread, LOCK, 0, place, after);
}

static void a_call_is_lost_only_if_nobody_was_in_the_lock(void **state)
{
    (void)state;
    for (int visits = 0; visits < 2; visits++) {
        struct told t = {predict_new(), 0};
        wait_for_it(&t, 0, 100);
        if (visits)
            pass(&t, 1, 200, NULL);
        tell_one(&t, SYNC_OP_SIGNAL, 1, 0, OBJECT, 300, NULL);
        tell_one(&t, SYNC_OP_WOKEN, 0, LOCK, OBJECT, 101, NULL);
        assert_int_equal(count_of(&t, FINDING_LOST_WAKEUP), !visits);
        assert_int_equal(count_of(&t, FINDING_EARLY_SIGNAL), visits);
        predict_free(t.prediction);
    }
}

static void a_call_is_missed_only_if_more_come_than_are_called(void **state)
{
    (void)state;
    for (uint32_t calls = 1; calls <= 3; calls++) {
        struct told t = {predict_new(), 0};
        wait_for_it(&t, 0, 100);
        for (uint32_t i = 0; i < calls; i++) {
            pass(&t, 1, 200, NULL);
            tell_one(&t, SYNC_OP_SIGNAL, 1, 0, OBJECT, 300, NULL);
        }
        pass(&t, 2, 100, NULL);
        pass(&t, 3, 100, NULL);
        assert_int_equal(count_of(&t, FINDING_SIGNAL_NOT_BROADCAST), calls < 3);
        predict_free(t.prediction);
    }
}

static void visits_are_flipped_unless_sure_or_seen_both_ways(void **state)
{
    struct mhb_vector *after = calloc(1, sizeof *after + 2 * sizeof *after->at);
    (void)state;
    after->count = 2;
    after->at[0] = 100;
    for (int way = 0; way < 3; way++) {
        struct told t = {predict_new(), 0};
        pass(&t, 0, 100, NULL);
        pass(&t, 1, 200, way == 1 ? after : NULL);
        if (way == 2)
            pass(&t, 0, 100, NULL);
        assert_int_equal(count_of(&t, FINDING_ORDER_VIOLATION), way == 0);
        predict_free(t.prediction);
    }
    free(after);
}

static void a_visit_comes_between_unless_it_did(void **state)
{
    (void)state;
    for (int did = 0; did < 2; did++) {
        struct told t = {predict_new(), 0};
        pass(&t, 0, 100, NULL);
        if (did)
            pass(&t, 1, 300, NULL);
        pass(&t, 0, 200, NULL);
        pass(&t, 1, 300, NULL);
        assert_int_equal(count_of(&t, FINDING_ATOMICITY), !did);
        predict_free(t.prediction);
    }
}

/* Feeds an acquisition of a read-write lock, with its request. */
static void tell_rw(struct told *t, uint32_t thread, bool shared, uint32_t place, bool timed)
{
    for (int step = 0; step < 2; step++) {
        uint32_t at = ++t->position;
        struct sync_op d = {.is = step ? SYNC_OP_ACQUIRE : SYNC_OP_REQUEST,
                            .thread = thread + 1,
                            .lock = LOCK,
                            .timed = timed,
                            .may_share = true,
                            .shared = shared,
                            .place = place,
                            .position = at,
                            .mark = {thread, at, NULL}};
        predict_feed(t->prediction, &d);
    }
}

static void a_nested_read_lock_needs_a_writer_that_waits(void **state)
{
    (void)state;
    enum { PLAIN, NOT_NESTED, NO_WRITER, TIMED_WRITER, SAME_THREAD, GATE, WAYS };
    for (int way = PLAIN; way < WAYS; way++) {
        struct told t = {predict_new(), 0};
        if (way == GATE)
            tell_one(&t, SYNC_OP_ACQUIRE, 0, OBJECT, 0, 90, NULL);
        tell_rw(&t, 0, true, 100, false);
        if (way != NOT_NESTED)
            tell_one(&t, SYNC_OP_REREAD, 0, LOCK, 0, 101, NULL);
        tell_one(&t, SYNC_OP_RELEASE, 0, LOCK, 0, 102, NULL);
        if (way == GATE) {
            tell_one(&t, SYNC_OP_RELEASE, 0, OBJECT, 0, 91, NULL);
            tell_one(&t, SYNC_OP_ACQUIRE, 1, OBJECT, 0, 92, NULL);
        }
        if (way != NO_WRITER)
            tell_rw(&t, way == SAME_THREAD ? 0 : 1, false, 200, way == TIMED_WRITER);
        assert_int_equal(count_of(&t, FINDING_READ_RECURSION), way == PLAIN);
        predict_free(t.prediction);
    }
}

static void tell_fork(struct told *t, const struct mhb_vector *after, uint64_t *fork)
{
    *fork = t->position + 1;
    tell_one(t, SYNC_OP_FORK, 0, 0, 0, 300, after);
}

/* Feeds the request and acquisition of the parent's LOCK in a child, where it is OBJECT. */
static void tell_child(struct told *t, uint64_t fork, bool timed)
{
    for (int step = 0; step < 2; step++) {
        uint32_t at = ++t->position;
        struct sync_op d = {.is = step ? SYNC_OP_ACQUIRE : SYNC_OP_REQUEST,
                            .thread = 3,
                            .lock = OBJECT,
                            .timed = timed,
                            .inherited = step ? 0 : LOCK,
                            .fork = fork,
                            .place = 400,
                            .position = at,
                            .mark = {2, at, NULL}};
        predict_feed(t->prediction, &d);
    }
}

static void a_fork_needs_a_lock_that_another_thread_can_hold(void **state)
{
    struct mhb_vector *joined = calloc(1, sizeof *joined + 2 * sizeof *joined->at);
    (void)state;
    enum { PLAIN, HELD_BY_FORKING, JOINED, TIMED_CHILD, GATE, WAYS };
    joined->count = 2;
    joined->at[1] = 100;
    for (int way = PLAIN; way < WAYS; way++) {
        struct told t = {predict_new(), 0};
        uint64_t fork;
        for (uint32_t thread = 2; thread-- > 0;) { /* a gate is held by both */
            if (way == GATE)
                tell_one(&t, SYNC_OP_ACQUIRE, thread, OBJECT + 1, 0, 90, NULL);
            if (thread == 1) {
                pass(&t, thread, 100, NULL);
                if (way == GATE)
                    tell_one(&t, SYNC_OP_RELEASE, thread, OBJECT + 1, 0, 91, NULL);
            }
        }
        if (way == HELD_BY_FORKING)
            tell_one(&t, SYNC_OP_ACQUIRE, 0, LOCK, 0, 92, NULL);
        tell_fork(&t, way == JOINED ? joined : NULL, &fork);
        tell_child(&t, fork, way == TIMED_CHILD);
        assert_int_equal(count_of(&t, FINDING_FORK_WITH_LOCK), way == PLAIN);
        predict_free(t.prediction);
    }
    free(joined);
}

static uint64_t tell_send(struct told *t, uint32_t thread, uint32_t place)
{
    tell_one(t, SYNC_OP_SEND, thread, 0, 0, place, NULL);
    return t->position;
}

static void tell_message(struct told *t, uint32_t thread, uint64_t sent, bool any)
{
    uint32_t at = ++t->position;
    struct sync_op d = {.is = SYNC_OP_MESSAGE,
                        .thread = thread + 1,
                        .any = any,
                        .began = at,
                        .sent = sent,
                        .place = 500,
                        .position = at,
                        .mark = {thread, at, NULL}};
    predict_feed(t->prediction, &d);
}

/* Each thread sends to the next one, and receives: all of them after they sent, or one before. */
static void a_send_is_unsafe_if_each_receiver_sends_first(void **state)
{
    (void)state;
    for (uint32_t threads = 2; threads <= 5; threads++)
        /* 1: any, 2: one receives first, 3: one never does, 4: one finds a message by a probe */
        for (int way = 0; way < 5; way++) {
            struct told t = {predict_new(), 0};
            uint64_t sent[5];
            uint32_t first = way == 2 || way == 3;
            for (uint32_t i = way == 2; i < threads; i++)
                sent[i] = tell_send(&t, i, 100 + i);
            if (way == 2) {
                tell_message(&t, 0, sent[threads - 1], false);
                sent[0] = tell_send(&t, 0, 100);
            }
            if (way == 4)
                tell_message(&t, 1, sent[0], true);
            for (uint32_t i = first; i < threads; i++)
                tell_message(&t, i, sent[(i + threads - 1) % threads], way == 1 && i == 1);
            assert_int_equal(count_of(&t, FINDING_UNSAFE_SEND), way == 0);
            predict_free(t.prediction);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_send_is_unsafe_if_each_receiver_sends_first),
        cmocka_unit_test(a_nested_read_lock_needs_a_writer_that_waits),
        cmocka_unit_test(a_fork_needs_a_lock_that_another_thread_can_hold),
        cmocka_unit_test(cycles_are_found_where_some_order_is_a_deadlock),
        cmocka_unit_test(a_call_is_lost_only_if_nobody_was_in_the_lock),
        cmocka_unit_test(a_call_is_missed_only_if_more_come_than_are_called),
        cmocka_unit_test(visits_are_flipped_unless_sure_or_seen_both_ways),
        cmocka_unit_test(a_visit_comes_between_unless_it_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
