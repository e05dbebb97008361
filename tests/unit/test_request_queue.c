/* Each request has an id, and is ended by exactly one last part. */
#include "server/queries/request_queue.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"
#include "wire/event_types.h"
#include "wire/table_rows.h"

static struct execution x;

static struct run *small_run(void)
{
    struct run *run = run_new("test", 1, NULL);
    execution_make(&x, 3);
    for (uint32_t line = 1; line <= x.lines; line++)
        run_line(run, 1, line, "task", x.shared[line], (struct run_line){0});
    order_free(run->order);
    run->order = execution_order(&x);
    execution_feed(&x, run->order, 5);
    return run;
}

/* Parts of the responses to requests 1 .. 99, by id. */
struct told {
    unsigned parts[100], ends[100], refused[100];
};

static void read_all(struct told *told, struct encoder *out)
{
    unsigned type;
    size_t length;
    const char *error;
    for (size_t at = 0; at < out->size; at += MESSAGE_FRAME_BYTES + length) {
        struct response_chunk answer;
        assert_int_equal(
            frame_read(out->data + at, out->size - at, SIZE_MAX, &type, &length, &error), 1);
        struct decoder in = decoder_init(out->data + at + MESSAGE_FRAME_BYTES, length);
        if (type != MESSAGE_RESPONSE)
            continue;
        decode_response_chunk(&in, &answer);
        assert_true(answer.id && answer.id < 100 && !in.error);
        assert_int_equal(told->ends[answer.id], 0); /* no part follows the last one */
        told->parts[answer.id]++;
        told->ends[answer.id] += answer.last;
        told->refused[answer.id] += answer.part == RESPONSE_ERROR;
    }
    encoder_free(out);
}

static bool ask(struct request_queue *queue, uint32_t id, enum request_type what,
                struct encoder *body, struct encoder *out)
{
    struct decoder in = decoder_init(body ? body->data : NULL, body ? body->size : 0);
    request_queue_add(queue, &(struct request_header){id, (uint16_t)what}, &in, out);
    if (body)
        encoder_free(body);
    return !in.error;
}

static struct encoder pair_of(struct event_id a, struct event_id b)
{
    struct encoder body = {0};
    encode_event_id(&body, a);
    encode_event_id(&body, b);
    return body;
}

static void work_off(struct request_queue *queue, struct encoder *out)
{
    while (queue->count) {
        request_queue_step(queue, out);
        request_queue_refill(queue, out);
    }
}

static void each_question_has_one_end(void **state)
{
    (void)state;
    struct run *run = small_run();
    struct request_queue queue = {.run = run};
    struct encoder out = {0}, body;
    struct told told = {0};
    uint32_t id = 0;
    for (unsigned round = 0; round < 3; round++) {
        body = pair_of(x.arrivals[round].at, x.arrivals[9].at);
        assert_true(ask(&queue, ++id, REQUEST_ORDER, &body, &out));
        body = pair_of(x.arrivals[0].at, x.arrivals[round].at);
        assert_true(ask(&queue, ++id, REQUEST_CAUSAL_CHAIN, &body, &out));
        assert_true(ask(&queue, ++id, REQUEST_DUMP, NULL, &out));
        assert_true(ask(&queue, ++id, REQUEST_STAT, NULL, &out));
        assert_true(ask(&queue, ++id, REQUEST_WAITS, NULL, &out));
        assert_true(ask(&queue, ++id, REQUEST_SITES, NULL, &out));
    }
    work_off(&queue, &out);
    read_all(&told, &out);
    for (uint32_t i = 1; i <= id; i++)
        assert_true(told.parts[i] && told.ends[i] == 1 && !told.refused[i]);
    request_queue_clear(&queue, NULL);
    run_free(run);
}

static void what_is_cancelled_is_not_answered(void **state)
{
    (void)state;
    struct run *run = small_run();
    struct request_queue queue = {.run = run};
    struct encoder out = {0};
    struct told told = {0};
    for (uint32_t id = 1; id <= 6; id++) {
        struct encoder body = pair_of(x.arrivals[id].at, x.arrivals[9].at);
        assert_true(ask(&queue, id, REQUEST_ORDER, &body, &out));
    }
    request_queue_step(&queue, &out);
    request_queue_cancel(&queue, 2);
    request_queue_cancel(&queue, 6);
    request_queue_cancel(&queue, 77); /* never sent */
    work_off(&queue, &out);
    request_queue_cancel(&queue, 3); /* already answered */
    read_all(&told, &out);
    for (uint32_t id = 1; id <= 6; id++)
        assert_int_equal(told.ends[id], id == 2 || id == 6 ? 0 : 1);
    run_free(run);
}

static struct encoder table_body(char *what)
{
    struct encoder body = {0};
    char nothing[] = "";
    encode_table_request(&body,
                         &(struct table_request){.what = what, .by = nothing, .sort = nothing});
    return body;
}

static bool is_pending(const struct request_queue *queue, uint32_t id)
{
    for (unsigned i = 0; i < queue->count; i++)
        if (queue->items[i].id == id)
            return true;
    return false;
}

/* Tables that were requested before the overview delay it by a step each other time. */
static void the_overview_gets_every_other_step(void **state)
{
    (void)state;
    struct run *run = small_run();
    struct request_queue queue = {.run = run};
    struct encoder out = {0}, body = {0};
    struct told told = {0};
    char states[] = "states";
    for (uint32_t id = 1; id <= 6; id++) {
        body = table_body(states);
        assert_true(ask(&queue, id, REQUEST_TABLE, &body, &out));
    }
    body = (struct encoder){0};
    encode_density_request(&body, &(struct density_request){.pixels = 10});
    assert_true(ask(&queue, 7, REQUEST_STATE_BANDS, &body, &out));
    unsigned steps = 0;
    for (; is_pending(&queue, 7); steps++)
        request_queue_step(&queue, &out);
    assert_true(steps <= 2 && queue.count >= 5);
    work_off(&queue, &out);
    read_all(&told, &out);
    for (uint32_t id = 1; id <= 7; id++)
        assert_true(told.ends[id] == 1 && !told.refused[id]);
    request_queue_clear(&queue, NULL);
    run_free(run);
}

static void another_run_ends_all_of_them(void **state)
{
    (void)state;
    struct run *run = small_run();
    struct request_queue queue = {.run = run};
    struct encoder out = {0};
    struct told told = {0};
    for (uint32_t id = 1; id <= 4; id++)
        assert_true(ask(&queue, id, id % 2 ? REQUEST_DUMP : REQUEST_WAITS, NULL, &out));
    request_queue_clear(&queue, &out);
    read_all(&told, &out);
    for (uint32_t id = 1; id <= 4; id++)
        assert_true(told.ends[id] == 1 && told.refused[id] == 1);
    run_free(run);
}

static void what_cannot_be_asked_is_refused(void **state)
{
    (void)state;
    struct run *run = small_run();
    struct request_queue queue = {.run = run};
    struct encoder out = {0};
    struct told told = {0};
    assert_true(ask(&queue, 1, 63, NULL, &out)); /* unknown types, as of a later version */
    assert_true(ask(&queue, 2, 60000, NULL, &out));
    for (uint32_t id = 3; id < 3 + LIMIT_QUERIES + 2; id++) /* the last two exceed the limit */
        assert_true(ask(&queue, id, REQUEST_DUMP, NULL, &out));
    assert_false(ask(&queue, 3, REQUEST_WAITS, NULL, &out)); /* the id is in use */
    struct encoder body = {0};
    encode_u8(&body, 7);
    /* the body is longer than its content */
    assert_false(ask(&queue, 90, REQUEST_STAT, &body, &out));
    body = (struct encoder){0};
    encode_u8(&body, 7);
    assert_false(ask(&queue, 91, REQUEST_COUNT, &body, &out));
    work_off(&queue, &out);
    read_all(&told, &out);
    for (uint32_t id = 1; id < 3 + LIMIT_QUERIES + 2; id++)
        assert_true(told.ends[id] == 1 && told.refused[id] == (id < 3 || id >= 3 + LIMIT_QUERIES));
    assert_true(!told.parts[90] && !told.parts[91]);
    run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_question_has_one_end),
        cmocka_unit_test(what_is_cancelled_is_not_answered),
        cmocka_unit_test(the_overview_gets_every_other_step),
        cmocka_unit_test(another_run_ends_all_of_them),
        cmocka_unit_test(what_cannot_be_asked_is_refused),
    };
    return cmocka_run_group_tests_name("asking", tests, NULL, NULL);
}
