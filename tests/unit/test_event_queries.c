/* Queries about events: counts, searches, relations, causes, steps and densities, compared with
 * brute force. */
#include "tests/bruteforce.h"
#include "tests/unit/viewer_requests.h"
#include "wire/event_types.h"
#include "wire/layout_results.h"
#include "wire/query_results.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <stdlib.h>
#include <string.h>

static struct execution x;
static bool hiding; /* some edges are hidden */

/* Returns a run with the order of a random execution. */
static struct run *run_of(unsigned seed)
{
    struct run *run = run_new("test", 1, NULL);
    execution_make(&x, seed);
    if (hiding)
        execution_hide(&x, seed);
    for (uint32_t line = 1; line <= x.lines; line++)
        run_line(run, 1, line, "task", x.shared[line], (struct run_line){0});
    order_free(run->order);
    run->order = execution_order(&x);
    for (uint32_t i = 0; i < x.count; i++) /* with times that contradict the order */
        x.arrivals[i].time_ns = 1000 + 10 * (int64_t)x.point[i] + i * 37 % 200;
    execution_feed(&x, run->order, seed + 5);
    return run;
}

/* Returns the counts of the last part of the response; earlier parts report the progress. */
static struct relation_counts count(const struct run *run, struct event_id at)
{
    struct encoder body = {0};
    struct relation_counts got = {.whole = false};
    struct response_chunk answer;
    struct decoder in;
    encode_event_id(&body, at);
    struct encoder out = answer_to(run, &query_count, body, 1200);
    for (size_t next = 0; next_part(&out, &next, &answer, &in);)
        if (answer.part == RESPONSE_COUNT) {
            decode_relation_counts(&in, &got);
            assert_true(decoder_finish(&in));
        }
    assert_true(got.whole || !got.known);
    encoder_free(&out);
    return got;
}

/* The events recorded between two events are counted by type. */
static void what_lies_between_two_is_counted(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 30; seed++) {
        hiding = false;
        struct run *run = run_of(seed);
        uint64_t counts[16] = {0};
        run->types.count = 5; /* the types of an execution */
        uint32_t a = seed * 7 % x.count, b = seed * 31 % x.count;
        uint64_t from = order_position(run->order, x.arrivals[a].at),
                 to = order_position(run->order, x.arrivals[b].at);
        for (uint32_t i = 0; i < x.count; i++) {
            uint64_t p = order_position(run->order, x.arrivals[i].at);
            counts[x.arrivals[i].type] += (p > from && p < to) || (p > to && p < from);
        }
        struct encoder body = {0};
        encode_event_id(&body, x.arrivals[a].at);
        encode_event_id(&body, x.arrivals[b].at);
        struct encoder out = answer_to(run, &query_between, body, 1);
        struct decoder in = part_of(&out, RESPONSE_BETWEEN);
        struct between_info span;
        decode_between(&in, &span);
        assert_true(decoder_finish(&in) && span.known && span.whole);
        for (uint32_t i = 0; i < span.kind_count; i++) {
            assert_int_equal(span.kinds[i].events, counts[span.kinds[i].type]);
            span.events -= span.kinds[i].events;
            counts[span.kinds[i].type] = 0;
        }
        for (unsigned i = 0; i < 16; i++)
            assert_int_equal(counts[i], 0);
        assert_int_equal(span.events, 0);
        run->types.count = 0;
        between_info_free(&span);
        encoder_free(&out);
        run_free(run);
    }
}

static void counts_are_those_of_brute_force(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 90; seed++) {
        hiding = seed % 3 == 0;
        struct run *run = run_of(seed);
        unsigned random = seed;
        for (int n = 0; n < 20; n++) {
            uint32_t e = execution_random(&random, x.count);
            uint64_t want[ORDER_SAME + 2] = {0};
            for (uint32_t i = 0; i < x.count; i++) {
                enum causal_relation p = execution_compare(&x, i, e);
                want[p == ORDER_CONCURRENT && execution_doubts_differ(&x, i, e) ? ORDER_UNKNOWN
                                                                                : p]++;
            }
            struct relation_counts got = count(run, x.arrivals[e].at);
            assert_true(got.known);
            assert_int_equal(got.before, want[ORDER_BEFORE]);
            assert_int_equal(got.after, want[ORDER_AFTER]);
            assert_int_equal(got.concurrent, want[ORDER_CONCURRENT]);
            assert_int_equal(got.same, want[ORDER_SAME]);
            assert_int_equal(got.unknown, want[ORDER_UNKNOWN]);
        }
        run_free(run);
    }
    hiding = false;
}

static void an_event_that_is_not_there_has_no_counts(void **state)
{
    (void)state;
    struct run *run = run_of(1);
    struct event_id wrong[] = {{0, 1}, {1, 1000000}, {999, 1}, {HIDDEN_LINE | 1, 1}};
    for (size_t i = 0; i < 4; i++)
        assert_false(count(run, wrong[i]).known);
    run_free(run);
}

/* Returns all hits of a search. */
static struct search_result search(const struct run *run, struct search_request request,
                                   uint64_t budget)
{
    struct search_result all = {0};
    struct encoder body = {0};
    struct response_chunk answer;
    struct decoder in;
    encode_search_request(&body, &request);
    struct encoder out = answer_to(run, &query_search, body, budget);
    for (size_t at = 0; next_part(&out, &at, &answer, &in);) {
        struct search_result part;
        decode_search_result(&in, &part);
        assert_true(decoder_finish(&in) && answer.last == part.done);
        all.hits = realloc(all.hits, (all.hit_count + part.hit_count + 1) * sizeof *all.hits);
        memcpy(all.hits + all.hit_count, part.hits, part.hit_count * sizeof *part.hits);
        all.hit_count += part.hit_count;
        all.done = part.done;
        all.count = part.count;
        free(all.problem);
        all.problem = part.problem;
        part.problem = NULL;
        search_result_free(&part);
    }
    encoder_free(&out);
    return all;
}

static void searches_find_all_that_match(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        struct run *run = run_of(seed);
        uint32_t types[] = {1, 3}, lines[] = {1, 2};
        char text[] = "odd one";
        for (uint32_t i = 0; i < x.count; i += 5)
            run_add_text(run, x.arrivals[i].at, i % 2 ? "odd One" : "even two");
        for (unsigned any = 0; any < 2; any++) {
            uint64_t want = 0;
            for (uint32_t i = 0; i < x.count; i++) {
                bool type = x.arrivals[i].type == 1 || x.arrivals[i].type == 3;
                bool line = x.arrivals[i].at.line <= 2, said = i % 5 == 0 && i % 2;
                want += any ? type || line || said : type && line && said;
            }
            struct search_request r = {.any = any,
                                       .limit = LIMIT_HITS,
                                       .types = types,
                                       .type_count = 2,
                                       .lines = lines,
                                       .line_count = 2,
                                       .text = text};
            struct search_result found = search(run, r, 7);
            assert_int_equal(found.count, want);
            assert_int_equal(found.hit_count, want);
            for (uint32_t i = 0; i + 1 < found.hit_count; i++)
                assert_true(found.hits[i].position < found.hits[i + 1].position);
            r.backwards = true;
            r.from = UINT64_MAX;
            struct search_result back = search(run, r, 7);
            assert_int_equal(back.hit_count, want);
            for (uint32_t i = 0; i < want; i++)
                assert_int_equal(back.hits[i].position, found.hits[want - 1 - i].position);
            r.limit = 1;
            struct search_result one = search(run, r, 7);
            assert_int_equal(one.hit_count, want > 0);
            r.count = true;
            struct search_result counted = search(run, r, 7);
            assert_true(counted.hit_count == (want > 0) && counted.count == want);
            search_result_free(&found);
            search_result_free(&back);
            search_result_free(&one);
            search_result_free(&counted);
        }
        run_free(run);
    }
}

static void expressions_are_bounded_and_their_mistakes_are_told(void **state)
{
    (void)state;
    struct run *run = run_of(3);
    run_add_text(run, x.arrivals[4].at, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!");
    run_add_text(run, x.arrivals[5].at, "buffer 17 full");
    char good[] = "BUFFER \\d+ (full|empty)$", endless[] = "(a+)+$", wrong[] = "one(two";
    struct search_request r = {.expression = true, .limit = 9, .text = good};
    struct search_result f = search(run, r, 7);
    assert_int_equal(f.hit_count, 1);
    assert_true(event_id_equal(f.hits[0].at, x.arrivals[5].at));
    search_result_free(&f);
    r.text = endless;
    f = search(run, r, 7);
    assert_int_equal(f.hit_count, 0); /* gives up instead of running for years */
    search_result_free(&f);
    r.text = wrong;
    f = search(run, r, 7);
    assert_true(f.hit_count == 0 && strncmp(f.problem, "at character 8", 14) == 0);
    search_result_free(&f);
    run_free(run);
}

static struct event_id step(const struct run *run, struct event_id from, enum neighbor_step kind)
{
    struct encoder body = {0};
    struct search_result found;
    encode_event_id(&body, from);
    encode_u8(&body, (uint8_t)kind);
    struct encoder out = answer_to(run, &query_neighbor, body, 0);
    struct decoder in = part_of(&out, RESPONSE_FOUND);
    decode_search_result(&in, &found);
    assert_true(decoder_finish(&in) && found.done);
    struct event_id to = found.hit_count ? found.hits[0].at : (struct event_id){0, 0};
    search_result_free(&found);
    encoder_free(&out);
    return to;
}

static uint32_t index_of(struct event_id at)
{
    uint32_t i = 0;
    while (i < x.count && !event_id_equal(x.arrivals[i].at, at))
        i++;
    return i;
}

static void steps_follow_the_line_and_the_order(void **state)
{
    (void)state;
    unsigned elsewhere = 0;
    for (unsigned seed = 1; seed <= 40; seed++) {
        struct run *run = run_of(seed);
        for (uint32_t i = 0; i < x.count; i++) {
            struct event_id at = x.arrivals[i].at, next = step(run, at, STEP_LINE_ON);
            if (next.line)
                assert_true(event_id_equal(step(run, next, STEP_LINE_BACK), at));
            struct event_id cause = step(run, at, STEP_CAUSE), effect = step(run, at, STEP_EFFECT);
            if (cause.line) {
                assert_int_not_equal(cause.line, at.line);
                assert_true(x.shared[at.line] ||
                            execution_compare(&x, index_of(cause), i) == ORDER_BEFORE);
            }
            if (effect.line)
                assert_true(effect.line != at.line &&
                            (x.shared[at.line] ||
                             execution_compare(&x, index_of(effect), i) == ORDER_AFTER));
            elsewhere += cause.line && effect.line;
        }
        run_free(run);
    }
    assert_true(elsewhere > 500);
}

static void a_list_holds_every_event_once(void **state)
{
    (void)state;
    struct run *run = run_of(7);
    uint8_t seen[EXECUTION_EVENTS] = {0};
    uint64_t position = 0, count = 1;
    uint32_t total = 0;
    while (position < count) {
        struct encoder body = {0};
        struct response_chunk answer;
        struct decoder in;
        encode_u64(&body, position);
        encode_u32(&body, 9);
        struct encoder out = answer_to(run, &query_log_range, body, 0);
        for (size_t at = 0; next_part(&out, &at, &answer, &in);) {
            struct event_info e;
            if (answer.part == RESPONSE_LOG_POSITION) {
                position = decode_u64(&in);
                count = decode_u64(&in);
                continue;
            }
            decode_event_info(&in, &e);
            assert_int_equal(seen[index_of(e.at)]++, 0);
            assert_int_equal(e.position, order_position(run->order, e.at));
            event_info_free(&e);
            total++;
        }
        encoder_free(&out);
    }
    assert_int_equal(total, x.count);
    run_free(run);
}

static int64_t coordinate_of(const struct run *run, uint32_t i, bool by_time)
{
    uint64_t position = order_position(run->order, x.arrivals[i].at);
    return by_time ? order_event(run->order, position).time_ns : (int64_t)position;
}

/* Compares with a count of all events.  A row that is there twice has the same events twice. */
static void compare_density(struct run *run, const struct density_request *r,
                            const struct density_info *d)
{
    uint32_t *want = calloc((size_t)d->row_count * d->pixels + 1, sizeof *want);
    for (uint32_t k = 0, row = 0; k < r->row_count; k++) {
        row += k && !r->joined[k];
        for (uint32_t i = 0; i < x.count; i++) {
            int64_t at = coordinate_of(run, i, r->by_time);
            if (x.arrivals[i].at.line == r->rows[k] && at >= d->from && at < d->to)
                want[row * d->pixels +
                     (uint32_t)((double)(at - d->from) / (double)(d->to - d->from) * d->pixels)]++;
        }
    }
    assert_memory_equal(want, d->counts, (size_t)d->row_count * d->pixels * sizeof *want);
    free(want);
}

/* Counting at borders only, in one pass, or every event, gives the same. */
static void densities_count_every_event_once(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct run *run = run_of(seed);
        uint32_t rows[EXECUTION_LINES + 1] = {0};
        uint8_t joined[EXECUTION_LINES + 1] = {0};
        int64_t last[] = {(int64_t)order_count(run->order), 0};
        for (uint32_t i = 0; i < x.lines; i++) {
            rows[i] = i + 1;
            joined[i] = i % 3 == 1;
        }
        rows[x.lines] = 1 + seed % x.lines;
        for (uint32_t i = 0; i < x.count; i++) {
            int64_t at = coordinate_of(run, i, true);
            last[1] = at > last[1] ? at : last[1];
        }
        for (unsigned way = 0; way < 8; way++) {
            if (way == 6) /* (borders are searched by time, which must grow along a line) */
                continue;
            struct density_request r = {.from = (int64_t)(seed % 7),
                                        .to = last[way >> 1 & 1] - seed % 5,
                                        .pixels = 1 + seed % 40,
                                        .rows = rows,
                                        .joined = joined,
                                        .row_count = x.lines + (way >> 2),
                                        .by_time = way & 2,
                                        .blocked = way & 1};
            struct encoder body = {0};
            struct density_info d;
            encode_density_request(&body, &r);
            struct encoder out = answer_to(run, &query_density, body, 1100);
            struct decoder in = part_of(&out, RESPONSE_DENSITY);
            decode_density(&in, &d);
            assert_true(decoder_finish(&in));
            compare_density(run, &r, &d);
            density_info_free(&d);
            encoder_free(&out);
        }
        run_free(run);
    }
}

/* An expression that is too costly is given up for each text, and this is reported. */
static void a_costly_expression_is_told(void **state)
{
    (void)state;
    struct run *run = run_of(3);
    struct event_id at = {0, 0};
    for (uint64_t p = 0; p < order_count(run->order) && !at.line; p++) {
        struct order_event e = order_event(run->order, p);
        if (!(e.line & HIDDEN_LINE))
            at = (struct event_id){e.line, e.number};
    }
    for (unsigned i = 0; i < 30; i++)
        run_add_text(run, at, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!");
    char costly[] = "(a+)+$";
    struct search_request request = {.expression = true, .limit = 10, .text = costly};
    struct search_result found = search(run, request, 1000);
    assert_true(found.done && found.count == 0);
    assert_string_equal(found.problem,
                        "the expression is too costly for 30 texts, which may match or not");
    search_result_free(&found);
    run_free(run);
}

/* The response has one byte for each requested event, in any selection. */
static void stands_are_those_of_brute_force(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 60; seed++) {
        hiding = seed % 3 == 0;
        struct run *run = run_of(seed);
        uint64_t positions[EXECUTION_EVENTS + 1];
        unsigned random = seed;
        for (int n = 0; n < 20; n++) {
            uint32_t about = execution_random(&random, x.count), asked = 0;
            uint32_t each = 1 + execution_random(&random, 5);
            for (uint32_t i = execution_random(&random, 10); i < x.count; i += each)
                positions[asked++] = order_position(run->order, x.arrivals[i].at);
            positions[asked++] = order_count(run->order) + n;
            struct relations_request r = {
                .about = x.arrivals[about].at, .positions = positions, .count = asked};
            struct encoder body = {0};
            encode_relations_request(&body, &r);
            struct encoder out = answer_to(run, &query_relations, body, 1 + (uint64_t)n * 50);
            struct decoder in = part_of(&out, RESPONSE_RELATIONS);
            assert_int_equal(decode_u32(&in), asked);
            for (uint32_t i = 0; i + 1 < asked; i++) {
                struct order_event e = order_event(run->order, positions[i]);
                uint32_t at = index_of((struct event_id){e.line, e.number});
                enum causal_relation want = execution_compare(&x, at, about);
                if (want == ORDER_CONCURRENT && execution_doubts_differ(&x, at, about))
                    want = ORDER_UNKNOWN;
                assert_int_equal(decode_u8(&in), 1 + want);
            }
            assert_int_equal(decode_u8(&in), 0);
            assert_true(decoder_finish(&in));
            encoder_free(&out);
        }
        run_free(run);
    }
    hiding = false;
}

/* Returns the relation of two events, found by walking from the later one back through the
 * received causes. */
static enum causal_relation by_causes(const struct causal_edges_info *c, uint32_t a, uint32_t b)
{
    uint32_t from = c->events[a].point, to = c->events[b].point;
    bool seen[EXECUTION_EVENTS] = {false}, swapped = from > to;
    if (from == to)
        return ORDER_SAME;
    seen[swapped ? from : to] = true;
    for (uint32_t i = (swapped ? from : to) + 1; i-- > 0;)
        for (uint32_t k = 0; seen[i] && k < c->events[i].count; k++)
            seen[c->causes[c->events[i].first + k]] = true;
    if (seen[swapped ? to : from])
        return swapped ? ORDER_AFTER : ORDER_BEFORE;
    return c->events[a].doubts == c->events[b].doubts && c->events[a].doubts != ANY_DOUBTS
               ? ORDER_CONCURRENT
               : ORDER_UNKNOWN;
}

static const struct uncertainty_info *doubts_of(const struct causal_edges_info *c, uint32_t event)
{
    for (uint32_t i = 0; i < c->doubts_count; i++)
        if (c->doubts[i].doubts == c->events[event].doubts)
            return &c->doubts[i];
    return NULL;
}

/* Returns the reasons why a relation is unknown: those that differ between the uncertainties of
 * both events. */
static uint32_t by_kinds(const struct causal_edges_info *c, uint32_t a, uint32_t b)
{
    const struct uncertainty_info *one = doubts_of(c, a), *other = doubts_of(c, b);
    uint32_t reasons = 0;
    assert_true(one && other);
    for (unsigned r = 1; r < UNTRACED_COUNT; r++)
        reasons |= one->kinds[r] != other->kinds[r] ? UNTRACED_BIT(r) : 0;
    return reasons;
}

static int by_position(const void *a, const void *b)
{
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return p < q ? -1 : p > q;
}

/* Returns the latest time of the requested events that happened before an event or are
 * simultaneous with it; the time of a point is that of its latest member. */
static int64_t latest_asked(const uint64_t *positions, uint32_t asked, const struct run *run,
                            uint32_t event)
{
    bool counts[EXECUTION_EVENTS] = {false}; /* by point */
    int64_t latest = INT64_MIN;
    for (uint32_t i = 0; i < asked; i++) {
        struct order_event e = order_event(run->order, positions[i]);
        uint32_t other = index_of((struct event_id){e.line, e.number});
        enum causal_relation stands = execution_compare(&x, other, event);
        counts[x.point[other]] |= stands == ORDER_BEFORE || stands == ORDER_SAME;
    }
    for (uint32_t i = 0; i < x.count; i++)
        if (counts[x.point[i]] && x.arrivals[i].time_ns > latest)
            latest = x.arrivals[i].time_ns;
    return latest;
}

/* The relation of each pair is as by brute force; no cause follows from others; the points of a
 * chain are ordered. */
static void causes_are_those_of_brute_force(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 60; seed++) {
        hiding = seed % 3 == 0;
        struct run *run = run_of(seed);
        uint64_t positions[EXECUTION_EVENTS];
        uint32_t asked = 0, each = 1 + seed % 4, last[EXECUTION_EVENTS] = {0};
        for (uint32_t i = 0; i < x.count; i += each)
            positions[asked++] = order_position(run->order, x.arrivals[i].at);
        qsort(positions, asked, sizeof *positions, by_position);
        struct encoder body = {0};
        struct causal_edges_info c;
        encode_causal_edges_request(&body, &(struct causal_edges_request){positions, asked});
        struct encoder out = answer_to(run, &query_causes, body, 1 + (uint64_t)(seed % 7) * 40);
        struct decoder in = part_of(&out, RESPONSE_CAUSES);
        decode_causal_edges(&in, &c);
        assert_true(decoder_finish(&in) && c.whole && c.event_count == asked);
        for (uint32_t i = 0; i < asked; i++) {
            struct order_event e = order_event(run->order, positions[i]);
            uint32_t b = index_of((struct event_id){e.line, e.number});
            for (uint32_t k = 0; k < asked; k++) {
                struct order_event f = order_event(run->order, positions[k]);
                uint32_t a = index_of((struct event_id){f.line, f.number});
                enum causal_relation want = execution_compare(&x, a, b);
                if (want == ORDER_CONCURRENT && execution_doubts_differ(&x, a, b))
                    want = ORDER_UNKNOWN;
                assert_int_equal(by_causes(&c, k, i), want);
                assert_int_equal(by_kinds(&c, k, i), execution_doubts_between(&x, a, b));
            }
            assert_int_equal(c.events[i].time_ns, latest_asked(positions, asked, run, b));
            if (c.events[i].point != i)
                continue;
            uint32_t *before = &last[c.events[i].chain];
            assert_true(!*before || by_causes(&c, *before - 1, i) == ORDER_BEFORE);
            *before = i + 1;
            for (uint32_t m = 0; m < c.events[i].count; m++)
                for (uint32_t n = 0; n < c.events[i].count; n++)
                    assert_true(m == n ||
                                by_causes(&c, c.causes[c.events[i].first + m],
                                          c.causes[c.events[i].first + n]) != ORDER_BEFORE);
        }
        causal_edges_info_free(&c);
        encoder_free(&out);
        run_free(run);
    }
    hiding = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_are_those_of_brute_force),
        cmocka_unit_test(causes_are_those_of_brute_force),
        cmocka_unit_test(counts_are_those_of_brute_force),
        cmocka_unit_test(what_lies_between_two_is_counted),
        cmocka_unit_test(an_event_that_is_not_there_has_no_counts),
        cmocka_unit_test(searches_find_all_that_match),
        cmocka_unit_test(expressions_are_bounded_and_their_mistakes_are_told),
        cmocka_unit_test(steps_follow_the_line_and_the_order),
        cmocka_unit_test(a_list_holds_every_event_once),
        cmocka_unit_test(densities_count_every_event_once),
        cmocka_unit_test(a_costly_expression_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
