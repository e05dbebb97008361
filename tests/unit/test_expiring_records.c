/* Activity records, call records and context switches in a trace file: kept as long as their
 * events, and no longer (--keep). */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "server/checkpoint/checkpoint_write.h"
#include "server/checkpoint/trace_replay.h"
#include "server/run/activity_store.h"
#include "server/run/cpu_placement.h"
#include "server/timing/cpu_states.h"
#include "tests/unit/session_program.h"
#include "tests/unit/unit.h"
#include "wire/message.h"
#include "wire/profile_snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS 60000u
#define STEPS 5u
#define KEEP ((uint64_t)512 << 10)

static char directory[] = "/tmp/poet-unit.XXXXXX", path[64];

struct live {
    struct run *run;
    struct program_session *session;
    uint64_t ns;
};

static void append(struct live *live, struct chunk chunk)
{
    tracefile_append(live->run->trace, chunk);
    assert_true(tracefile_flush(live->run->trace));
    if (live->session)
        program_session_batch(live->session, tracefile_epoch(live->run->trace), false);
}

static void say(void *context, unsigned type, uint32_t thread, const void *data, size_t size)
{
    struct live *live = context;
    const char *why;
    append(live,
           (struct chunk){
               .kind = (uint16_t)type, .thread = thread, .data = data, .size = (uint32_t)size});
    if (type == MESSAGE_SLOTS)
        assert_true(
            program_session_decode_slots(live->session, thread, data, size / SLOT_BYTES, &why));
    else
        assert_true(program_session_decode_message(live->session, type, thread, data, size, &why));
    checkpoint_poll(live->run);
    checkpoint_step(live->run, (struct loop_share){0});
}

static struct live begin(uint64_t keep)
{
    char *used;
    struct live live = {.ns = 2000};
    struct encoder hello = {0};
    struct hello_message said;
    unlink(path);
    live.run = run_new("test@1", 1, tracefile_create(path, "test@1", &used));
    free(used);
    live.run->status.live = true;
    checkpoint_begin(live.run, keep);
    put_test_hello(&hello);
    struct decoder in = decoder_init(hello.data, hello.size);
    assert_true(hello_message_decode(&in, &said));
    struct chunk session = {
        .kind = CHUNK_SESSION, .data = hello.data, .size = (uint32_t)hello.size};
    append(&live, session);
    live.session = program_session_new(live.run, 0, &said);
    run_fact(live.run, session);
    hello_message_free(&said);
    encoder_free(&hello);
    test_program(say, &live, 0);
    return live;
}

/* Sends a record of the thread, with STEPS steps. */
static void record(struct live *live, uint64_t number)
{
    struct {
        struct ring_slot slot;
        struct activity_record head;
        struct code_segment steps[STEPS];
        char rest[SLOT_BYTES];
    } all = {.slot = {.shape = 1,
                      .flags = SLOT_MEASURED,
                      .payload_bytes = sizeof all.head + sizeof all.steps,
                      .time_ns = live->ns += 100,
                      .line_a = 1,
                      .number_a = number},
             .head = {.what = ACTIVITY_STEPS, .count = STEPS}};
    for (unsigned i = 0; i < STEPS; i++)
        all.steps[i] = (struct code_segment){i, 1, number * 7919 % 17 + i};
    say(live, MESSAGE_SLOTS, 1, &all, SLOT_BYTES * (1 + slot_follow(all.slot.payload_bytes)));
}

/* ---- call records and context switches ---- */

#define PERIOD 100u /* events between two moments at which these are recorded */

static uint64_t moments; /* number of moments recorded */

/* Writes and decodes a chunk as server/connections/journal_reader.c does. */
static void tell_entries(struct live *live, const struct encoder *body)
{
    struct chunk chunk = {
        .kind = CHUNK_ENTRIES, .thread = 1, .data = body->data, .size = (uint32_t)body->size};
    const char *why;
    append(live, chunk);
    assert_true(program_session_decode_calls(live->session, 1, body->data, body->size, &why));
    run_fact(live->run, chunk);
}

/* Context 1 is open from the first moment on; at each moment a call of 2 begins and one of 3 in
 * it, and at the next moment both end. */
static void tell_calls(struct live *live)
{
    struct encoder body = {0};
    uint64_t last = live->ns;
    encode_call_records_head(&body, last);
    if (!moments)
        encode_call_record(
            &body, &last,
            &(struct call_record){.is = CALL_RECORD_BEGINS, .context = 1, .time_ns = last});
    for (unsigned i = 0; i < 2 && moments; i++)
        encode_call_record(&body, &last,
                           &(struct call_record){.is = CALL_RECORD_ENDED, .time_ns = last});
    for (unsigned i = 0; i < 2; i++)
        encode_call_record(&body, &last,
                           &(struct call_record){.is = CALL_RECORD_BEGINS,
                                                 .context = 2 + i,
                                                 .time_ns = live->ns + i});
    tell_entries(live, &body);
    encoder_free(&body);
}

/* Records that the thread was switched in, and out after 10 ns. */
static void tell_switches(struct live *live)
{
    struct encoder body = {0};
    const char *why;
    encode_u64(&body, 0);
    encode_u64(&body, live->ns);
    encode_u32(&body, 2);
    encode_varint(&body, 1);
    encode_varint(&body, SWITCH_ON);
    encode_varint(&body, 1);
    encode_varint(&body, 10u << 2 | SWITCH_ASLEEP);
    encode_string(&body, "");
    encode_varint(&body, 0);
    encode_varint(&body, 0);
    append(live,
           (struct chunk){.kind = CHUNK_SWITCHES, .data = body.data, .size = (uint32_t)body.size});
    assert_true(program_session_decode_switches(live->session, body.data, body.size, &why));
    encoder_free(&body);
}

static void moment(struct live *live)
{
    tell_calls(live);
    tell_switches(live);
    moments++;
}

static void count_turn(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns)
{
    uint64_t *ran_ns = context;
    *ran_ns += is == CPU_STATE_RUNNING ? (uint64_t)(to_ns - from_ns) : 0;
}

/* Checks that no call record is missing after the first, and that the calls open before it are
 * known. Returns the time of the first call of context 2. */
static uint64_t calls_of(const struct run *run)
{
    const struct call_entries_thread *t = call_entries_for_thread(&run->entries, 0, 1);
    assert_non_null(t);
    struct call_entries_walk walk = call_entries_walk(t, 0);
    struct call_entry_seen seen;
    uint64_t first_ns = 0, depth = walk.open_count, twos = 0, last_ns = 0;
    while (call_entries_next(&walk, &seen)) {
        if (seen.entry.is == CALL_RECORD_ENDED) {
            assert_int_equal(seen.entry.context, depth); /* contexts 1, 2, 3 are nested */
            assert_true(seen.began_ns && seen.began_ns <= seen.entry.time_ns);
            depth--;
            continue;
        }
        assert_int_equal(seen.entry.context, ++depth);
        if (seen.entry.context != 2)
            continue;
        assert_true(!last_ns || seen.entry.time_ns - last_ns == 100ull * PERIOD);
        first_ns = twos++ ? first_ns : seen.entry.time_ns;
        last_ns = seen.entry.time_ns;
    }
    assert_int_equal(depth, 3);
    assert_int_equal(walk.open[0].context, 1);
    assert_int_equal(walk.open[0].began_ns, 2100);
    call_entries_walk_end(&walk);
    assert_int_equal(last_ns, 2000 + 100 * (EVENTS - PERIOD + 1));
    return first_ns;
}

/* Returns how long the thread ran from a time on, according to its switches. */
static uint64_t switches_from(const struct run *run, uint64_t ns)
{
    struct thread_timeline course = {.thread = 1};
    struct cpu_state_walk walk = {.most = CPU_SOURCE_SWITCHES};
    uint64_t ran_ns = 0;
    int64_t from_ns = (int64_t)ns - (int64_t)run->clock.start_ns;
    assert_int_equal(cpu_states_best(cpu_placement_states(run), 1, CPU_SOURCE_ORDER),
                     CPU_SOURCE_SWITCHES);
    cpu_states_visit(cpu_placement_states(run), &course, &walk, from_ns,
                     from_ns + 100 * (int64_t)EVENTS, count_turn, &ran_ns);
    return ran_ns;
}

static void end(struct live *live)
{
    struct chunk hangup = {.kind = CHUNK_HANGUP};
    append(live, hangup);
    run_fact(live->run, hangup);
    program_session_close(live->session);
    live->session = NULL;
    while (!checkpoint_finish(live->run, (struct loop_share){0}))
        ;
    append(live, (struct chunk){.kind = CHUNK_END, .data = (uint8_t[8]){0}, .size = 8});
}

static struct run *read_again(void)
{
    const char *why = NULL;
    struct run *run = trace_replay(path, &why);
    if (!run)
        fail_msg("%s", why);
    return run;
}

static void is_span(const struct run *run, const struct activity_span *span)
{
    assert_int_equal(span->count, STEPS);
    for (unsigned i = 0; i < STEPS; i++)
        assert_int_equal(activity_steps(run, 1, span)[i].ticks, span->at.number * 7919 % 17 + i);
}

/* Checks all spans from the first that is kept to the last. Returns the number of the first one's
 * event. */
static uint64_t first_of(const struct run *run)
{
    uint64_t at = activity_first(run, 1);
    const struct activity_span *span = activity_span(run, 1, at);
    assert_non_null(span);
    uint64_t first = span->at.number;
    for (uint64_t number = first; number <= EVENTS; number++, at++) {
        span = activity_span(run, 1, at);
        assert_non_null(span);
        assert_int_equal(span->at.number, number);
        is_span(run, span);
    }
    assert_null(activity_span(run, 1, at));
    return first;
}

/* Writes a run. Returns the maximum size of the file, without freed regions. */
static uint64_t write_all(uint64_t keep)
{
    struct live live = begin(keep);
    uint64_t most = 0;
    moments = 0;
    for (uint64_t number = 1; number <= EVENTS; number++) {
        record(&live, number);
        if (number % PERIOD == 1)
            moment(&live);
        uint64_t now = tracefile_kept(live.run->trace);
        most = now > most ? now : most;
    }
    if (keep) { /* memory is freed, too */
        assert_true(call_entries_for_thread(&live.run->entries, 0, 1)->count < moments / 2);
        assert_true(calls_of(live.run) > 2100);
        /* switches are not discarded */
        assert_int_equal(switches_from(live.run, 2100), 10 * moments);
    }
    end(&live);
    run_free(live.run);
    return most;
}

static void all_of_it_where_nothing_is_forgotten(void **state)
{
    (void)state;
    write_all(0);
    struct run *run = read_again();
    if (run->file.damage)
        fail_msg("%s", run->file.damage);
    assert_int_equal(first_of(run), 1);
    assert_int_equal(calls_of(run), 2100);
    assert_int_equal(switches_from(run, 2100), 10 * moments);
    run_free(run);
}

static void what_goes_with_its_events(void **state)
{
    (void)state;
    uint64_t most = write_all(KEEP);
    assert_true(most < 2 * KEEP);
    struct run *run = read_again();
    if (run->file.damage)
        fail_msg("%s", run->file.damage);
    uint64_t first = first_of(run), kept = order_first(run->order);
    assert_true(kept > EVENTS / 2);
    assert_true(first <= kept + BLOCK_EVENTS + 200 && first + 5000 > kept);
    uint64_t calls = calls_of(run), kept_ns = 2000 + 100 * kept;
    assert_true(calls <= kept_ns + 200 * PERIOD && calls + 100 * 5000 > kept_ns);
    assert_int_equal(switches_from(run, 2100), 10 * moments);
    run_free(run);
}

/* Unreadable records are reported, and the rest is read. */
static void a_damaged_part_is_told(void **state)
{
    (void)state;
    struct live live = begin(0);
    struct run *run = live.run;
    uint64_t place = tracefile_put(run->trace, CHUNK_PART, "nothing of the kind", 19);
    uint8_t body[16] = {0};
    chunk_set_u64(body, place);
    chunk_set_u64(body + 8, 1);
    run_fact(run, (struct chunk){.kind = CHUNK_PASSED, .data = body, .size = sizeof body});
    for (uint64_t number = 1; number <= EVENTS / 10; number++)
        record(&live, number);
    end(&live);
    run_free(run);
    run = read_again();
    assert_non_null(run->file.damage);
    assert_non_null(strstr(run->file.damage, "unreadable records"));
    assert_non_null(activity_span(run, 1, 0));
    run_free(run);
}

/* An error is not hidden by readable records that follow it. */
static void trouble_is_not_forgotten(void **state)
{
    (void)state;
    struct live live = begin(0);
    struct encoder switches = {0};
    encode_u64(&switches, 0);
    encode_u64(&switches, 2000);
    encode_u32(&switches, 0);
    encode_string(&switches, "");
    append(&live, (struct chunk){.kind = CHUNK_STEPS, .data = (const uint8_t *)"no", .size = 2});
    append(&live, (struct chunk){.kind = CHUNK_SWITCHES,
                                 .data = switches.data,
                                 .size = (uint32_t)switches.size});
    encoder_free(&switches);
    end(&live);
    run_free(live.run);
    struct run *run = read_again();
    assert_non_null(run->file.damage);
    run_free(run);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/a.poet", directory);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_where_nothing_is_forgotten),
        cmocka_unit_test(what_goes_with_its_events),
        cmocka_unit_test(a_damaged_part_is_told),
        cmocka_unit_test(trouble_is_not_forgotten),
    };
    return cmocka_run_group_tests_name("passing", tests, set_up, clean_up);
}
