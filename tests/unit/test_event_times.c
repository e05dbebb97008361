/* Clocks of two hosts, a second apart and with drift, mapped to one. */
#include "server/queries/time_layout.h"
#include "server/run/state_timeline.h"
#include "server/run/event_times.h"
#include "tests/bruteforce.h"
#include "tests/unit/session_program.h"
#include "tests/unit/unit.h"
#include "wire/state_bands.h"

#define ROUNDS 400
#define APART_NS 1000000000
#define LATENCY_NS 50000

static struct program_session *begin(struct run *run, uint32_t number, const char *host)
{
    struct hello_message hello = {.version = 1,
                                  .role = ROLE_PROGRAM,
                                  .run = strdup("test@1"),
                                  .environment = strdup("pthread"),
                                  .path = strdup("/bin/x"),
                                  .host = strdup(host)};
    struct program_session *session = program_session_new(run, number, &hello);
    struct encoder out = {0};
    const char *error;
    hello_message_free(&hello);
    for (uint16_t code = 1; code <= 2; code++) {
        out.size = 0;
        put_test_type(&out, code, code == 1 ? "send" : "receive");
        assert_true(
            program_session_decode_message(session, MESSAGE_TYPE, 0, out.data, out.size, &error));
    }
    out.size = 0; /* its own line; the other one is declared later */
    put_test_line(&out, number + 1, "task", "t");
    assert_true(program_session_decode_message(session, MESSAGE_LINE, number + 1, out.data,
                                               out.size, &error));
    encoder_free(&out);
    return session;
}

static void know(struct program_session *session, uint32_t line)
{
    struct encoder out = {0};
    const char *error;
    put_test_line(&out, line, "task", "t");
    assert_true(
        program_session_decode_message(session, MESSAGE_LINE, line, out.data, out.size, &error));
    encoder_free(&out);
}

/* Returns what the clock of a host shows; that of the second host is a second ahead and 100 ppm
 * faster. */
static uint64_t shown(unsigned host, uint64_t ns) { return host ? ns + APART_NS + ns / 10000 : ns; }

static void tell(struct program_session *session, unsigned host, unsigned number, bool sends,
                 uint64_t ns)
{
    const char *error;
    struct ring_slot slot = {.shape = sends ? 1 : 2,
                             .flags = sends ? RELATION_SEND : RELATION_RECEIVE,
                             .time_ns = shown(host, ns),
                             .line_a = host + 1,
                             .number_a = number};
    if (!sends) {
        slot.line_b = 2 - host;
        slot.number_b = number;
    }
    assert_true(program_session_decode_slots(session, host + 1, &slot, 1, &error));
}

static void two_clocks_become_one(void **state)
{
    (void)state;
    struct run *run = run_new("test@1", 1, NULL);
    struct program_session *sessions[2] = {begin(run, 0, "here"), begin(run, 1, "there")};
    know(sessions[0], 2);
    know(sessions[1], 1);
    for (unsigned i = 1; i <= ROUNDS; i++) { /* alternating directions, with different latencies */
        unsigned from = i % 2;
        uint64_t at = 10000000ull * i;
        tell(sessions[from], from, i, true, at);
        tell(sessions[1 - from], 1 - from, i, false, at + LATENCY_NS + i * 7919 % 100000);
    }
    assert_int_equal(order_figures(run->order).events, 2 * ROUNDS);
    assert_int_equal(order_figures(run->order).contradictions + order_figures(run->order).pending,
                     0);
    for (unsigned i = 1; i <= ROUNDS; i++)
        for (uint32_t host = 0; host < 2; host++) {
            uint64_t position = order_position(run->order, (struct event_id){host + 1, i});
            struct order_event e = order_event(run->order, position);
            bool sends = e.relation == RELATION_SEND;
            int64_t real = 10000000ll * i + (sends ? 0 : LATENCY_NS + i * 7919 % 100000);
            int64_t error = event_times_fitted(run, position) - real;
            /* although the clocks differ by a second, and latencies are unknown */
            assert_true(error > -40000 && error < 40000);
            if (!sends)
                assert_true(event_times_fitted(run, position) >
                            event_times_fitted(run, order_edge(run->order, position, 0)));
        }
    program_session_close(sessions[0]);
    program_session_close(sessions[1]);
    run_free(run);
}

static const char description[] =
    "name = \"pthread\"; title = \"test\"; version = 1;\n"
    "line_types = ( { name = \"task\"; letter = \"T\"; title = \"thread\"; color = \"#000000\"; "
    "} );\n"
    "events = (\n"
    " { name = \"send\"; label = \"s\"; verb = \"s\"; shape = \"circle\"; filled = true;\n"
    "   color = \"#000000\"; thread_state = \"running\"; state_of = \"own_thread\"; },\n"
    " { name = \"receive\"; label = \"r\"; verb = \"r\"; shape = \"circle\"; filled = true;\n"
    "   color = \"#000000\"; thread_state = \"blocked\"; wait_class = \"rendezvous\"; } );\n";

static void learn(const struct run *run)
{
    for (unsigned steps = 0;; steps++) {
        uint64_t budget = 20;
        if (timeline_build(run, TIMELINE_ORDER, &budget))
            return;
        assert_true(steps < 10 * ROUNDS);
    }
}

/* After the clocks are fitted again, states use the new fit, including earlier ones. */
static void states_go_by_the_newest_fit(void **state)
{
    (void)state;
    struct run *run = run_new("test@1", 1, NULL);
    assert_true(run_describe(run, "pthread", description));
    struct program_session *sessions[2] = {begin(run, 0, "here"), begin(run, 1, "there")};
    know(sessions[0], 2);
    know(sessions[1], 1);
    for (unsigned i = 1; i <= ROUNDS; i++) {
        unsigned from = i % 2;
        uint64_t at = 10000000ull * i;
        tell(sessions[from], from, i, true, at);
        tell(sessions[1 - from], 1 - from, i, false, at + LATENCY_NS + i * 7919 % 100000);
        if (i == 20 || i == 90 || i == ROUNDS)
            learn(run);
    }
    for (unsigned i = 1; i < ROUNDS; i++) {
        uint64_t a = order_position(run->order, (struct event_id){2, i}),
                 b = order_position(run->order, (struct event_id){2, i + 1});
        struct summary_range r = {.by_time = true,
                                  .from = event_times_fitted(run, a),
                                  .to = event_times_fitted(run, b),
                                  .pixels = 1,
                                  .end = run->clock.last_ns + 1};
        struct summary_pixel pixel = {0};
        bool sends = order_event(run->order, a).relation == RELATION_SEND;
        summary_tree_add_pixels(timeline_tree(run, TIMELINE_ORDER), 2, &r, 0, 1, &pixel);
        assert_int_equal(pixel.part[sends ? BAND_RUNS : BAND_WAITS], r.to - r.from);
    }
    program_session_close(sessions[0]);
    program_session_close(sessions[1]);
    run_free(run);
}

/* In a window, no event is placed before one that it follows, whatever the clocks show. */
static void times_are_repaired_to_agree_with_the_order(void **state)
{
    (void)state;
    struct run *run = run_new("test@1", 1, NULL);
    struct program_session *session = begin(run, 0, "here");
    know(session, 2);
    const char *error;
    struct ring_slot slots[2] = {
        {.shape = 1, .flags = RELATION_SEND, .time_ns = 5000, .line_a = 1, .number_a = 1},
        {.shape = 2,
         .flags = RELATION_RECEIVE,
         .time_ns = 1000,
         .line_a = 2,
         .number_a = 1,
         .line_b = 1,
         .number_b = 1}}; /* before it was sent */
    assert_true(program_session_decode_slots(session, 1, &slots[0], 1, &error));
    assert_true(program_session_decode_slots(session, 2, &slots[1], 1, &error));
    struct visible_rows drawn = {0};
    struct window_request request = {
        .anchor = ANCHOR_TIME, .columns = 100, .column_ns = 100, .from = 0};
    visible_rows_choose(&drawn, run, &request);
    struct time_layout *timed = time_layout_begin(run, &drawn, &request, 0, NO_POSITION);
    struct layout_result placement;
    assert_true(time_layout_step(timed, UINT64_MAX));
    time_layout_collect(timed, &placement);
    assert_int_equal(placement.count, 2);
    assert_true(placement.events[1].column >= placement.events[0].column);
    assert_true(time_layout_time(timed, 1) >= time_layout_time(timed, 0));
    layout_result_free(&placement);
    time_layout_free(timed);
    visible_rows_free(&drawn);
    program_session_close(session);
    run_free(run);
}

/* ---- events of a line by time ---- */

#define THREADS 3u
#define EVENTS 400u /* of a line */

/* Declares threads 1 to THREADS on one host. Of each ten events one is a group of all threads; the
 * members of some are far apart. */
static struct run *begin_threads(struct program_session **session)
{
    struct run *run = run_new("test@1", 1, NULL);
    int64_t clock_ns[THREADS] = {0};
    unsigned random = 1;
    *session = begin(run, 0, "one");
    for (uint32_t line = 2; line <= THREADS; line++)
        know(*session, line);
    for (uint32_t number = 1; number <= EVENTS; number++)
        for (uint32_t i = 0; i < THREADS; i++) {
            bool group = number % 10 == 0;
            uint32_t step = group && execution_random(&random, 4) == 0 ? 5000 : 40;
            struct ring_slot slot = {.shape = 1, .line_a = i + 1, .number_a = number};
            const char *error;
            clock_ns[i] += execution_random(&random, step);
            slot.time_ns = (uint64_t)clock_ns[i];
            if (group) {
                slot.flags = SLOT_KEYED | RELATION_GROUP;
                slot.key = 77;
                slot.number_b = number;
                slot.count = THREADS;
            }
            assert_true(program_session_decode_slots(*session, i + 1, &slot, 1, &error));
        }
    while (!run_step(run, 1000))
        ;
    return run;
}

struct visited {
    uint64_t count, positions;
};

static void note_visit(void *context, uint64_t position, int64_t time_ns)
{
    struct visited *v = context;
    v->count++;
    v->positions += position * 3 + (uint64_t)time_ns;
}

/* Compares the answers about a time span with those of a search of all events. */
static void check_span(const struct run *run, uint32_t line, bool indexed, int64_t from_ns,
                       int64_t to_ns)
{
    struct visited want = {0, 0}, got = {0, 0};
    uint64_t first = UINT64_MAX, after = 0, least = UINT64_MAX, most = 0, ordinal = EVENTS;
    for (uint64_t i = EVENTS; i-- > 0;) {
        uint64_t position = order_line_at(run->order, line, i);
        int64_t time_ns = event_times_point(run, position);
        if (time_ns >= from_ns && time_ns < to_ns)
            note_visit(&want, position, time_ns);
        if (time_ns >= from_ns) {
            least = position;
            ordinal = i;
        } else if (!most) {
            most = position + 1;
        }
    }
    events_by_time_visit(run, line, indexed, from_ns, to_ns, note_visit, &got);
    events_by_time_bounds(run, line, indexed, from_ns, &first, &after);
    assert_int_equal(got.count, want.count);
    assert_int_equal(got.positions, want.positions);
    assert_int_equal(events_by_time_count(run, line, indexed, from_ns, to_ns), want.count);
    assert_int_equal(events_by_time_first(run, line, indexed, from_ns), ordinal);
    assert_int_equal(first, least);
    assert_int_equal(after, most);
}

static void spans_have_the_events_whose_points_are_in_them(void **state)
{
    (void)state;
    struct program_session *session;
    struct run *run = begin_threads(&session);
    uint64_t budget = UINT64_MAX, mixed = 0;
    assert_true(order_point_spread_ns(run->order) > 1000);
    for (uint32_t line = 1; line <= THREADS; line++) {
        assert_int_equal(order_line_events(run->order, line), EVENTS);
        assert_true(events_by_time_update(run, line, true, &budget));
        for (uint64_t i = 1; i < EVENTS; i++)
            mixed += event_times_point(run, order_line_at(run->order, line, i)) <
                     event_times_point(run, order_line_at(run->order, line, i - 1));
    }
    assert_true(mixed > 10); /* times decrease along lines */
    uint32_t end_ns = (uint32_t)event_times_end(run) + 10;
    unsigned random = 2;
    for (unsigned i = 0; i < 3000; i++) {
        int64_t from_ns = execution_random(&random, end_ns),
                to_ns = from_ns + execution_random(&random, end_ns) / (1 + i % 50);
        uint32_t line = 1 + i % THREADS;
        check_span(run, line, false, from_ns, to_ns);
        check_span(run, line, true, from_ns, to_ns);
    }
    program_session_close(session);
    run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_clocks_become_one),
        cmocka_unit_test(states_go_by_the_newest_fit),
        cmocka_unit_test(times_are_repaired_to_agree_with_the_order),
        cmocka_unit_test(spans_have_the_events_whose_points_are_in_them),
    };
    return cmocka_run_group_tests_name("times", tests, NULL, NULL);
}
