/* A program's messages and slots: expansion of shapes, slots that wait for declarations, rejection
 * of invalid ones. */
#include "server/decode/declarations.h"
#include "server/run/conflicts.h"
#include "server/run/cpu_placement.h"
#include "server/run/untraced_reasons.h"
#include "server/timing/cpu_states.h"
#include "server/run/call_sites.h"
#include "tests/unit/session_program.h"
#include "tests/unit/unit.h"
#include "wire/context_switches.h"

#include <string.h>

static struct program_session *session;

static void tell(void *context, unsigned type, uint32_t thread, const void *data, size_t size)
{
    const char *error = NULL;
    (void)context;
    if (type == MESSAGE_SLOTS) {
        if (!program_session_decode_slots(session, thread, data, size / SLOT_BYTES, &error))
            fail_msg("slots: %s", error);
    } else if (!program_session_decode_message(session, type, thread, data, size, &error)) {
        fail_msg("%s: %s", message_name(type), error);
    }
}

static struct run *begin(void)
{
    struct run *run = run_new("test@1", 1, NULL);
    struct encoder out = {0};
    struct hello_message hello;
    put_test_hello(&out);
    struct decoder in = decoder_init(out.data, out.size);
    assert_true(hello_message_decode(&in, &hello));
    session = program_session_new(run, 0, &hello);
    hello_message_free(&hello);
    encoder_free(&out);
    return run;
}

static void compound_records_expand_in_thread_order(void **state)
{
    (void)state;
    struct run *run = begin();
    test_program(tell, NULL, 3);
    struct order_figures f = order_figures(run->order);
    assert_int_equal(f.events, 9);
    assert_int_equal(f.contradictions + f.pending, 0);
    assert_int_equal(order_compare(run->order, (struct event_id){1, 1}, (struct event_id){2, 1}),
                     ORDER_SAME);
    assert_int_equal(order_compare(run->order, (struct event_id){2, 3}, (struct event_id){1, 2}),
                     ORDER_AFTER);
    program_session_close(session);
    run_free(run);
}

/* Receives of sends that never arrive. */
static void what_waits_has_a_limit(void **state)
{
    (void)state;
    struct run *run = begin();
    const char *error;
    test_program(tell, NULL, 1);
    assert_false(run_pending_limit_exceeded(run));
    for (uint64_t i = 0; i < 5001; i++) {
        struct ring_slot receive = {.shape = 1,
                                    .flags = RELATION_RECEIVE | SLOT_KEYED,
                                    .line_a = 1,
                                    .number_a = i + 3,
                                    .number_b = i,
                                    .key = 7};
        assert_true(program_session_decode_slots(session, 1, &receive, 1, &error));
    }
    assert_true(run_pending_limit_exceeded(run));
    program_session_close(session);
    while (!run_step(run, 1000))
        ;
    assert_false(run_pending_limit_exceeded(run));
    assert_int_equal(order_figures(run->order).pending, 0);
    run_free(run);
}

/* A loss may be reported before the line is declared. */
static void losses_wait_for_the_announcement_of_their_line(void **state)
{
    (void)state;
    struct run *run = begin();
    const char *error;
    struct encoder out = {0};
    test_program(tell, NULL, 1);
    encode_u32(&out, 7);
    encode_u64(&out, 1);
    encode_u64(&out, 5);
    assert_true(
        program_session_decode_message(session, MESSAGE_LOST, 0, out.data, out.size, &error));
    assert_int_equal(order_figures(run->order).lost, 0);
    out.size = 0;
    put_test_line(&out, 7, "monitor", "late");
    assert_true(
        program_session_decode_message(session, MESSAGE_LINE, 0, out.data, out.size, &error));
    assert_int_equal(order_figures(run->order).lost, 5);
    encoder_free(&out);
    program_session_close(session);
    run_free(run);
}

/* The kernel's records come by another way than declarations. */
static void switches_wait_for_the_declaration_of_their_thread(void **state)
{
    (void)state;
    struct run *run = begin();
    const char *error;
    struct encoder out = {0};
    encode_u64(&out, 0);
    encode_u64(&out, 1000);
    encode_u32(&out, 3);
    for (uint64_t i = 0; i < 3; i++) {
        encode_varint(&out, i == 2 ? 9 : 7);
        encode_varint(&out, 100 << 2 | (i == 1 ? CONTEXT_SWITCH_TO_SLEEP : CONTEXT_SWITCH_TO_RUN));
    }
    encode_string(&out, "");
    for (int i = 0; i < 3; i++)
        encode_varint(&out, 1);
    assert_true(program_session_decode_switches(session, out.data, out.size, &error));
    assert_int_equal(session->switch_count, 3);
    out.size = 0;
    put_test_line(&out, 7, "task", "late");
    tell(NULL, MESSAGE_LINE, 0, out.data, out.size);
    uint32_t line = program_session_line(session, 7);
    assert_true(line != 0);
    assert_int_equal(session->switch_count, 1); /* of the other */
    assert_int_equal(cpu_states_best(cpu_placement_states(run), line, CPU_SOURCE_ORDER),
                     CPU_SOURCE_SWITCHES);
    encoder_free(&out);
    program_session_close(session);
    run_free(run);
}

static void slots_wait_for_the_announcement_of_their_line(void **state)
{
    (void)state;
    struct run *run = begin();
    const char *error;
    test_program(tell, NULL, 1);
    struct ring_slot early[] = {{.shape = 1, .line_a = 7, .number_a = 1},
                                {.shape = 1, .line_a = 1, .number_a = 3}};
    assert_true(program_session_decode_slots(session, 1, early, 2, &error));
    /* both slots wait, since they are of one thread */
    assert_int_equal(order_figures(run->order).events, 3);
    struct encoder out = {0};
    put_test_line(&out, 7, "monitor", "late");
    tell(NULL, MESSAGE_LINE, 2, out.data, out.size);
    assert_int_equal(order_figures(run->order).events, 5);
    assert_int_equal(order_compare(run->order, (struct event_id){3, 1}, (struct event_id){1, 3}),
                     ORDER_BEFORE);
    encoder_free(&out);
    program_session_close(session);
    run_free(run);
}

/* Events that were left behind in a killed program are not counted again if the order finds their
 * numbers missing. */
static void what_is_found_missing_is_counted_once(void **state)
{
    (void)state;
    struct run *run = begin();
    const char *error;
    test_program(tell, NULL, 1);
    struct ring_slot gap = {.shape = 1, .line_a = 2, .number_a = 5}; /* 2 to 4 never arrive */
    assert_true(program_session_decode_slots(session, 1, &gap, 1, &error));
    program_session_close(session);
    while (!run_step(run, 1000))
        ;
    uint64_t missing = order_figures(run->order).lost;
    assert_true(missing > 0);
    assert_int_equal(order_figures(run->order).found, missing);
    assert_int_equal(run_lost(run), missing);
    run->processes.items[0].left = missing + 10;
    assert_int_equal(run_lost(run), missing + 10);
    run->processes.items[0].left_known = 10; /* the rest is what the order found missing */
    assert_int_equal(run_lost(run), missing + 10);
    run_free(run);
}

/* The state of ended threads is freed; the order is not affected. */
static void ended_threads_are_forgotten(void **state)
{
    (void)state;
    struct run *run = begin();
    const char *error;
    struct encoder out = {0};
    test_program(tell, NULL, 1);
    put_test_line(&out, 7, "task", "short");
    tell(NULL, MESSAGE_LINE, 1, out.data, out.size);
    out.size = 0;
    put_test_line(&out, 8, "task", "long");
    tell(NULL, MESSAGE_LINE, 1, out.data, out.size);
    struct ring_slot end = {.shape = 1, .line_a = 7, .number_a = 1},
                     other = {.shape = 1, .line_a = 8, .number_a = 1},
                     close = {.shape = 1, .flags = SLOT_CLOSES, .line_a = 7, .number_a = 2},
                     late = {.shape = 1, .line_a = 2, .number_a = 2};
    assert_true(program_session_decode_slots(session, 7, &end, 1, &error));
    assert_true(program_session_decode_slots(session, 8, &other, 1, &error));
    size_t before = session->threads.count;
    program_session_forget_ended(session);
    assert_int_equal(session->threads.count, before);
    assert_true(program_session_decode_slots(session, 1, &close, 1, &error));
    program_session_forget_ended(session);
    assert_int_equal(session->threads.count, before - 1);
    assert_null(map_get(&session->threads, 7, 0));
    assert_non_null(map_get(&session->threads, 8, 0));
    assert_true(program_session_decode_slots(session, 7, &late, 1, &error));
    assert_int_equal(order_compare(run->order,
                                   (struct event_id){program_session_line(session, 7), 1},
                                   (struct event_id){2, 2}),
                     ORDER_BEFORE);
    encoder_free(&out);
    program_session_close(session);
    run_free(run);
}

static struct order_event event_of(const struct run *run, uint32_t line, uint64_t number)
{
    return order_event(run->order, order_position(run->order, (struct event_id){line, number}));
}

/* One place in the code is a different site under each call context, but the same place. */
static void a_site_is_told_with_the_calls_that_led_there(void **state)
{
    (void)state;
    struct run *run = begin();
    const char *error;
    test_program(tell, NULL, 0);
    struct ring_slot slots[] = {
        {.shape = 1, .flags = SLOT_CONTEXT, .line_a = 2, .number_a = 1, .site = 64, .count = 7},
        {.shape = 1, .flags = SLOT_CONTEXT, .line_a = 2, .number_a = 2, .site = 64, .count = 9},
        {.shape = 1, .flags = SLOT_CONTEXT, .line_a = 2, .number_a = 3, .site = 64, .count = 7},
        {.shape = 1, .line_a = 2, .number_a = 4, .site = 64},
        {.shape = 1,
         .flags = SLOT_CONTEXT | SLOT_KEYED | RELATION_GROUP,
         .line_a = 2,
         .number_a = 5,
         .site = 64,
         .count = 1}};
    assert_true(program_session_decode_slots(session, 1, slots, 5, &error));
    while (!run_step(run, 1000))
        ;
    static const uint32_t contexts[] = {7, 9, 7, 0, 0};
    uint32_t sites[5];
    for (uint32_t i = 0; i < 5; i++) {
        sites[i] = event_of(run, 2, 1 + i).site;
        assert_true(sites[i] && sites[i] <= run->sites.count);
        struct site site = run->sites.items[sites[i] - 1];
        assert_int_equal(site.address, 64);
        assert_int_equal(site.context, contexts[i]);
        assert_int_equal(site.thread, contexts[i] ? program_session_line(session, 1) : 0);
        assert_int_equal(call_sites_for_line(run, sites[i]), call_sites_for_line(run, sites[0]));
    }
    assert_int_equal(sites[0], sites[2]);
    assert_int_equal(sites[3], sites[4]); /* count is the size of the group there */
    assert_true(sites[0] != sites[1] && sites[0] != sites[3]);
    program_session_close(session);
    run_free(run);
}

/* Writes a message into a queue: a slot and its body. Returns the number of slots. */
static size_t put_control(struct ring_slot *slots, unsigned message, struct encoder *body)
{
    slots[0] = (struct ring_slot){
        .shape = SHAPE_CONTROL, .flags = (uint16_t)message, .payload_bytes = (uint32_t)body->size};
    memcpy(slots + 1, body->data, body->size);
    size_t count = 1 + slot_follow((uint32_t)body->size);
    encoder_free(body);
    *body = (struct encoder){0};
    return count;
}

/* Reads a message, and empties its body. */
static bool decode_control(uint32_t thread, unsigned message, struct encoder *body)
{
    struct ring_slot slots[16];
    const char *error;
    return program_session_decode_slots(session, thread, slots, put_control(slots, message, body),
                                        &error);
}

/* Two threads know a line as soon as one of them declares it, each has its own queue, and any
 * queue may be read first. */
static void controls_wait_for_the_announcement_of_their_line(void **state)
{
    (void)state;
    struct run *run = begin();
    struct encoder body = {0};
    test_program(tell, NULL, 1);
    /* of a thread each, since what follows a slot that waits is not read */
    encode_rename(&body, &(struct rename_message){7, text_view_of("renamed"), 0});
    assert_true(decode_control(11, MESSAGE_NAME, &body));
    encode_annotation(&body, &(struct annotation_message){7, 1, text_view_of("noted")});
    assert_true(decode_control(12, MESSAGE_ANNOTATION, &body));
    encode_object(&body, &(struct object_message){7, 0x1234});
    assert_true(decode_control(13, MESSAGE_OBJECT, &body));
    encode_kind(&body, &(struct kind_message){7, text_view_of("monitor"), text_view_of("other")});
    assert_true(decode_control(14, MESSAGE_KIND, &body));
    encode_held(&body, &(struct held_message){.line = 7, .instance = 1, .code = 1, .number = 1});
    assert_true(decode_control(15, MESSAGE_HELD, &body));
    encode_participants(&body, &(struct participants_message){7, 4});
    assert_true(decode_control(16, MESSAGE_PARTICIPANTS, &body));
    encode_close(&body, &(struct close_message){7, 0});
    assert_true(decode_control(17, MESSAGE_CLOSE, &body));
    encode_conflict(&body, &(struct conflict_message){.last = 7,
                                                      .number = 3,
                                                      .thread = 2,
                                                      .site = 0x1000,
                                                      .flags = ACCESS_WRITE,
                                                      .then_last = 1,
                                                      .then_number = 4,
                                                      .address = 0x2000,
                                                      .bytes = 4,
                                                      .memory = MEMORY_STACK,
                                                      .owner = 2});
    assert_true(decode_control(1, MESSAGE_CONFLICT, &body));
    assert_int_equal(conflicts_count(run), 0);
    put_test_line(&body, 7, "monitor", "late");
    assert_true(decode_control(2, MESSAGE_LINE, &body));
    uint32_t line = program_session_line(session, 7);
    assert_true(line != 0);
    assert_int_equal(run_lines_participants(&run->lines, line), 4);
    assert_int_equal(run_line_at(run, line)->object, 0x1234);
    assert_int_equal(conflicts_count(run), 1);
    assert_int_equal(conflicts_at(run, 0)->accesses[0].after.line, line);
    assert_int_equal(conflicts_at(run, 0)->accesses[1].thread, program_session_line(session, 1));
    program_session_close(session);
    run_free(run);
}

static void conflicts_are_checked(void **state)
{
    (void)state;
    struct run *run = begin();
    struct encoder body = {0};
    test_program(tell, NULL, 1);
    const struct conflict_message good = {.last = 1,
                                          .number = 1,
                                          .thread = 1,
                                          .flags = ACCESS_WRITE,
                                          .then_last = 2,
                                          .then_number = 1,
                                          .bytes = 4};
    encode_unexamined(&body, &(struct unexamined_message){UNEXAMINED_MEMORY, 8});
    assert_true(decode_control(2, MESSAGE_UNEXAMINED, &body));
    assert_int_equal(conflicts_unexamined(run, UNEXAMINED_MEMORY), 8);
    encode_conflict(&body, &good);
    assert_true(decode_control(2, MESSAGE_CONFLICT, &body));
    assert_int_equal(conflicts_count(run), 1);
    struct conflict_message bad[] = {good, good, good, good};
    bad[0].flags = 0; /* two reads */
    bad[1].then_flags = ACCESS_FLAGS + 1;
    bad[2].bytes = 0;
    bad[3].memory = MEMORY_KINDS;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        encode_conflict(&body, &bad[i]);
        assert_false(decode_control(2, MESSAGE_CONFLICT, &body));
    }
    encode_unexamined(&body, &(struct unexamined_message){UNEXAMINED_KINDS, 1});
    assert_false(decode_control(2, MESSAGE_UNEXAMINED, &body));
    program_session_close(session);
    run_free(run);
}

static void shapes_and_types_wait_for_the_types_that_they_name(void **state)
{
    (void)state;
    struct run *run = begin();
    const char *error;
    test_program(tell, NULL, 1);
    struct ring_slot slots[8] = {0};
    struct encoder body = {0};
    encode_shape(&body, &(struct shape_message){SHAPE_COMPOUND + 40, 1, {{90, 91, 0}}});
    size_t n = put_control(slots, MESSAGE_SHAPE, &body);
    slots[n++] = (struct ring_slot){
        .shape = SHAPE_COMPOUND + 40, .line_a = 1, .number_a = 3, .line_b = 2, .number_b = 2};
    uint64_t before = order_figures(run->order).events;
    assert_true(program_session_decode_slots(session, 1, slots, n, &error));
    assert_int_equal(order_figures(run->order).events, before);
    /* declared by another thread; depends on a declaration of a third */
    encode_type(&body, &(struct type_message){91, text_view_of("in"), 1, {90}});
    n = put_control(slots, MESSAGE_TYPE, &body);
    assert_true(program_session_decode_slots(session, 2, slots, n, &error));
    assert_int_equal(order_figures(run->order).events, before);
    encode_type(&body, &(struct type_message){90, text_view_of("out"), 0, {0}});
    n = put_control(slots, MESSAGE_TYPE, &body);
    assert_true(program_session_decode_slots(session, 3, slots, n, &error));
    assert_int_equal(order_figures(run->order).events, before + 2);
    assert_int_equal(order_figures(run->order).contradictions + order_figures(run->order).pending,
                     0);
    program_session_close(session);
    run_free(run);
}

static void what_is_never_announced_is_reported_at_the_hang_up(void **state)
{
    (void)state;
    struct run *run = begin();
    const char *error;
    test_program(tell, NULL, 1);
    struct ring_slot early = {.shape = 1, .line_a = 9, .number_a = 1};
    assert_true(program_session_decode_slots(session, 1, &early, 1, &error));
    program_session_close(session);
    assert_int_equal(order_figures(run->order).contradictions, 1);
    assert_int_equal(order_figures(run->order).events, 3);
    run_free(run);
}

static void nonsense_is_refused_and_what_came_before_stays(void **state)
{
    (void)state;
    static const struct {
        struct ring_slot slot;
        const char *error;
    } cases[] = {
        {{.shape = 1, .flags = 7, .line_a = 1, .number_a = 3},
         "a slot has a relation that does not exist"},
        {{.shape = 1, .line_a = 1, .number_a = 0}, "a slot has an invalid number"},
        {{.shape = 1, .line_a = 1, .number_a = UINT64_MAX}, "a slot has an invalid number"},
        {{.shape = 1, .flags = RELATION_GROUP, .line_a = 1, .number_a = 3},
         "a group has no members or too many"},
        {{.shape = 1, .flags = RELATION_SYNC, .line_a = 1, .number_a = 3},
         "a slot has a partner on no line"},
        {{.shape = 1, .line_a = 1, .number_a = 3, .payload_bytes = 64},
         "a slot announces more data than follows"},
        {{.shape = 1, .line_a = 1, .number_a = 3, .payload_bytes = UINT32_MAX},
         "a slot announces more data than follows"},
        {{.shape = 0, .flags = 99}, "is not a program message"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run *run = begin();
        const char *error = NULL;
        test_program(tell, NULL, 1);
        bool ok = program_session_decode_slots(session, 1, &cases[i].slot, 1, &error);
        if (ok || strcmp(error, cases[i].error) != 0)
            fail_msg("case %zu: %s, not %s", i, ok ? "taken" : error, cases[i].error);
        assert_int_equal(order_figures(run->order).events, 3);
        program_session_close(session);
        run_free(run);
    }
}

/* Reports of streams between hosts are passed to the order; an impossible one closes the connection
 * of the program. */
static void ends_and_holes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct run *run = begin();
    const char *error = NULL;
    const struct remote_stream_message ends[] = {{.stream = 7, .writes = 1},
                                                 {.stream = 7, .writes = 3}};
    const struct stream_gap_message holes[] = {
        {7, 0, 5, UNTRACED_STREAM}, {7, 5, 5, 0}, {7, 5, 6, 200}};
    struct encoder out = {0};
    for (size_t i = 0; i < 2; i++, out.size = 0) {
        encode_remote_stream(&out, &ends[i]);
        assert_int_equal(program_session_decode_message(session, MESSAGE_REMOTE_STREAM, 0, out.data,
                                                        out.size, &error),
                         i == 0);
    }
    assert_string_equal(error, "invalid stream end");
    for (size_t i = 0; i < 3; i++, out.size = 0) {
        encode_stream_gap(&out, &holes[i]);
        assert_int_equal(program_session_decode_message(session, MESSAGE_STREAM_GAP, 0, out.data,
                                                        out.size, &error),
                         i == 0);
    }
    assert_string_equal(error, "invalid stream gap");
    encoder_free(&out);
    program_session_close(session);
    run_free(run);
}

/* Slots that wait for declarations are decoded as soon as possible, even if the order works in
 * small steps. */
static void slots_that_wait_are_taken_as_they_can_be(void **state)
{
    (void)state;
    enum { THREADS = 40, EVENTS = 30 };
    struct run *run = begin();
    struct encoder out = {0};
    const char *error;
    run_set_wait_for_missing(run);
    put_test_type(&out, 1, "note");
    assert_true(
        program_session_decode_message(session, MESSAGE_TYPE, 0, out.data, out.size, &error));
    for (uint32_t t = 1; t <= THREADS; t++) {
        struct ring_slot slots[EVENTS];
        for (uint32_t i = 0; i < EVENTS; i++)
            slots[i] = (struct ring_slot){
                .shape = 1, .line_a = t, .number_a = i + 1, .about = i % 2 ? 1000 + t : 0};
        assert_true(program_session_decode_slots(session, t, slots, EVENTS, &error));
    }
    /* declares the line of each thread, then the lines that their events are about */
    for (uint32_t t = 1; t <= 2 * THREADS; t++) {
        out.size = 0;
        put_test_line(&out, t <= THREADS ? t : 1000 + t - THREADS, "task", "");
        assert_true(
            program_session_decode_message(session, MESSAGE_LINE, 0, out.data, out.size, &error));
        while (!run_step(run, 10))
            ;
        /* threads with all of their events; the others have only the first one */
        uint64_t all = t <= THREADS ? 0 : t - THREADS;
        assert_int_equal(order_figures(run->order).events,
                         all * EVENTS + (t <= THREADS ? t : THREADS - all));
    }
    while (!run_step(run, 10))
        ;
    assert_int_equal(order_figures(run->order).events, THREADS * EVENTS);
    program_session_close(session);
    assert_int_equal(run->programs.connected, 1);
    assert_true(run_step(run, 10000));
    assert_int_equal(run->programs.connected, 0);
    encoder_free(&out);
    run_free(run);
}

static struct program_session *another(struct run *run, uint32_t number, uint64_t instance)
{
    struct encoder out = {0};
    struct hello_message hello;
    encode_hello(&out, &(struct program_hello){.role = ROLE_PROGRAM,
                                               .run = text_view_of("test@1"),
                                               .environment = text_view_of("pthread"),
                                               .path = text_view_of("/bin/other"),
                                               .host = text_view_of("elsewhere"),
                                               .instance = instance,
                                               .clock_ns = 1000,
                                               .wall_ns = 2000});
    struct decoder in = decoder_init(out.data, out.size);
    assert_true(hello_message_decode(&in, &hello));
    struct program_session *other = program_session_new(run, number, &hello);
    hello_message_free(&hello);
    encoder_free(&out);
    return other;
}

/* Declares line 1 of the program with instance 1 in the session of another program, before or after
 * that program does. */
static void announce_first(struct program_session *other)
{
    const char *error = NULL;
    struct encoder out = {0};
    put_test_type(&out, 1, "note");
    assert_true(program_session_decode_message(other, MESSAGE_TYPE, 0, out.data, out.size, &error));
    out.size = 0;
    encode_line(&out, &(struct line_message){.code = 1,
                                             .high = 1,
                                             .low = 1,
                                             .flags = LINE_SHARED,
                                             .kind = text_view_of("evil"),
                                             .name = text_view_of("mine")});
    assert_true(program_session_decode_message(other, MESSAGE_LINE, 1, out.data, out.size, &error));
    encoder_free(&out);
}

static void nobody_tells_of_the_lines_of_another_program(void **state)
{
    (void)state;
    /* that of the other session; an unknown one */
    for (uint64_t instance = 1; instance <= 2; instance++) {
        struct run *run = begin();
        struct program_session *first = session, *other = another(run, 1, instance);
        const char *error = NULL;
        announce_first(other);
        test_program(tell, NULL, 3);
        struct ring_slot slot = {.shape = 1, .time_ns = 1009, .line_a = 1, .number_a = 7};
        assert_false(program_session_decode_slots(other, 1, &slot, 1, &error));
        assert_string_equal(error, "records events on a line of another program");
        struct encoder out = {0};
        encode_rename(&out, &(struct rename_message){.line = 1, .name = text_view_of("mine")});
        assert_false(
            program_session_decode_message(other, MESSAGE_NAME, 1, out.data, out.size, &error));
        out.size = 0;
        encode_close(&out, &(struct close_message){.line = 1, .last = 3});
        assert_false(
            program_session_decode_message(other, MESSAGE_CLOSE, 1, out.data, out.size, &error));
        out.size = 0;
        encode_lost(&out, &(struct lost_message){1, 7, 1000});
        program_session_decode_message(other, MESSAGE_LOST, 1, out.data, out.size, &error);
        program_session_close(other);
        struct ring_slot next = {.shape = 1, .time_ns = 1010, .line_a = 1, .number_a = 7};
        assert_true(program_session_decode_slots(first, 1, &next, 1, &error));
        struct order_figures f = order_figures(run->order);
        assert_int_equal(f.events, 10);
        assert_int_equal(f.contradictions + f.pending + f.lost, 0);
        assert_string_equal(run_line_at(run, 1)->name, "t");
        assert_string_equal(run_kind_name(run, run_line_at(run, 1)->kind), "task");
        assert_int_equal(run_line_at(run, 1)->process, 0);
        assert_false(order_line_shared(run->order, 1));
        program_session_close(first);
        encoder_free(&out);
        run_free(run);
    }
}

static void a_payload_is_never_longer_than_what_there_is(void **state)
{
    (void)state;
    struct ring_slot slots[3] = {{.payload_bytes = 64}};
    static const uint32_t wrong[] = {UINT32_MAX, UINT32_MAX - 62, UINT32_MAX - 63, 129,
                                     LIMIT_PAYLOAD_BYTES + 1};
    assert_int_equal(slot_next_record(slots, 3), 2);
    assert_int_equal(slot_next_record(slots, 1), 0);
    assert_int_equal(slot_next_record(slots, 0), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        slots[0].payload_bytes = wrong[i];
        assert_int_equal(slot_next_record(slots, 3), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_site_is_told_with_the_calls_that_led_there),
        cmocka_unit_test(compound_records_expand_in_thread_order),
        cmocka_unit_test(slots_wait_for_the_announcement_of_their_line),
        cmocka_unit_test(controls_wait_for_the_announcement_of_their_line),
        cmocka_unit_test(losses_wait_for_the_announcement_of_their_line),
        cmocka_unit_test(switches_wait_for_the_declaration_of_their_thread),
        cmocka_unit_test(what_is_found_missing_is_counted_once),
        cmocka_unit_test(ended_threads_are_forgotten),
        cmocka_unit_test(what_waits_has_a_limit),
        cmocka_unit_test(conflicts_are_checked),
        cmocka_unit_test(shapes_and_types_wait_for_the_types_that_they_name),
        cmocka_unit_test(what_is_never_announced_is_reported_at_the_hang_up),
        cmocka_unit_test(nonsense_is_refused_and_what_came_before_stays),
        cmocka_unit_test(ends_and_holes_that_cannot_be_are_refused),
        cmocka_unit_test(slots_that_wait_are_taken_as_they_can_be),
        cmocka_unit_test(nobody_tells_of_the_lines_of_another_program),
        cmocka_unit_test(a_payload_is_never_longer_than_what_there_is),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
