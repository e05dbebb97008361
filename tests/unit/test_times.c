/* Clocks of two hosts, a second apart and drifting, brought together. */
#include "server/times.h"
#include "tests/unit/program.h"
#include "tests/unit/unit.h"

#define ROUNDS 400
#define APART_NS 1000000000
#define LATENCY_NS 50000

static struct teller *begin(struct run *run, uint32_t session, const char *host)
{
    struct hello hello = {.version = 1, .role = ROLE_PROGRAM, .run = strdup("test@1"),
                          .environment = strdup("pthread"), .path = strdup("/bin/x"),
                          .host = strdup(host)};
    struct teller *teller = teller_new(run, session, &hello);
    struct out out = {0};
    const char *error;
    hello_free(&hello);
    for (uint16_t code = 1; code <= 2; code++) {
        out.size = 0;
        put_test_type(&out, code, code == 1 ? "send" : "receive");
        assert_true(teller_message(teller, MESSAGE_TYPE, 0, out.data, out.size, &error));
    }
    out.size = 0; /* its own line; the other's when that is there */
    put_test_line(&out, session + 1, "task", "t");
    assert_true(teller_message(teller, MESSAGE_LINE, session + 1, out.data, out.size, &error));
    out_free(&out);
    return teller;
}

static void know(struct teller *teller, uint32_t line)
{
    struct out out = {0};
    const char *error;
    put_test_line(&out, line, "task", "t");
    assert_true(teller_message(teller, MESSAGE_LINE, line, out.data, out.size, &error));
    out_free(&out);
}

/* What the second host's clock shows: a second more, and 100 in a million faster. */
static uint64_t shown(unsigned host, uint64_t ns) { return host ? ns + APART_NS + ns / 10000 : ns; }

static void tell(struct teller *teller, unsigned host, unsigned number, bool sends, uint64_t ns)
{
    const char *error;
    struct slot slot = {.shape = sends ? 1 : 2, .flags = sends ? RELATION_SEND : RELATION_RECEIVE,
                        .time_ns = shown(host, ns), .line_a = host + 1, .number_a = number};
    if (!sends) {
        slot.line_b = 2 - host;
        slot.number_b = number;
    }
    assert_true(teller_slots(teller, host + 1, &slot, 1, &error));
}

static void two_clocks_become_one(void **state)
{
    (void)state;
    struct run *run = run_new("test@1", 1, NULL);
    struct teller *tellers[2] = {begin(run, 0, "here"), begin(run, 1, "there")};
    know(tellers[0], 2);
    know(tellers[1], 1);
    for (unsigned i = 1; i <= ROUNDS; i++) { /* to and fro, some slower than others */
        unsigned from = i % 2;
        uint64_t at = 10000000ull * i;
        tell(tellers[from], from, i, true, at);
        tell(tellers[1 - from], 1 - from, i, false, at + LATENCY_NS + i * 7919 % 100000);
    }
    assert_int_equal(order_figures(run->order).events, 2 * ROUNDS);
    assert_int_equal(order_figures(run->order).contradictions + order_figures(run->order).pending, 0);
    for (unsigned i = 1; i <= ROUNDS; i++)
        for (uint32_t host = 0; host < 2; host++) {
            uint64_t position = order_position(run->order, (struct ref){host + 1, i});
            struct event e = order_event(run->order, position);
            bool sends = e.relation == RELATION_SEND;
            int64_t real = 10000000ll * i + (sends ? 0 : LATENCY_NS + i * 7919 % 100000);
            int64_t error = times_fitted(run, position) - real;
            assert_true(error > -40000 && error < 40000); /* of a second, with what latencies hide */
            if (!sends)
                assert_true(times_fitted(run, position) >
                            times_fitted(run, order_edge(run->order, position, 0)));
        }
    teller_hangup(tellers[0]);
    teller_hangup(tellers[1]);
    run_free(run);
}

/* Within a window an event is never placed before what it follows, whatever the clocks say. */
static void times_are_repaired_to_agree_with_the_order(void **state)
{
    (void)state;
    struct run *run = run_new("test@1", 1, NULL);
    struct teller *teller = begin(run, 0, "here");
    know(teller, 2);
    const char *error;
    struct slot slots[2] = {{.shape = 1, .flags = RELATION_SEND, .time_ns = 5000, .line_a = 1, .number_a = 1},
                            {.shape = 2, .flags = RELATION_RECEIVE, .time_ns = 1000, .line_a = 2,
                             .number_a = 1, .line_b = 1, .number_b = 1}}; /* before it was sent */
    assert_true(teller_slots(teller, 1, &slots[0], 1, &error));
    assert_true(teller_slots(teller, 2, &slots[1], 1, &error));
    struct times *times = times_new(run, 0, 100);
    int32_t send = times_column(times, 0, 0), receive = times_column(times, 1, 1);
    assert_true(receive >= send);
    assert_true(times_at(times, 1) > times_at(times, 0));
    times_free(times);
    teller_hangup(teller);
    run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_clocks_become_one),
        cmocka_unit_test(times_are_repaired_to_agree_with_the_order),
    };
    return cmocka_run_group_tests_name("times", tests, NULL, NULL);
}
