/* Cuts of random executions and runs, compared with brute force. */
#include "server/checkpoint/trace_replay.h"
#include "server/cuts/cut_info.h"
#include "server/cuts/cut_request.h"
#include "server/cuts/cut_state.h"
#include "server/cuts/cut_writer.h"
#include "server/tracefile/chunks.h"
#include "tests/unit/random_run.h"

#include <unistd.h>

static struct execution x;

/* Returns a run with the order of the execution. */
static struct run *run_of_execution(void)
{
    static const char *const types[] = {"plain", "release", "taken", "read", "write"};
    struct run *run = run_new("whole", 1, NULL);
    order_free(run->order);
    run->order = execution_order(&x);
    run_process(run, (struct run_process){.path = strdup("p"), .host = strdup("h"), .wall_ns = 1});
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        run_type(run, types[i]);
    for (uint32_t line = 1; line <= x.lines; line++)
        run_lines_add(&run->lines, (struct run_line){.kind = run_kind(run, "k"), .name = ""});
    return run;
}

/* Returns the file of a selection. */
static struct encoder cut_file(const struct run *run, struct cut_selection *selection)
{
    struct cut_writer *writer = cut_writer_new(run, selection);
    struct encoder out = {0};
    while (!cut_writer_step(writer, 7, &out))
        ;
    assert_null(cut_writer_problem(writer));
    cut_writer_free(writer);
    return out;
}

/* Opens a file with these bytes; NULL with *why if that fails. */
static struct run *open_bytes(const struct encoder *out, const char **why)
{
    char path[] = "/tmp/test-cuts-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, out->data, out->size) == (ssize_t)out->size);
    close(fd);
    struct run *cut = trace_replay(path, why);
    unlink(path);
    return cut;
}

/* Writes a selection to a file and opens that. */
static struct run *reopened(const struct run *run, struct cut_selection *selection)
{
    const char *why = NULL;
    struct encoder out = cut_file(run, selection);
    struct run *cut = open_bytes(&out, &why);
    if (!cut || cut->file.damage)
        fail_msg("%s", cut ? cut->file.damage : why);
    encoder_free(&out);
    assert_false(cut->file.unfinished);
    return cut;
}

static bool is_before(uint32_t a, uint32_t b)
{
    return execution_compare(&x, a, b) == ORDER_BEFORE;
}

/* The cut has these events, and each pair is ordered as in the execution. */
static void expect_cut(const struct run *cut, const bool *kept, unsigned seed)
{
    unsigned count = 0, random = seed;
    for (uint32_t i = 0; i < x.count; i++) {
        bool there = order_position(cut->order, x.arrivals[i].at) != NO_POSITION;
        if (there != kept[i])
            fail_msg("seed %u: event %u:%llu is %s", seed, x.arrivals[i].at.line,
                     (unsigned long long)x.arrivals[i].at.number, there ? "there" : "left out");
        count += kept[i];
    }
    assert_int_equal(order_figures(cut->order).events, count);
    assert_int_equal(order_figures(cut->order).lost, 0);
    for (int n = 0; n < 400; n++) {
        uint32_t a = execution_random(&random, x.count), b = execution_random(&random, x.count);
        if (!kept[a] || !kept[b])
            continue;
        enum causal_relation want = execution_compare(&x, a, b),
                             got = order_compare(cut->order, x.arrivals[a].at, x.arrivals[b].at);
        if (got != want)
            fail_msg("seed %u: %u:%llu and %u:%llu: %d, not %d", seed, x.arrivals[a].at.line,
                     (unsigned long long)x.arrivals[a].at.number, x.arrivals[b].at.line,
                     (unsigned long long)x.arrivals[b].at.number, got, want);
    }
}

static void make_execution(unsigned seed, struct run **run)
{
    execution_make(&x, seed);
    *run = run_of_execution();
    execution_feed(&x, (*run)->order, seed % 4 ? seed : 0);
    assert_int_equal(order_figures((*run)->order).pending, 0);
}

/* Sets which events a request selects. */
static void select_by_brute_force(const struct cut_request *r, const uint32_t *of, bool *kept)
{
    for (uint32_t i = 0; i < x.count; i++) {
        bool past = false, future = x.point[i] == x.point[of[0]] || is_before(of[0], i);
        for (uint32_t k = 0; k < r->event_count; k++)
            past |= x.point[i] == x.point[of[k]] || is_before(i, of[k]);
        if (r->kind == CUT_OF_BETWEEN)
            past = x.point[i] == x.point[of[1]] || is_before(i, of[1]);
        kept[i] = r->kind == CUT_OF_PAST     ? past
                  : r->kind == CUT_OF_FUTURE ? future
                                             : past && future;
        bool on_line = r->line_count == 0;
        for (uint32_t k = 0; k < r->line_count; k++)
            on_line |= x.arrivals[i].at.line == r->lines[k] || x.arrivals[i].thread == r->lines[k];
        kept[i] &= on_line;
    }
}

static void expect_request(unsigned seed, const struct run *run, struct cut_request *r,
                           const uint32_t *of)
{
    static bool kept[EXECUTION_EVENTS];
    struct cut_selection selection;
    struct error error;
    if (!cut_request_begin(run, r, &selection, &error))
        fail_msg("seed %u: %s", seed, error.text);
    select_by_brute_force(r, of, kept);
    struct run *cut = reopened(run, &selection);
    assert_non_null(cut_info_of(cut));
    expect_cut(cut, kept, seed);
    run_free(cut);
}

/* Returns a random request; its events are x.arrivals[of[i]]. */
static bool make_request(unsigned *random, struct cut_request *r, struct event_id *events,
                         uint32_t *of, uint32_t *lines)
{
    *r = (struct cut_request){.kind = (uint8_t)execution_random(random, 3), .events = events};
    r->event_count =
        r->kind == CUT_OF_PAST ? 1 + execution_random(random, 3) : 1 + (r->kind == CUT_OF_BETWEEN);
    for (uint32_t i = 0; i < r->event_count; i++) {
        of[i] = execution_random(random, x.count);
        events[i] = x.arrivals[of[i]].at;
    }
    if (execution_random(random, 2)) {
        r->lines = lines;
        r->line_count = 1 + execution_random(random, 3);
        for (uint32_t i = 0; i < r->line_count; i++)
            lines[i] = 1 + execution_random(random, x.lines);
    }
    return r->kind != CUT_OF_BETWEEN || is_before(of[0], of[1]);
}

static void cuts_have_the_order_of_the_execution(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 1000; seed++) {
        struct run *run;
        make_execution(seed, &run);
        unsigned random = seed;
        for (unsigned n = 0; n < 3;) {
            struct cut_request r;
            struct event_id events[3];
            uint32_t of[3], lines[3];
            if (!make_request(&random, &r, events, of, lines))
                continue;
            expect_request(seed, run, &r, of);
            n++;
        }
        run_free(run);
    }
}

/* ---- the largest cut ---- */

static bool is_wanted(const void *context, uint64_t position)
{
    unsigned state = (unsigned)position * 7919u + *(const unsigned *)context;
    return execution_random(&state, 60) != 0;
}

static void the_largest_cut_is_closed_and_leaves_out_no_more(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 500; seed++) {
        struct run *run;
        make_execution(seed, &run);
        const struct order *order = run->order;
        uint64_t low = seed % 3 ? 0 : order_count(order) / 3;
        struct consistent_cut *cut = consistent_cut_largest(
            order, low, order_count(order), (struct consistent_cut_choice){is_wanted, &seed, NULL});
        while (!consistent_cut_step(cut, 5))
            ;
        low = consistent_cut_low(cut);
        for (uint32_t i = 0; i < x.count; i++) {
            bool want = true;
            for (uint32_t k = 0; k < x.count; k++) {
                uint64_t p = order_position(order, x.arrivals[k].at);
                if (x.point[k] == x.point[i] || is_before(k, i))
                    want &= p < low || is_wanted(&seed, p);
            }
            uint64_t at = order_position(order, x.arrivals[i].at);
            if (consistent_cut_contains(cut, at) != want)
                fail_msg("seed %u: position %llu", seed, (unsigned long long)at);
        }
        consistent_cut_free(cut);
        run_free(run);
    }
}

/* ---- the end of the pass ---- */

/* Marks all events before those that are marked, event by event. */
static void close_marks(const struct order *order, uint8_t *marks)
{
    for (uint64_t p = order_count(order); p-- > 0;) {
        uint64_t point = order_event(order, p).point, end = order_point_end(order, p);
        for (uint64_t k = point; k <= end; k++)
            marks[p] |= marks[k];
        for (uint64_t k = point; marks[p] && k <= end; k++) {
            marks[k] = 1;
            if (order_previous(order, k) != NO_POSITION)
                marks[order_previous(order, k)] = 1;
            for (uint32_t i = 0; i < order_event(order, k).edge_count; i++)
                marks[order_edge(order, k, i)] = 1;
        }
    }
}

#define LONG_EVENTS 4000u

/* Threads that lock two mutexes; some end early. */
static struct played play_locks(unsigned seed)
{
    struct played p = play("pthread");
    unsigned random = seed;
    uint32_t lines[8];
    for (unsigned i = 0; i < 8; i++)
        lines[i] = play_line(&p, i < 6 ? "thread" : "mutex", "x");
    for (double now = 0; order_count(p.run->order) < LONG_EVENTS; now += 4) {
        unsigned i = execution_random(&random, now < 100 ? 6 : 4);
        play_hold(&p, lines[i], lines[6 + execution_random(&random, 2)], now, now + 1, now + 2);
    }
    return p;
}

static void a_pass_ends_early_where_all_before_is_in_the_cut(void **state)
{
    (void)state;
    uint8_t *marks = xcalloc(LONG_EVENTS + 16, 1);
    for (unsigned seed = 1; seed <= 40; seed++) {
        struct played p = play_locks(seed);
        const struct order *order = p.run->order;
        unsigned random = seed;
        uint64_t at =
            order_count(order) / 2 + execution_random(&random, (uint32_t)order_count(order) / 2);
        struct consistent_cut *cut = consistent_cut_past(order, &at, 1, true);
        while (!consistent_cut_step(cut, 11))
            ;
        memset(marks, 0, LONG_EVENTS + 16);
        marks[at] = 1;
        close_marks(order, marks);
        for (uint64_t i = 0; i < order_count(order); i++)
            if (consistent_cut_contains(cut, i) != marks[i])
                fail_msg("seed %u: %llu is %d", seed, (unsigned long long)i, marks[i]);
        assert_true(consistent_cut_low(cut) > 0 || order_count(order) < 200);
        consistent_cut_free(cut);
        run_free(p.run);
    }
    free(marks);
}

/* ---- states ---- */

/* The state at a cut is that at the end of the trace that has only its events. */
static void expect_state(const struct playing *g, const struct consistent_cut *whole,
                         const struct run *cut, unsigned seed)
{
    const struct run *run = g->p.run;
    struct cut_state_job *job = cut_state_begin(run, whole, false);
    for (uint64_t budget = 3; !cut_state_step(job, &budget); budget = 3)
        ;
    const struct cut_state *s = cut_state_result(job);
    assert_int_equal(s->events, order_figures(cut->order).events);
    unsigned holds = 0;
    for (uint32_t line = THREADS + 1; line <= order_line_count(cut->order); line++) {
        uint32_t thread;
        enum occupancy presence;
        uint64_t since;
        for (size_t i = 0; line != g->lines[SEMAPHORE] && /* a thread in it holds nothing */
                           order_line_inside(cut->order, line, i, &thread, &presence, &since);
             i++) {
            uint32_t k = 0;
            while (k < s->hold_count && (s->holds[k].line != line || s->holds[k].thread != thread))
                k++;
            if (k == s->hold_count || s->holds[k].presence != presence)
                fail_msg("seed %u: thread %u in line %u", seed, thread, line);
            assert_int_equal(order_event(run->order, s->holds[k].since).number, since);
            holds++;
        }
    }
    assert_int_equal(s->hold_count, holds);
    for (uint32_t i = 0; i < s->thread_count; i++) {
        uint64_t last = order_thread_last(cut->order, s->threads[i].line);
        struct order_event a = order_event(cut->order, last),
                           b = order_event(run->order, s->threads[i].last);
        assert_true(last != NO_POSITION && a.line == b.line && a.number == b.number);
    }
    cut_state_free(job);
}

static void the_state_of_a_cut_is_the_end_of_it(void **state)
{
    (void)state;
    unsigned holds = 0;
    for (unsigned seed = 1; seed <= 300; seed++) {
        struct playing g = play_random(seed);
        struct run *run = g.p.run;
        unsigned random = seed;
        run_process(run,
                    (struct run_process){.path = strdup("p"), .host = strdup("h"), .wall_ns = 1});
        for (unsigned n = 0; n < 4; n++) {
            uint64_t position = execution_random(&random, (uint32_t)order_count(run->order));
            struct order_event e = order_event(run->order, position);
            if (e.line & HIDDEN_LINE)
                continue;
            struct error error;
            struct cut_selection selection = {.text = strdup("")};
            selection.until =
                n % 2 ? cut_request_past(run, (struct event_id){e.line, e.number}, true, &error)
                      : cut_request_time(run, e.time_ns + n);
            struct consistent_cut *whole =
                n % 2 ? cut_request_past(run, (struct event_id){e.line, e.number}, true, &error)
                      : cut_request_time(run, e.time_ns + n);
            while (!consistent_cut_step(whole, 9))
                ;
            struct run *cut = reopened(run, &selection);
            expect_state(&g, whole, cut, seed);
            for (uint64_t p = 0; n % 2 == 0 && p < order_count(run->order); p++) {
                struct order_event other = order_event(run->order, p);
                bool in = consistent_cut_contains(whole, p);
                assert_true(!in || other.line & HIDDEN_LINE || other.time_ns < e.time_ns + n);
            }
            consistent_cut_free(whole);
            run_free(cut);
            holds++;
        }
        run_free(run);
    }
    assert_true(holds > 900);
}

/* ---- damage ---- */

/* Changes bytes of some chunks, with checksums that match. */
static void change_chunks(struct encoder *out, unsigned *random)
{
    for (size_t at = 128; at + CHUNK_HEAD_BYTES <= out->size;) {
        struct chunk chunk;
        assert_true(chunk_read_head(out->data + at, &chunk));
        uint8_t *data = out->data + at + CHUNK_HEAD_BYTES;
        bool cut =
            chunk.kind == CHUNK_EVENTS || chunk.kind == CHUNK_LEFT_OUT || chunk.kind == CHUNK_CUT;
        for (unsigned n = execution_random(random, 4); cut && chunk.size && n; n--)
            data[execution_random(random, chunk.size)] = (uint8_t)execution_random(random, 256);
        chunk.data = data;
        chunk_head(out->data + at, &chunk);
        at += CHUNK_HEAD_BYTES + chunk.size;
    }
}

static void note_receive(void *context, uint64_t receive) { *(uint64_t *)context += receive; }

/* Asks about all of a run. */
static void ask_all(const struct run *run, unsigned *random)
{
    const struct order *order = run->order;
    uint64_t count = order_count(order), sum = 0;
    for (uint64_t p = 0; p < count; p++) {
        struct order_event e = order_event(order, p);
        order_receives(order, p, note_receive, &sum);
        for (uint32_t i = 0; i < e.edge_count; i++)
            sum += order_edge(order, p, i);
        struct order_event other = order_event(order, execution_random(random, (uint32_t)count));
        order_compare(order, (struct event_id){e.line, e.number},
                      (struct event_id){other.line, other.number});
        assert_true(order_position(order, (struct event_id){e.line, e.number}) == p);
    }
    struct consistent_cut *end = cut_request_time(run, INT64_MAX);
    while (!consistent_cut_step(end, 100))
        ;
    struct cut_state_job *job = cut_state_begin(run, end, true);
    for (uint64_t budget = 100; !cut_state_step(job, &budget); budget = 100)
        ;
    cut_state_free(job);
    consistent_cut_free(end);
}

static void a_forged_cut_harms_nothing(void **state)
{
    (void)state;
    unsigned opened = 0, events = 0;
    for (unsigned seed = 1; seed <= 400; seed++) {
        struct playing g = play_random(seed % 20);
        struct run *run = g.p.run;
        unsigned random = seed;
        const char *why = NULL;
        run_process(run,
                    (struct run_process){.path = strdup("p"), .host = strdup("h"), .wall_ns = 1});
        struct cut_selection selection = {.until = cut_request_time(run, INT64_MAX),
                                          .text = strdup("")};
        struct encoder out = cut_file(run, &selection);
        change_chunks(&out, &random);
        struct run *cut = open_bytes(&out, &why);
        opened += cut && cut->file.damage;
        if (cut) {
            events += order_count(cut->order) != 0;
            ask_all(cut, &random);
        }
        run_free(cut);
        encoder_free(&out);
        run_free(run);
    }
    assert_true(opened > 20 && events > 20);
}

/* ---- messages ---- */

static bool request_survives(const struct cut_request *r)
{
    struct encoder out = {0};
    struct cut_request got;
    encode_cut_request(&out, r);
    struct decoder in = decoder_init(out.data, out.size);
    decode_cut_request(&in, &got);
    bool same = decoder_finish(&in) && got.kind == r->kind && got.event_count == r->event_count &&
                got.from_ns == r->from_ns && got.to_ns == r->to_ns && got.near == r->near &&
                got.line_count == r->line_count && strcmp(got.keeps, r->keeps) == 0;
    for (uint32_t i = 0; same && i < r->event_count; i++)
        same = event_id_equal(got.events[i], r->events[i]);
    for (uint32_t i = 0; same && i < r->line_count; i++)
        same = got.lines[i] == r->lines[i];
    cut_request_free(&got);
    encoder_free(&out);
    return same;
}

static void requests_have_the_events_of_their_kind(void **state)
{
    (void)state;
    static struct event_id events[CUT_EVENTS_MOST + 1] = {{2, 7}, {3, 1}};
    uint32_t lines[] = {4, 2};
    struct cut_request r = {.kind = CUT_OF_PAST,
                            .events = events,
                            .event_count = 2,
                            .from_ns = -5,
                            .to_ns = INT64_MAX,
                            .near = 16,
                            .keeps = (char[]){"deadlock"},
                            .lines = lines,
                            .line_count = 2};
    assert_true(request_survives(&r));
    r.event_count = CUT_EVENTS_MOST + 1;
    assert_false(request_survives(&r));
    r.event_count = 0;
    assert_false(request_survives(&r));
    r.kind = CUT_OF_RANGE;
    assert_true(request_survives(&r));
    r.kind = CUT_OF_BETWEEN;
    r.event_count = 1;
    assert_false(request_survives(&r));
    r.event_count = 2;
    assert_true(request_survives(&r));
    r.kind = CUT_KINDS;
    assert_false(request_survives(&r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_have_the_order_of_the_execution),
        cmocka_unit_test(the_largest_cut_is_closed_and_leaves_out_no_more),
        cmocka_unit_test(a_pass_ends_early_where_all_before_is_in_the_cut),
        cmocka_unit_test(the_state_of_a_cut_is_the_end_of_it),
        cmocka_unit_test(a_forged_cut_harms_nothing),
        cmocka_unit_test(requests_have_the_events_of_their_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
