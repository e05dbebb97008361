/* What threads did between their events, in a file: there as long as the events are, and no longer (--keep). */
#define _GNU_SOURCE
#include "memory/memory.h"
#include "server/file/replay.h"
#include "server/file/saving.h"
#include "server/run/did.h"
#include "tests/unit/program.h"
#include "tests/unit/unit.h"
#include "wire/sums.h"
#include "wire/varied.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define step interval_step /* (slots have another one of that name) */
#include "server/measure/spans.h"
#undef step

#define EVENTS 60000u
#define STEPS 5u
#define KEEP ((uint64_t)512 << 10)

static char directory[] = "/tmp/poet-unit.XXXXXX", path[64];

struct live {
    struct run *run;
    struct session *session;
    uint64_t ns;
};

static void append(struct live *live, struct chunk chunk)
{
    tracefile_append(live->run->trace, chunk);
    assert_true(tracefile_flush(live->run->trace));
    if (live->session)
        session_batch(live->session, tracefile_epoch(live->run->trace), false);
}

static void say(void *context, unsigned type, uint32_t thread, const void *data, size_t size)
{
    struct live *live = context;
    const char *why;
    append(live,
           (struct chunk){
               .kind = (uint16_t)type, .thread = thread, .data = data, .size = (uint32_t)size});
    if (type == MESSAGE_SLOTS)
        assert_true(session_slots(live->session, thread, data, size / SLOT_BYTES, &why));
    else
        assert_true(session_message(live->session, type, thread, data, size, &why));
    saving_poll(live->run);
    saving_go_on(live->run, (struct share){0});
}

static struct live begin(uint64_t keep)
{
    char *used;
    struct live live = {.ns = 2000};
    struct out hello = {0};
    struct hello said;
    unlink(path);
    live.run = run_new("test@1", 1, tracefile_create(path, "test@1", &used));
    free(used);
    live.run->live = true;
    saving_begin(live.run, keep);
    put_test_hello(&hello);
    struct in in = in_from(hello.data, hello.size);
    assert_true(hello_read(&in, &said));
    struct chunk session = {
        .kind = CHUNK_SESSION, .data = hello.data, .size = (uint32_t)hello.size};
    append(&live, session);
    live.session = session_new(live.run, 0, &said);
    run_fact(live.run, session);
    hello_free(&said);
    out_free(&hello);
    test_program(say, &live, 0);
    return live;
}

/* A record of the thread, which tells of so many steps. */
static void record(struct live *live, uint64_t number)
{
    struct {
        struct slot slot;
        struct measured_head head;
        struct measured_step steps[STEPS];
        char rest[SLOT_BYTES];
    } all = {.slot = {.shape = 1,
                      .flags = SLOT_MEASURED,
                      .payload_bytes = sizeof all.head + sizeof all.steps,
                      .time_ns = live->ns += 100,
                      .line_a = 1,
                      .number_a = number},
             .head = {.what = MEASURED_STEPS, .count = STEPS}};
    for (unsigned i = 0; i < STEPS; i++)
        all.steps[i] = (struct measured_step){i, 1, number * 7919 % 17 + i};
    say(live, MESSAGE_SLOTS, 1, &all, SLOT_BYTES * (1 + slot_follow(all.slot.payload_bytes)));
}

/* ---- calls and switches ---- */

#define PERIOD 100u /* events between two that are told of */

static uint64_t moments; /* that were told */

/* What the journal has, as server/peers/telling.c takes it. */
static void tell_entries(struct live *live, const struct out *body)
{
    struct chunk chunk = {
        .kind = CHUNK_ENTRIES, .thread = 1, .data = body->data, .size = (uint32_t)body->size};
    const char *why;
    append(live, chunk);
    assert_true(session_entries(live->session, 1, body->data, body->size, &why));
    run_fact(live->run, chunk);
}

/* Context 1 is open all the time, from the first moment on; in each one of 2 begins and one of 3 in it, and at the next
 * one both end. */
static void tell_calls(struct live *live)
{
    struct out body = {0};
    uint64_t last = live->ns;
    put_entries_head(&body, last);
    if (!moments)
        put_entry(&body, &last, &(struct entry){.is = ENTRY_BEGINS, .context = 1, .time_ns = last});
    for (unsigned i = 0; i < 2 && moments; i++)
        put_entry(&body, &last, &(struct entry){.is = ENTRY_ENDED, .time_ns = last});
    for (unsigned i = 0; i < 2; i++)
        put_entry(&body, &last,
                  &(struct entry){.is = ENTRY_BEGINS, .context = 2 + i, .time_ns = live->ns + i});
    tell_entries(live, &body);
    out_free(&body);
}

/* It goes on a processor and off it. */
static void tell_switches(struct live *live)
{
    struct out body = {0};
    const char *why;
    put_u64(&body, 0);
    put_u64(&body, live->ns);
    put_u32(&body, 2);
    put_varied(&body, 1);
    put_varied(&body, SWITCHED_ON);
    put_varied(&body, 1);
    put_varied(&body, 10u << 2 | SWITCHED_ASLEEP);
    put_string(&body, "");
    append(live,
           (struct chunk){.kind = CHUNK_SWITCHES, .data = body.data, .size = (uint32_t)body.size});
    assert_true(session_switched(live->session, body.data, body.size, &why));
    out_free(&body);
}

static void moment(struct live *live)
{
    tell_calls(live);
    tell_switches(live);
    moments++;
}

static void count_turn(void *context, enum span_is is, int64_t from_ns, int64_t to_ns)
{
    uint64_t *ran_ns = context;
    *ran_ns += is == SPAN_RUNNING ? (uint64_t)(to_ns - from_ns) : 0;
}

/* From the first that is there on nothing is missing; what was open then is known; when that is. */
static uint64_t calls_of(const struct run *run)
{
    const struct entries_thread *t = entries_of(&run->entries, 0, 1);
    assert_non_null(t);
    struct entries_walk walk = entries_walk(t, 0);
    struct entry_seen seen;
    uint64_t first_ns = 0, depth = walk.open_count, twos = 0, last_ns = 0;
    while (entries_next(&walk, &seen)) {
        if (seen.entry.is == ENTRY_ENDED) {
            assert_int_equal(seen.entry.context, depth); /* those of 1, 2, 3 lie in each other */
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
    entries_walk_end(&walk);
    assert_int_equal(last_ns, 2000 + 100 * (EVENTS - PERIOD + 1));
    return first_ns;
}

/* How long the thread ran from then on, by its switches. */
static uint64_t switches_from(const struct run *run, uint64_t ns)
{
    struct course_of course = {.thread = 1};
    struct spans_walk walk = {.most = SPANS_SWITCHES};
    uint64_t ran_ns = 0;
    int64_t from_ns = (int64_t)ns - (int64_t)run->start_ns;
    assert_int_equal(spans_best(run->spans, 1, SPANS_ORDER), SPANS_SWITCHES);
    spans_visit(run->spans, &course, &walk, from_ns, from_ns + 100 * (int64_t)EVENTS, count_turn,
                &ran_ns);
    return ran_ns;
}

static void end(struct live *live)
{
    struct chunk hangup = {.kind = CHUNK_HANGUP};
    append(live, hangup);
    run_fact(live->run, hangup);
    session_hangup(live->session);
    live->session = NULL;
    while (!saving_finish(live->run, (struct share){0}))
        ;
    append(live, (struct chunk){.kind = CHUNK_END});
}

static struct run *read_again(void)
{
    const char *why = NULL;
    struct run *run = replay(path, &why);
    if (!run)
        fail_msg("%s", why);
    return run;
}

static void is_span(const struct run *run, const struct did_span *span)
{
    assert_int_equal(span->count, STEPS);
    for (unsigned i = 0; i < STEPS; i++)
        assert_int_equal(did_steps(run, 1, span)[i].ticks, span->at.number * 7919 % 17 + i);
}

/* All spans from the first that is kept to the last; the number of its event. */
static uint64_t first_of(const struct run *run)
{
    uint64_t at = did_first(run, 1);
    const struct did_span *span = did_span(run, 1, at);
    assert_non_null(span);
    uint64_t first = span->at.number;
    for (uint64_t number = first; number <= EVENTS; number++, at++) {
        span = did_span(run, 1, at);
        assert_non_null(span);
        assert_int_equal(span->at.number, number);
        is_span(run, span);
    }
    assert_null(did_span(run, 1, at));
    return first;
}

/* How long the file was at most, without what was given back. */
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
    if (keep) { /* nor does it stay in memory */
        assert_true(entries_of(&live.run->entries, 0, 1)->count < moments / 2);
        assert_true(calls_of(live.run) > 2100);
        assert_int_equal(switches_from(live.run, 2100), 10 * moments); /* they do not go */
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
    if (run->damage)
        fail_msg("%s", run->damage);
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
    if (run->damage)
        fail_msg("%s", run->damage);
    uint64_t first = first_of(run), kept = order_first(run->order);
    assert_true(kept > EVENTS / 2);
    assert_true(first <= kept + BLOCK_EVENTS + 200 && first + 5000 > kept);
    uint64_t calls = calls_of(run), kept_ns = 2000 + 100 * kept;
    assert_true(calls <= kept_ns + 200 * PERIOD && calls + 100 * 5000 > kept_ns);
    assert_int_equal(switches_from(run, 2100), 10 * moments);
    run_free(run);
}

/* Parts that cannot be read are said to be, and the rest is there. */
static void a_damaged_part_is_told(void **state)
{
    (void)state;
    struct live live = begin(0);
    struct run *run = live.run;
    uint64_t place = tracefile_put(run->trace, CHUNK_PART, "nothing of the kind", 19);
    uint8_t body[16] = {0};
    set_u64(body, place);
    set_u64(body + 8, 1);
    run_fact(run, (struct chunk){.kind = CHUNK_PASSED, .data = body, .size = sizeof body});
    for (uint64_t number = 1; number <= EVENTS / 10; number++)
        record(&live, number);
    end(&live);
    run_free(run);
    run = read_again();
    assert_non_null(run->damage);
    assert_non_null(strstr(run->damage, "facts that cannot be read"));
    assert_non_null(did_span(run, 1, 0));
    run_free(run);
}

/* What came well after it does not hide that something could not be read. */
static void trouble_is_not_forgotten(void **state)
{
    (void)state;
    struct live live = begin(0);
    struct out switches = {0};
    put_u64(&switches, 0);
    put_u64(&switches, 2000);
    put_u32(&switches, 0);
    put_string(&switches, "");
    append(&live, (struct chunk){.kind = CHUNK_STEPS, .data = (const uint8_t *)"no", .size = 2});
    append(&live, (struct chunk){.kind = CHUNK_SWITCHES,
                                 .data = switches.data,
                                 .size = (uint32_t)switches.size});
    out_free(&switches);
    end(&live);
    run_free(live.run);
    struct run *run = read_again();
    assert_non_null(run->damage);
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
