/* Locks in signal handlers, compared with all places at which the signal can arrive: random threads
 * with nested critical sections and signal masks, which a signal interrupts at one of these
 * places. */
#include "server/analysis/bug_prediction.h"

#include "unit.h"

#include <stdlib.h>

#define STEPS 24
#define LOCKS 3
#define PROGRAMS 20000
#define SIGNAL "SIGUSR1"

static unsigned seed;

static unsigned some(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

/* A thread; a signal arrives before the step `at`, or at the end, and what sends it is created
 * before the step `created`. */
struct program {
    int step[STEPS]; /* l + 1: acquires lock l; -(l + 1): releases it; 0: changes the mask */
    int count, created, at, again; /* again: a second signal, sent by another program; -1: none */
    int lock; /* that the handler acquires */
    bool masked; /* at the begin */
};

/* What holds before a step. */
struct place {
    bool masked, held[LOCKS], any_held;
};

static struct place place_before(const struct program *p, int step)
{
    struct place is = {.masked = p->masked};
    for (int i = 0; i < step; i++) {
        is.masked ^= p->step[i] == 0;
        if (p->step[i] > 0)
            is.held[p->step[i] - 1] = true;
        if (p->step[i] < 0)
            is.held[-p->step[i] - 1] = false;
    }
    for (int l = 0; l < LOCKS; l++)
        is.any_held |= is.held[l];
    return is;
}

static void make_steps(struct program *p)
{
    int held[LOCKS], depth = 0, most = 6 + (int)some(STEPS - 6 - LOCKS);
    while (p->count < most || depth) {
        int lock = (int)some(LOCKS);
        bool has = false, ends = p->count >= most;
        for (int i = 0; i < depth; i++)
            has |= held[i] == lock;
        if (!ends && some(4) == 0)
            p->step[p->count++] = 0;
        else if (!ends && !has && some(5) < 3)
            p->step[p->count++] = (held[depth++] = lock) + 1;
        else if (depth)
            p->step[p->count++] = -(held[--depth] + 1);
    }
}

/* Returns a place not before `from` where the signal arrives and the handler gets its lock; -1:
 * there is none. */
static int some_arrival(const struct program *p, int from)
{
    for (int tries = 0; tries < 100 && from <= p->count; tries++) {
        int at = from + (int)some((unsigned)(p->count - from + 1));
        struct place is = place_before(p, at);
        if (!is.masked && !is.held[p->lock])
            return at;
    }
    return -1;
}

/* Returns whether the signal can arrive in a critical section of the handler's lock, between two
 * places. */
static bool can_deadlock(const struct program *p, int from, int to)
{
    for (int at = from; at <= to; at++) {
        struct place is = place_before(p, at);
        if (!is.masked && is.held[p->lock])
            return true;
    }
    return false;
}

/* ---- what is fed ---- */

struct fed {
    struct bug_prediction *prediction;
    struct mhb_vector *creation; /* what happened before it */
    uint32_t position;
    struct sync_op sent;
};

static void feed(struct fed *f, struct sync_op op)
{
    op.thread = 1;
    op.position = ++f->position;
    op.place = op.position;
    op.mark = (struct mhb_clock_mark){0, op.position, NULL};
    predict_feed(f->prediction, &op);
}

static void feed_lock(struct fed *f, int lock)
{
    feed(f, (struct sync_op){.is = SYNC_OP_REQUEST, .lock = (uint32_t)lock + 10});
    feed(f, (struct sync_op){.is = SYNC_OP_ACQUIRE, .lock = (uint32_t)lock + 10});
}

static void feed_handler(struct fed *f, const struct program *p)
{
    feed(f, (struct sync_op){.is = SYNC_OP_HANDLER_BEGIN,
                             .text = SIGNAL,
                             .sender = f->sent.thread,
                             .sent = f->sent.position,
                             .sent_mark = f->sent.mark});
    feed_lock(f, p->lock);
    feed(f, (struct sync_op){.is = SYNC_OP_RELEASE, .lock = (uint32_t)p->lock + 10});
    feed(f, (struct sync_op){.is = SYNC_OP_HANDLER_END});
}

static void feed_program(struct fed *f, const struct program *p)
{
    bool masked = p->masked;
    for (int i = 0; i <= p->count; i++) {
        if (i == p->created) {
            f->creation->count = 1;
            f->creation->at[0] = f->position;
        }
        if (i == p->at && p->again < 0) {
            uint32_t at = ++f->position;
            f->sent = (struct sync_op){.thread = 2, .position = at, .mark = {1, at, f->creation}};
        }
        if (i == p->at || i == p->again)
            feed_handler(f, p);
        if (i < p->count && p->step[i] > 0)
            feed_lock(f, p->step[i] - 1);
        else if (i < p->count && p->step[i] < 0)
            feed(f, (struct sync_op){.is = SYNC_OP_RELEASE, .lock = (uint32_t)-p->step[i] + 9});
        else if (i < p->count)
            feed(f, (struct sync_op){.is = SYNC_OP_SIGNAL_MASK,
                                     .text =
                                         (masked ^= true) ? "blocks " SIGNAL : "unblocks " SIGNAL});
    }
}

static unsigned count_findings(struct bug_prediction *prediction)
{
    uint64_t budget = UINT64_MAX;
    unsigned count = 0;
    while (!predict_step(prediction, &budget))
        budget = UINT64_MAX;
    const struct findings *found = predict_results(prediction);
    for (size_t i = 0; i < found->count; i++)
        count += found->items[i].kind == FINDING_HANDLER_LOCK;
    return count;
}

static void print_program(const struct program *p)
{
    print_message("handler of lock %d at %d%s, %d, created at %d, %smasked:", p->lock, p->at,
                  p->again < 0 ? "" : " and again", p->again, p->created, p->masked ? "" : "not ");
    for (int i = 0; i < p->count; i++)
        print_message(" %d", p->step[i]);
    print_message("\n");
}

/* Makes a program, and its outcome; returns false if the signal has no place to arrive. */
static bool make_program(struct program *p)
{
    *p = (struct program){.lock = (int)some(LOCKS), .masked = some(2), .again = -1};
    make_steps(p);
    do
        p->created = (int)some((unsigned)p->count + 1);
    while (place_before(p, p->created).any_held);
    p->at = some_arrival(p, p->created);
    if (p->at >= 0 && some(2)) {
        p->created = 0;
        p->again = some_arrival(p, p->at + 1);
        return p->again >= 0;
    }
    return p->at >= 0;
}

static void a_finding_is_a_signal_that_can_arrive_in_the_section(void **state)
{
    (void)state;
    unsigned could = 0, fed = 0;
    struct mhb_vector *creation = calloc(1, sizeof *creation + sizeof *creation->at);
    for (seed = 1; fed < PROGRAMS; seed += 7) {
        unsigned began = seed;
        struct program p;
        if (!make_program(&p))
            continue;
        struct fed f = {.prediction = predict_new(), .creation = creation};
        feed_program(&f, &p);
        bool can =
                 p.again < 0 ? can_deadlock(&p, p.created, p.at) : can_deadlock(&p, p.at, p.again),
             found = count_findings(f.prediction) > 0;
        predict_free(f.prediction);
        if (found != can) {
            print_program(&p);
            fail_msg("program of seed %u: %s", began,
                     can ? "a deadlock that was not found" : "found, and there is none");
        }
        could += can;
        fed++;
    }
    free(creation);
    assert_in_range(could, PROGRAMS / 10, PROGRAMS - PROGRAMS / 10);
}

/* ---- what is not a finding ---- */

enum way { PLAIN, TIMED, RECURSIVE, OWN_SIGNAL, JUMPS, SYNCHRONOUS, SHARED, WAYS };

static void feed_way(struct fed *f, enum way way)
{
    struct sync_op request = {.is = SYNC_OP_REQUEST, .lock = 10, .timed = way == TIMED},
                   acquire = {.is = SYNC_OP_ACQUIRE, .lock = 10, .shared = way == SHARED};
    feed_lock(f, 1);
    for (int section = 0; section < 2; section++) {
        for (int i = 0; i <= (way == RECURSIVE); i++) {
            feed(f, (struct sync_op){.is = SYNC_OP_REQUEST, .lock = 10});
            feed(f, acquire);
        }
        for (int i = 0; i <= (way == RECURSIVE); i++)
            feed(f, (struct sync_op){.is = SYNC_OP_RELEASE, .lock = 10});
    }
    uint32_t at = ++f->position;
    feed(f, (struct sync_op){.is = SYNC_OP_HANDLER_BEGIN,
                             .text = way == SYNCHRONOUS ? "SIGSEGV" : SIGNAL,
                             .sender = way == OWN_SIGNAL    ? 1
                                       : way == SYNCHRONOUS ? 0
                                                            : 2,
                             .sent = at,
                             .sent_mark = {1, at, NULL}});
    feed(f, request);
    feed(f, acquire);
    feed(f, (struct sync_op){.is = SYNC_OP_RELEASE, .lock = 10});
    if (way != JUMPS)
        feed(f, (struct sync_op){.is = SYNC_OP_HANDLER_END});
}

static void what_cannot_wait_for_itself_is_no_finding(void **state)
{
    (void)state;
    for (enum way way = PLAIN; way < WAYS; way++) {
        struct fed f = {.prediction = predict_new()};
        feed_way(&f, way);
        assert_int_equal(count_findings(f.prediction), way == PLAIN);
        predict_free(f.prediction);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_is_a_signal_that_can_arrive_in_the_section),
        cmocka_unit_test(what_cannot_wait_for_itself_is_no_finding)};
    return cmocka_run_group_tests_name("handlers", tests, NULL, NULL);
}
