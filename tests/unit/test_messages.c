/* Messages: what is encoded is decoded, and invalid messages are rejected at the first error. */
#include "tests/unit/unit.h"
#include "wire/event_types.h"
#include "wire/layout_results.h"
#include "wire/query_results.h"
#include "wire/trace_view.h"

#include <stdlib.h>
#include <string.h>

static void what_is_put_is_got(void **state)
{
    (void)state;
    struct encoder out = {0};
    encoder_begin_message(&out, MESSAGE_ANNOTATION);
    encode_u8(&out, 0xab);
    encode_u16(&out, 0xbeef);
    encode_u32(&out, 0xdeadbeef);
    encode_u64(&out, UINT64_MAX - 1);
    encode_string(&out, "später");
    encoder_end_message(&out);
    unsigned type;
    size_t length;
    const char *error;
    assert_int_equal(frame_read(out.data, out.size, 1000, &type, &length, &error), 1);
    assert_int_equal(type, MESSAGE_ANNOTATION);
    assert_int_equal(length, out.size - MESSAGE_FRAME_BYTES);
    struct decoder in = decoder_init(out.data + MESSAGE_FRAME_BYTES, length);
    assert_int_equal(decode_u8(&in), 0xab);
    assert_int_equal(decode_u16(&in), 0xbeef);
    assert_int_equal(decode_u32(&in), 0xdeadbeef);
    assert_true(decode_u64(&in) == UINT64_MAX - 1);
    char *s = decode_string(&in, 100);
    assert_string_equal(s, "später");
    assert_true(decoder_finish(&in));
    free(s);
    encoder_free(&out);
}

static void frames_are_judged(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        int result;
        const char *error;
    } cases[] = {
        {"\0\0\0\0\1\0PO", 8, 1, NULL},
        {"\0\0\0\0\1\0PO", 7, 0, NULL},
        {"\2\0\0\0\1\0PO\0", 9, 0, NULL},
        {"GET / HT", 8, -1, "not a Poet message"},
        {"\377\377\377\377\1\0PO", 8, -1, "the message is too long"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned type;
        size_t length;
        const char *error = NULL;
        int got = frame_read((const uint8_t *)cases[i].bytes, cases[i].size, 1000, &type, &length,
                             &error);
        if (got != cases[i].result)
            fail_msg("case %zu: %d, not %d", i, got, cases[i].result);
        if (cases[i].error)
            assert_string_equal(error, cases[i].error);
    }
}

static void a_reader_keeps_its_first_error_and_turns_deaf(void **state)
{
    (void)state;
    struct decoder in = decoder_init("\1\2\3", 3);
    assert_int_equal(decode_u16(&in), 0x0201);
    assert_int_equal(decode_u32(&in), 0);
    assert_string_equal(in.error, "truncated message");
    assert_int_equal(in.error_at, 2);
    assert_int_equal(decode_u8(&in), 0);
    decoder_fail(&in, "another");
    assert_string_equal(in.error, "truncated message");
    in = decoder_init("\5\0\0\0ab\0cd", 9);
    free(decode_string(&in, 10));
    assert_string_equal(in.error, "string contains a NUL byte");
    in = decoder_init("\5\0\0\0abcde", 9);
    free(decode_string(&in, 4));
    assert_string_equal(in.error, "string too long");
}

static void what_is_empty_takes_the_least_bytes(void **state)
{
    struct encoder out = {0};
    (void)state;
    encode_event_id(&out, (struct event_id){0});
    assert_int_equal(out.size, EVENT_ID_BYTES);
    encode_occupants(&out, (struct occupants){0});
    assert_int_equal(out.size, EVENT_ID_BYTES + OCCUPANTS_BYTES);
    encode_event_info(&out, &(struct event_info){0});
    assert_int_equal(out.size, EVENT_ID_BYTES + OCCUPANTS_BYTES + EVENT_BYTES);
    encoder_free(&out);
}

static void a_window_survives_the_wire(void **state)
{
    (void)state;
    struct event_id partners[2] = {{2, 3}, {HIDDEN_LINE | 1, 4}};
    char *texts[] = {(char *)(uintptr_t) "one", (char *)(uintptr_t) ""};
    struct event_info e = {.at = {1, 7},
                           .type = 3,
                           .relation = RELATION_RECEIVE,
                           .time_ns = -5,
                           .partners = partners,
                           .partner_count = 2,
                           .texts = texts,
                           .text_count = 2,
                           .in = {1, 2, 3},
                           .column = -9,
                           .fold = 4,
                           .partner_lost = true};
    struct row_info row = {.line = 1, .in = {4, 5, 6}, .left = 8, .open = true};
    struct gap_info gap = {1, 2, 3};
    struct crossing_info crossing = {{1, 2}, {3, 4}};
    struct edge_info edge = {{5, 6}, {1, 7}};
    struct placement_info stay = {.thread = 1,
                                  .at = {2, 9},
                                  .type = 4,
                                  .relation = RELATION_SYNC,
                                  .about = 3,
                                  .time_ns = -8,
                                  .home = 7};
    struct window_info w = {.from = -20,
                            .columns = 40,
                            .first = -9,
                            .last = -9,
                            .more_left = true,
                            .rows = &row,
                            .row_count = 1,
                            .events = &e,
                            .event_count = 1,
                            .gaps = &gap,
                            .gap_count = 1,
                            .crossings = &crossing,
                            .crossing_count = 1,
                            .edges = &edge,
                            .edge_count = 1,
                            .placements = &stay,
                            .placement_count = 1,
                            .idle_lines = 1ull << 40,
                            .left_lines = 7,
                            .discarded = 1ull << 41};
    struct encoder out = {0};
    encode_window(&out, &w);
    struct decoder in = decoder_init(out.data, out.size);
    struct window_info got;
    decode_window(&in, &got);
    assert_true(decoder_finish(&in));
    assert_int_equal(got.events[0].column, -9);
    assert_int_equal(got.events[0].time_ns, -5);
    assert_true(got.events[0].partner_lost);
    assert_int_equal(got.events[0].partners[1].line, HIDDEN_LINE | 1);
    assert_string_equal(got.events[0].texts[0], "one");
    assert_int_equal(got.rows[0].in.away, 6);
    assert_true(got.crossing_count == 1 && got.crossings[0].to.number == 4);
    assert_true(got.more_left && !got.more_right);
    assert_true(got.idle_lines == 1ull << 40 && got.left_lines == 7);
    assert_true(got.discarded == 1ull << 41);
    assert_true(got.edge_count == 1 && got.edges[0].from.number == 6 && got.edges[0].to.line == 1);
    assert_true(got.placement_count == 1 && got.placements[0].at.number == 9 &&
                got.placements[0].time_ns == -8);
    assert_true(got.placements[0].type == 4 && got.placements[0].about == 3 &&
                got.placements[0].home == 7);
    window_info_free(&got);
    for (size_t cut = 0; cut < out.size; cut++) { /* every shorter message is rejected */
        in = decoder_init(out.data, cut);
        decode_window(&in, &got);
        assert_false(decoder_finish(&in));
        window_info_free(&got);
    }
    encoder_free(&out);
}

/* Causal edges survive encoding and decoding; references to events that do not exist are
 * rejected. */
static void causes_survive_the_wire(void **state)
{
    (void)state;
    uint32_t causes[] = {0, 1, 1};
    struct causal_edge_info events[] = {
        {0, 0, 7, 0, 0, -4}, {1, 1, 7, 0, 1, 9}, {1, 1, ANY_DOUBTS, 1, 0, 9}, {3, 0, 8, 1, 1, 10}};
    struct uncertainty_info doubts[] = {{7, {0, 1, 0, 0, 2}}, {8, {0, 0, 0, 0, 3}}};
    struct causal_edges_info put = {true, 4, 512, events, 4, causes, 2, 6, doubts, 2}, got;
    struct encoder out = {0};
    encode_causal_edges(&out, &put);
    struct decoder in = decoder_init(out.data, out.size);
    decode_causal_edges(&in, &got);
    assert_true(decoder_finish(&in) && got.whole && got.hiding == 4 && got.mechanisms == 512);
    assert_int_equal(got.event_count, 4);
    assert_int_equal(got.cause_count, 2);
    for (uint32_t i = 0; i < 4; i++) {
        const struct causal_edge_info *e = &got.events[i], *f = &events[i];
        assert_true(e->point == f->point && e->chain == f->chain && e->doubts == f->doubts);
        assert_true(e->first == f->first && e->count == f->count && e->time_ns == f->time_ns);
    }
    assert_memory_equal(got.causes, causes, 2 * sizeof *causes);
    assert_true(got.any == 6 && got.doubts_count == 2);
    assert_memory_equal(got.doubts, doubts, sizeof doubts);
    causal_edges_info_free(&got);
    for (size_t cut = 0; cut < out.size; cut++) { /* every shorter message is rejected */
        in = decoder_init(out.data, cut);
        decode_causal_edges(&in, &got);
        assert_false(decoder_finish(&in));
        causal_edges_info_free(&got);
    }
    encoder_free(&out);
    /* a cause or a point that comes later; causes of no event */
    for (int wrong = 0; wrong < 3; wrong++) {
        out = (struct encoder){0};
        causes[0] = wrong == 0 ? 1 : 0;
        events[3].point = wrong == 1 ? 4 : 3;
        events[3].count = wrong == 2 ? 2 : 1;
        encode_causal_edges(&out, &put);
        in = decoder_init(out.data, out.size);
        decode_causal_edges(&in, &got);
        assert_false(decoder_finish(&in));
        causal_edges_info_free(&got);
        encoder_free(&out);
    }
}

static void causes_are_asked_in_the_order_of_the_log(void **state)
{
    (void)state;
    uint64_t positions[] = {3, 4, 4};
    for (uint32_t n = 2; n <= 3; n++) {
        struct encoder out = {0};
        struct causal_edges_request request;
        encode_causal_edges_request(&out, &(struct causal_edges_request){positions, n});
        struct decoder in = decoder_init(out.data, out.size);
        decode_causal_edges_request(&in, &request);
        assert_int_equal(decoder_finish(&in), n == 2);
        causal_edges_request_free(&request);
        encoder_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_got),
        cmocka_unit_test(frames_are_judged),
        cmocka_unit_test(what_is_empty_takes_the_least_bytes),
        cmocka_unit_test(a_reader_keeps_its_first_error_and_turns_deaf),
        cmocka_unit_test(a_window_survives_the_wire),
        cmocka_unit_test(causes_survive_the_wire),
        cmocka_unit_test(causes_are_asked_in_the_order_of_the_log),
    };
    return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
