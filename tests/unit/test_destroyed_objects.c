/* Objects that are destroyed while threads use them, compared with reachability: random executions
 * of threads that use an object, hold it, pass locks on and send messages, as one destroys it. */
#include "server/analysis/bug_prediction.h"

#include "unit.h"

#include <stdlib.h>

#define THREADS 3u
#define EVENTS 24u
#define EXECUTIONS 20000u
#define OBJECT 50u
#define OTHER 51u /* the line of what is used after the destruction */
#define DESTROYS 0u /* the thread that does */

static unsigned seed;

static unsigned some(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

enum does { USES, OPENS, CLOSES, SENDS, RECEIVES, PASSES_LOCK, DESTROYS_IT };

/* An execution, event by event: each is on its thread's line. */
struct execution {
    struct event {
        enum does does;
        uint32_t thread;
        uint32_t from; /* 1 + index of the event that it received, or after which it has the lock */
        uint64_t before; /* the events that happened before it: bits by index */
    } events[EVENTS];
    uint32_t count, destroyed; /* destroyed: 1 + index; 0: not yet */
    bool own; /* the thread that destroys the object initialized it */
};

/* Returns the last event of a thread before another one, 1 + index; 0: none. */
static uint32_t previous(const struct execution *x, uint32_t event)
{
    uint32_t i = event;
    while (i && x->events[i - 1].thread != x->events[event].thread)
        i--;
    return i;
}

static bool is_open(const struct execution *x, uint32_t thread)
{
    bool open = false;
    for (uint32_t i = 0; i < x->count; i++)
        if (x->events[i].thread == thread)
            open = x->events[i].does == OPENS || (open && x->events[i].does != CLOSES);
    return open;
}

/* Returns a message to a thread that was not received yet, or the last pass of the lock; 1 + index;
 * 0: none. */
static uint32_t source(const struct execution *x, enum does does, uint32_t thread)
{
    for (uint32_t i = x->count; i; i--) {
        const struct event *e = &x->events[i - 1];
        if (does == PASSES_LOCK && e->does == PASSES_LOCK)
            return i;
        bool received = e->thread == thread;
        for (uint32_t k = 0; k < x->count; k++)
            received |= x->events[k].does == RECEIVES && x->events[k].from == i;
        if (does == RECEIVES && e->does == SENDS && !received)
            return i;
    }
    return 0;
}

static void add_event(struct execution *x, enum does does, uint32_t thread)
{
    struct event *e = &x->events[x->count];
    *e = (struct event){.does = does, .thread = thread, .from = source(x, does, thread)};
    uint32_t causes[] = {previous(x, x->count), e->from};
    for (unsigned i = 0; i < 2; i++)
        if (causes[i])
            e->before |= x->events[causes[i] - 1].before | UINT64_C(1) << (causes[i] - 1);
    x->count++;
    if (does == DESTROYS_IT)
        x->destroyed = x->count;
}

static void make_execution(struct execution *x)
{
    *x = (struct execution){.own = some(4) > 0};
    uint32_t most = 8 + some(EVENTS - 8);
    while (x->count < most) {
        uint32_t thread = some(THREADS);
        enum does does = (enum does)some(DESTROYS_IT + 1);
        bool open = is_open(x, thread), may = true;
        if (does == OPENS || does == CLOSES)
            may = thread != DESTROYS && !x->destroyed && open == (does == CLOSES);
        else if (does == RECEIVES)
            may = source(x, does, thread) != 0;
        else if (does == DESTROYS_IT)
            may = thread == DESTROYS && !x->destroyed && x->count + (some(4) == 0 ? 4 : 1) >= most;
        else if (does == USES)
            may = !open && some(x->count < most / 3 ? 2 : 20) == 0;
        if (may)
            add_event(x, does, thread);
    }
}

static bool is_use(const struct event *e)
{
    return e->does == USES || e->does == OPENS || e->does == CLOSES;
}

/* Returns whether a thread uses the object when it is destroyed, afterwards, or in no order with
 * that. */
static bool is_destroyed_in_use(const struct execution *x)
{
    const struct event *end = x->destroyed ? &x->events[x->destroyed - 1] : NULL;
    bool in_use = false, open[THREADS] = {false};
    for (uint32_t i = 0; end && i < x->count; i++) {
        const struct event *e = &x->events[i];
        if (e->does == OPENS || e->does == CLOSES)
            open[e->thread] = e->does == OPENS;
        if (e == end)
            for (uint32_t t = 0; t < THREADS; t++)
                in_use |= open[t];
        bool unordered = i < x->destroyed && !(end->before >> i & 1) && x->own,
             after = i >= x->destroyed;
        in_use |= is_use(e) && e->thread != DESTROYS && (unordered || after);
        in_use |= is_use(e) && after;
    }
    return in_use;
}

/* ---- what is fed ---- */

/* Returns the order with all events and edges, those of the lock as messages. */
static struct order *make_order(const struct execution *x, uint64_t numbers[EVENTS])
{
    struct order *order = order_new();
    uint64_t last[THREADS] = {0};
    for (uint32_t t = 0; t < THREADS; t++)
        order_line(order, false, 1);
    for (uint32_t i = 0; i < x->count; i++) {
        const struct event *e = &x->events[i];
        numbers[i] = ++last[e->thread];
        struct event_id from = {0};
        if (e->from)
            from = (struct event_id){x->events[e->from - 1].thread + 1, numbers[e->from - 1]};
        order_insert(order,
                     &(struct arrival){.at = {e->thread + 1, numbers[i]},
                                       .type = 1,
                                       .thread = e->thread + 1,
                                       .time_ns = i,
                                       .partners = &from,
                                       .partner_count = e->from != 0,
                                       .relation = e->from ? RELATION_RECEIVE : RELATION_SEND,
                                       .sends = e->from != 0});
    }
    return order;
}

/* Sets the events that happened before an event but for the hand-over of the lock. */
static void set_clocks(const struct execution *x, struct mhb_vector *clocks[EVENTS])
{
    for (uint32_t i = 0; i < x->count; i++) {
        const struct event *e = &x->events[i];
        uint32_t causes[] = {previous(x, i), e->does == RECEIVES ? e->from : 0};
        clocks[i] = calloc(1, sizeof *clocks[i] + THREADS * sizeof *clocks[i]->at);
        clocks[i]->count = THREADS;
        for (unsigned k = 0; k < 2; k++) {
            const struct mhb_vector *from = causes[k] ? clocks[causes[k] - 1] : NULL;
            for (uint32_t t = 0; from && t < THREADS; t++)
                clocks[i]->at[t] = from->at[t] > clocks[i]->at[t] ? from->at[t] : clocks[i]->at[t];
            if (from)
                clocks[i]->at[x->events[causes[k] - 1].thread] =
                    causes[k] > clocks[i]->at[x->events[causes[k] - 1].thread]
                        ? causes[k]
                        : clocks[i]->at[x->events[causes[k] - 1].thread];
        }
    }
}

static void feed_event(struct bug_prediction *prediction, const struct execution *x, uint32_t i,
                       const struct order *order, const uint64_t *numbers,
                       const struct mhb_vector *clock)
{
    const struct event *e = &x->events[i];
    bool after = x->destroyed && i >= x->destroyed;
    struct sync_op op = {.is = e->does == DESTROYS_IT ? SYNC_OP_DESTROY : SYNC_OP_USE,
                         .thread = e->thread + 1,
                         .about = after ? OTHER : OBJECT,
                         .object = 7,
                         .place = i + 1,
                         .opens = e->does == OPENS,
                         .closes = e->does == CLOSES,
                         .own = x->own,
                         .time_ns = i,
                         .position =
                             order_position(order, (struct event_id){e->thread + 1, numbers[i]}),
                         .mark = {e->thread, i + 1, clock}};
    if (e->does == DESTROYS_IT)
        for (uint32_t t = 0; t < THREADS; t++) {
            struct execution until = *x;
            until.count = i;
            op.in_use |= is_open(&until, t);
        }
    struct sync_op reuse = op;
    reuse.is = SYNC_OP_REUSE;
    if (is_use(e) && after)
        predict_feed(prediction, &reuse);
    if (is_use(e) || e->does == DESTROYS_IT)
        predict_feed(prediction, &op);
}

static bool finds(const struct execution *x)
{
    struct mhb_vector *clocks[EVENTS];
    uint64_t numbers[EVENTS], budget = UINT64_MAX;
    struct order *order = make_order(x, numbers);
    struct bug_prediction *prediction = predict_new();
    predict_set_order(prediction, order);
    set_clocks(x, clocks);
    for (uint32_t i = 0; i < x->count; i++)
        feed_event(prediction, x, i, order, numbers, clocks[i]);
    while (!predict_step(prediction, &budget))
        budget = UINT64_MAX;
    const struct findings *found = predict_results(prediction);
    bool some_found = false;
    for (size_t i = 0; i < found->count; i++)
        some_found |= found->items[i].kind == FINDING_DESTROY_IN_USE;
    predict_free(prediction);
    order_free(order);
    for (uint32_t i = 0; i < x->count; i++)
        free(clocks[i]);
    return some_found;
}

static void print_execution(const struct execution *x)
{
    static const char *const does[] = {"uses",     "opens", "closes",  "sends",
                                       "receives", "lock",  "destroys"};
    for (uint32_t i = 0; i < x->count; i++)
        print_message("%u: thread %u %s (after %u)\n", i + 1, x->events[i].thread,
                      does[x->events[i].does], x->events[i].from);
}

static void a_finding_is_a_use_that_nothing_orders_before_the_destruction(void **state)
{
    (void)state;
    unsigned in_use = 0, fed = 0;
    for (seed = 1; fed < EXECUTIONS; seed += 7) {
        unsigned began = seed;
        struct execution x;
        make_execution(&x);
        if (!x.destroyed)
            continue;
        bool is = is_destroyed_in_use(&x);
        if (finds(&x) != is) {
            print_execution(&x);
            fail_msg("execution of seed %u: %s", began, is ? "not found" : "found, and none is");
        }
        in_use += is;
        fed++;
    }
    assert_in_range(in_use, EXECUTIONS / 10, EXECUTIONS - EXECUTIONS / 10);
}

/* The twin of each: the same use, followed by a message that the other thread receives first. */
static void a_message_after_the_last_use_orders_it(void **state)
{
    (void)state;
    for (int orders = 0; orders < 2; orders++)
        for (enum does last = USES; last <= CLOSES; last++) {
            struct execution x = {.own = true};
            if (last == CLOSES)
                add_event(&x, OPENS, 1);
            add_event(&x, last, 1);
            if (orders) {
                if (last == OPENS)
                    add_event(&x, CLOSES, 1);
                add_event(&x, SENDS, 1);
                add_event(&x, RECEIVES, DESTROYS);
            }
            add_event(&x, DESTROYS_IT, DESTROYS);
            assert_int_equal(finds(&x), !orders);
        }
}

static void a_lock_that_was_passed_on_orders_it_too(void **state)
{
    (void)state;
    for (int passes = 0; passes < 2; passes++) {
        struct execution x = {.own = true};
        add_event(&x, USES, 1);
        add_event(&x, PASSES_LOCK, passes ? 1 : 2);
        add_event(&x, PASSES_LOCK, DESTROYS);
        add_event(&x, DESTROYS_IT, DESTROYS);
        assert_int_equal(finds(&x), !passes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_is_a_use_that_nothing_orders_before_the_destruction),
        cmocka_unit_test(a_message_after_the_last_use_orders_it),
        cmocka_unit_test(a_lock_that_was_passed_on_orders_it_too)};
    return cmocka_run_group_tests_name("destroyed", tests, NULL, NULL);
}
