/* With many lines, a viewer receives the lines that a response refers to, before the response. */
#include "server/queries/request_queue.h"
#include "server/queries/referenced_lines.h"
#include "tests/unit/unit.h"
#include "wire/query_results.h"

#include <stdlib.h>
#include <string.h>

#define LINES (LIMIT_LINES_SENT + 1000u)
#define LAST (LINES - 3u) /* waits for FIRST, as FIRST does for it */
#define FIRST 7u
#define ENDED 11u /* began to wait and has exited since */

static const char description[] =
    "name=\"test\";line_types=({name=\"task\";letter=\"T\";});"
    "events=({name=\"runs\";shape=\"circle\";},{name=\"join\";shape=\"square\";"
    "wait_class=\"rendezvous\";});";

static struct run *many_lines(void)
{
    static const struct {
        uint32_t thread, about;
    } waits[] = {{FIRST, LAST}, {LAST, FIRST}, {ENDED, FIRST}};
    struct run *run = run_new("many", 1, NULL);
    assert_true(run_describe(run, "test", description));
    for (uint32_t i = 1; i <= LINES; i++)
        assert_int_equal(run_line(run, 1, i, "task", false, (struct run_line){0}), i);
    uint32_t join = run_type(run, "join");
    for (unsigned i = 0; i < 3; i++)
        order_insert(run->order, &(struct arrival){.at = {waits[i].thread, 1},
                                                   .thread = waits[i].thread,
                                                   .type = join,
                                                   .about = waits[i].about});
    order_close(run->order, ENDED, 1);
    return run;
}

struct listener {
    struct run *run;
    struct viewer_knowledge known;
    uint8_t told[LINES + 1];
    unsigned lines, waits, cycles, ends;
};

static void see(struct listener *l, uint32_t line) { assert_true(!line || l->told[line]); }

static void take_answer(struct listener *l, struct decoder *in)
{
    struct response_chunk answer;
    decode_response_chunk(in, &answer);
    l->ends += answer.last;
    if (answer.part == RESPONSE_WAIT) {
        struct wait_info w;
        decode_wait(in, &w);
        see(l, w.thread);
        see(l, w.about);
        wait_info_free(&w);
        l->waits++;
    } else if (answer.part == RESPONSE_CYCLE) {
        struct cycle_info c;
        decode_cycle(in, &c);
        for (uint32_t i = 0; i < c.count; i++)
            see(l, c.steps[i].thread);
        free(c.steps);
        l->cycles++;
    }
}

static void listen(struct listener *l, struct encoder *out)
{
    unsigned type;
    size_t length;
    const char *error;
    for (size_t at = 0; at < out->size; at += MESSAGE_FRAME_BYTES + length) {
        assert_int_equal(
            frame_read(out->data + at, out->size - at, SIZE_MAX, &type, &length, &error), 1);
        struct decoder in = decoder_init(out->data + at + MESSAGE_FRAME_BYTES, length);
        if (type == MESSAGE_LINE_INFO) {
            uint32_t line = decode_u32(&in);
            assert_true(line && line <= LINES && !l->told[line]); /* only once */
            l->told[line] = 1;
            l->lines++;
        } else if (type == MESSAGE_RESPONSE) {
            take_answer(l, &in);
        }
    }
    encoder_free(out);
}

/* Processes a request to its end, as server/connections/viewer_connection.c does; frees `body`. */
static void ask(struct listener *l, enum request_type what, struct encoder body)
{
    struct request_queue queue = {.run = l->run};
    struct decoder in = decoder_init(body.data, body.size);
    struct encoder out = {0};
    referenced_lines_begin(l->run, &l->known);
    request_queue_add(&queue, &(struct request_header){1, (uint16_t)what}, &in, &out);
    referenced_lines_end(&out, 0, l->run, &l->known);
    while (request_queue_has_work(&queue)) {
        size_t before = out.size;
        referenced_lines_begin(l->run, &l->known);
        request_queue_step(&queue, &out);
        referenced_lines_end(&out, before, l->run, &l->known);
    }
    assert_null(in.error);
    listen(l, &out);
    encoder_free(&body);
}

static struct listener *listener(void)
{
    struct listener *l = calloc(1, sizeof *l);
    assert_non_null(l);
    l->run = many_lines();
    l->known.named = true;
    return l;
}

static void leave(struct listener *l)
{
    referenced_lines_clear(&l->known);
    run_free(l->run);
    free(l);
}

static void who_waits_is_told_before(void **state)
{
    (void)state;
    struct listener *l = listener();
    ask(l, REQUEST_WAITS, (struct encoder){0});
    assert_int_equal(l->waits, 2); /* without the thread that exited */
    assert_int_equal(l->cycles, 1);
    assert_int_equal(l->lines, 2);
    assert_int_equal(l->ends, 1);
    leave(l);
}

static void lines_are_told_once(void **state)
{
    (void)state;
    struct listener *l = listener();
    for (unsigned i = 1; i <= 2; i++) {
        struct encoder body = {0};
        encode_u32(&body, 3);
        encode_u32(&body, 5000);
        encode_u32(&body, LINES);
        encode_u32(&body, LINES + 1); /* does not exist */
        ask(l, REQUEST_LINES, body);
        assert_true(l->told[5000] && l->told[LINES]);
        assert_int_equal(l->lines, 2);
        assert_int_equal(l->ends, i);
    }
    leave(l);
}

static void not_too_many_lines(void **state)
{
    (void)state;
    struct listener *l = listener();
    struct request_queue queue = {.run = l->run};
    struct encoder body = {0}, out = {0};
    encode_u32(&body, LIMIT_LINES_ASKED + 1);
    for (uint32_t i = 0; i <= LIMIT_LINES_ASKED; i++)
        encode_u32(&body, 1);
    struct decoder in = decoder_init(body.data, body.size);
    request_queue_add(&queue, &(struct request_header){1, REQUEST_LINES}, &in, &out);
    assert_string_equal(in.error, "too many lines requested");
    assert_int_equal(out.size, 0);
    encoder_free(&body);
    leave(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_is_told_before),
        cmocka_unit_test(lines_are_told_once),
        cmocka_unit_test(not_too_many_lines),
    };
    return cmocka_run_group_tests_name("named", tests, NULL, NULL);
}
