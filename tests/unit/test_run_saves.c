/* A run that is saved while it grows: read at any moment, truncated, damaged, limited in size.
 * Built with regions and blocks so small that a few hundred events make many of them. */
#define _GNU_SOURCE
#include "server/checkpoint/checkpoint_write.h"
#include "server/checkpoint/trace_replay.h"
#include "tests/bench/workload.h"
#include "tests/unit/viewer_requests.h"
#include "tests/unit/session_program.h"
#include "wire/profile_region.h"
#include "wire/request.h"

#include <stdio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINES 6
#define EVENTS 1500

static char directory[] = "/tmp/poet-unit.XXXXXX";
static char path[64], other[64];

struct live { /* the server's side of one program */
    struct run *run;
    struct program_session *session;
    void (*when_full)(struct live *live); /* called if the disk is full; must free space */
};

static void say(struct live *live, unsigned type, uint32_t thread, const void *data, size_t size)
{
    const char *error = NULL;
    struct chunk chunk = {
        .kind = (uint16_t)type, .thread = thread, .data = data, .size = (uint32_t)size};
    tracefile_append(live->run->trace, chunk);
    if (!tracefile_flush(live->run->trace)) {
        assert_non_null(live->when_full);
        live->when_full(live);
        tracefile_append(live->run->trace, chunk);
        assert_true(tracefile_flush(live->run->trace));
    }
    program_session_batch(live->session, tracefile_epoch(live->run->trace), false);
    if (type == CHUNK_SUMS)
        assert_true(program_session_decode_profile(live->session, thread, data, size, &error));
    else if (type == MESSAGE_SLOTS)
        assert_true(
            program_session_decode_slots(live->session, thread, data, size / SLOT_BYTES, &error));
    else
        assert_true(
            program_session_decode_message(live->session, type, thread, data, size, &error));
    checkpoint_poll(live->run);
    checkpoint_step(live->run, (struct loop_share){0}); /* one step */
}

static struct live begin_on(const char *file, uint64_t keep, void (*when_full)(struct live *))
{
    struct live live = {.when_full = when_full};
    char *used;
    struct encoder hello = {0};
    struct hello_message said;
    unlink(file);
    struct tracefile *trace = tracefile_create(file, "test@1", &used);
    assert_non_null(trace);
    free(used);
    live.run = run_new("test@1", 1, trace);
    live.run->status.live = true;
    checkpoint_begin(live.run, keep);
    put_test_hello(&hello);
    struct decoder in = decoder_init(hello.data, hello.size);
    assert_true(hello_message_decode(&in, &said));
    live.session = program_session_new(live.run, 0, &said);
    hello_message_free(&said);
    struct chunk chunk = {.kind = CHUNK_SESSION, .data = hello.data, .size = (uint32_t)hello.size};
    tracefile_append(trace, chunk);
    run_fact(live.run, chunk);
    encoder_free(&hello);
    struct encoder out = {0};
    static const char *const types[] = {"note",  "send", "receive", "enter",
                                        "leave", "post", "taken"};
    for (uint16_t i = 0; i < 7; i++) {
        out.size = 0;
        encode_type(&out, &(struct type_message){.code = (uint16_t)(i + 1),
                                                 .name = text_view_of(types[i]),
                                                 .after_count = i == 6,
                                                 .after = {WORK_POST}});
        say(&live, MESSAGE_TYPE, 0, out.data, out.size);
    }
    for (uint32_t line = 1; line <= LINES; line++) {
        out.size = 0;
        put_test_line(&out, line, "task", "t");
        say(&live, MESSAGE_LINE, line, out.data, out.size);
    }
    encoder_free(&out);
    return live;
}

static struct live begin(const char *file, uint64_t keep) { return begin_on(file, keep, NULL); }

static void tell_event(struct live *live, const struct arrival *a)
{
    struct ring_slot slot = {.shape = (uint16_t)a->type,
                             .flags = (uint16_t)a->relation,
                             .time_ns = (uint64_t)a->time_ns + 1000,
                             .line_a = a->at.line,
                             .number_a = a->at.number};
    if (a->partner_count) {
        slot.line_b = a->partners[0].line;
        slot.number_b = a->partners[0].number;
    }
    say(live, MESSAGE_SLOTS, a->at.line, &slot, sizeof slot);
    if (a->at.number % 50 == 0) {
        struct encoder out = {0};
        encode_annotation(
            &out, &(struct annotation_message){a->at.line, a->at.number, text_view_of("fifty")});
        say(live, MESSAGE_ANNOTATION, 0, out.data, out.size);
        encoder_free(&out);
    }
}

static void end(struct live *live)
{
    struct chunk hangup = {.kind = CHUNK_HANGUP};
    tracefile_append(live->run->trace, hangup);
    tracefile_flush(live->run->trace);
    run_fact(live->run, hangup);
    program_session_close(live->session);
    while (!checkpoint_finish(live->run, (struct loop_share){0}))
        ;
    tracefile_append(live->run->trace,
                     (struct chunk){.kind = CHUNK_END, .data = (uint8_t[8]){0}, .size = 8});
    tracefile_flush(live->run->trace);
    run_free(live->run);
}

static struct workload *some_work(unsigned seed, double late)
{
    struct workload_options options = {
        .kind = UNIFORM, .lines = LINES, .seed = seed, .late = late, .lag = 200};
    return workload_new(&options);
}

static void write_whole(const char *file, unsigned seed, uint64_t keep, int events)
{
    struct live live = begin(file, keep);
    struct workload *w = some_work(seed, 0.2);
    struct happening h;
    for (int i = 0; i < events; i++) {
        workload_next(w, &h);
        tell_event(&live, &h.arrivals[0]);
    }
    while (workload_rest(w, &h))
        tell_event(&live, &h.arrivals[0]);
    workload_free(w);
    end(&live);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/a.poet", directory);
    snprintf(other, sizeof other, "%s/b.poet", directory);
    write_whole(path, 1, 0, EVENTS);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return rmdir(directory);
}

static struct run *open_run(const char *file)
{
    const char *why = NULL;
    struct run *run = trace_replay(file, &why);
    if (!run)
        fail_msg("%s: %s", file, why);
    return run;
}

/* Checks that both runs answer queries about events that both have in the same way. */
static void assert_same_answers(const struct run *a, const struct run *b, unsigned seed)
{
    unsigned state = seed;
    for (int i = 0; i < 300; i++) {
        struct event_id refs[2];
        for (int k = 0; k < 2; k++) {
            state = state * 1664525u + 1013904223u;
            refs[k].line = 1 + (state >> 16) % LINES;
            state = state * 1664525u + 1013904223u;
            refs[k].number = 1 + (state >> 8) % (EVENTS / LINES);
        }
        enum causal_relation p = order_compare(a->order, refs[0], refs[1]);
        enum causal_relation q = order_compare(b->order, refs[0], refs[1]);
        if (p != ORDER_UNKNOWN && q != ORDER_UNKNOWN)
            assert_int_equal(p, q);
    }
}

static void a_saved_file_gives_the_whole_run(void **state)
{
    (void)state;
    struct run *run = open_run(path);
    struct order_figures f = order_figures(run->order);
    assert_true(f.events >= EVENTS);
    assert_int_equal(f.pending + f.lost + f.contradictions + f.duplicates, 0);
    assert_null(run->file.damage);
    assert_false(run->file.unfinished);
    assert_true(run->annotations.count > 10);
    for (uint64_t p = 0; p < order_count(run->order); p++)
        assert_true(order_event(run->order, p).line != 0);
    run_free(run);
}

/* Records call sums of a thread in which one context has changed; it is described the first
 * time. */
static void tell_sums(struct live *live, uint32_t i)
{
    uint32_t thread = 1 + i % 3, index = i / 3 % 40;
    bool first = i / 3 < 40;
    struct encoder out = {0};
    encode_snapshot_head(&out, &(struct snapshot_head){.time_ns = 1000 + i, .enter_ps = 7});
    struct snapshot_context c = {.index = index,
                                 .is = {index ? index - 1 : 0, index,
                                        index % 2 ? SCOPE_POINT : SCOPE_WAITED, 1 + i % 7, i % 3},
                                 .calls = i,
                                 .real_ns = 10 * i,
                                 .least_ns = index,
                                 .most_ns = 3 * i};
    encode_snapshot_context(&out, UINT32_MAX, &c, first);
    say(live, CHUNK_SUMS, thread, out.data, out.size);
    encoder_free(&out);
}

static void assert_same_sums(const struct run *a, const struct run *b)
{
    assert_int_equal(a->contexts.count, b->contexts.count);
    for (uint32_t i = 0; i < a->contexts.count; i++) {
        const struct call_context_thread *theirs = &b->contexts.threads[i];
        const struct call_context_thread *ours = call_contexts_thread(
            (struct call_contexts *)(uintptr_t)&a->contexts, theirs->session, theirs->code);
        assert_int_equal(ours->count, theirs->count);
        assert_int_equal(ours->line, theirs->line);
        assert_int_equal(ours->head.time_ns, theirs->head.time_ns);
        for (size_t k = 0; k < ours->count; k++) {
            assert_memory_equal(&ours->items[k].sums, &theirs->items[k].sums,
                                sizeof ours->items[k].sums);
            assert_int_equal(ours->items[k].type, theirs->items[k].type);
        }
    }
}

/* A reader sees at any moment everything that was captured, as the server does; also after kill
 * -9, because nothing is written at the end. */
static void it_can_be_read_at_any_moment(void **state)
{
    (void)state;
    struct live live = begin(other, 0);
    struct workload *w = some_work(7, 0.3);
    struct happening h;
    unsigned readings = 0;
    for (int i = 0; i < EVENTS; i++) {
        workload_next(w, &h);
        tell_event(&live, &h.arrivals[0]);
        tell_sums(&live, (uint32_t)i);
        if (i % 23)
            continue;
        struct run *run = open_run(other);
        struct order_figures f = order_figures(run->order), g = order_figures(live.run->order);
        assert_null(run->file.damage);
        assert_true(run->file.unfinished);
        assert_int_equal(f.events, g.events);
        assert_int_equal(f.pending, g.pending);
        assert_int_equal(f.contradictions + f.lost, 0);
        assert_int_equal(run->annotations.count, live.run->annotations.count);
        assert_same_sums(run, live.run);
        if (i % 5 == 0)
            assert_same_answers(run, live.run, (unsigned)i);
        run_free(run);
        readings++;
    }
    assert_true(readings > 60);
    assert_true(tracefile_epoch(live.run->trace) > 10); /* it was saved often */
    while (workload_rest(w, &h))
        tell_event(&live, &h.arrivals[0]);
    workload_free(w);
    end(&live);
}

static size_t read_file(const char *file, uint8_t **bytes)
{
    struct stat st;
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &st), 0);
    *bytes = malloc((size_t)st.st_size);
    assert_int_equal(fread(*bytes, 1, (size_t)st.st_size, f), st.st_size);
    fclose(f);
    return (size_t)st.st_size;
}

static void write_file(const char *file, const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(file, "wb");
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

/* Processes all kinds of queries about a damaged run, and checks that no answer is wrong. */
static void look_at_all(const struct run *run, const struct run *whole)
{
    const struct query *all[] = {&query_dump, &query_waits, &query_stat, &query_window};
    struct encoder body = {0};
    struct window_request request = {
        .anchor = ANCHOR_FRACTION, .fraction = 0.5, .from = -20, .columns = 40, .fold = true};
    for (size_t i = 0; i < 4; i++) {
        body = (struct encoder){0};
        if (all[i] == &query_window)
            encode_window_request(&body, &request);
        struct encoder out = answer_to(run, all[i], body, 1000);
        encoder_free(&out);
    }
    assert_same_answers(run, whole, 3);
}

/* What a checkpoint contains is read again with the journal before it, but not counted twice. */
static void read_while_it_is_written_nothing_comes_twice(void **state)
{
    struct live live = begin(other, 0);
    struct workload *w = some_work(5, 0.2);
    struct happening h;
    (void)state;
    for (int i = 0; i < EVENTS; i++) {
        workload_next(w, &h);
        tell_event(&live, &h.arrivals[0]);
        if (i % 75)
            continue;
        struct run *run = open_run(other);
        struct order_figures f = order_figures(run->order);
        assert_int_equal(f.duplicates + f.contradictions, 0);
        assert_true(f.events + f.pending <= (uint64_t)i + 1);
        assert_true(run->file.unfinished && !run->file.damage);
        run_free(run);
    }
    while (workload_rest(w, &h))
        tell_event(&live, &h.arrivals[0]);
    workload_free(w);
    end(&live);
}

static void cut_anywhere_it_opens_or_says_why(void **state)
{
    (void)state;
    uint8_t *bytes;
    size_t size = read_file(path, &bytes);
    struct run *whole = open_run(path);
    for (size_t cut = 0; cut < size; cut += 1 + cut % 97) {
        const char *why = NULL;
        write_file(other, bytes, cut);
        struct run *run = trace_replay(other, &why);
        if (!run) {
            assert_non_null(why);
            continue;
        }
        if (cut < size - 200)
            assert_true(run->file.damage ||
                        run->file.unfinished || /* or nothing that belongs to it was cut off */
                        order_figures(run->order).events == order_figures(whole->order).events);
        look_at_all(run, whole);
        run_free(run);
    }
    run_free(whole);
    free(bytes);
}

static void with_a_byte_flipped_it_never_answers_wrongly(void **state)
{
    (void)state;
    uint8_t *bytes;
    size_t size = read_file(path, &bytes);
    struct run *whole = open_run(path);
    for (size_t i = 0; i < size; i += i < 200 ? 1 : 61) {
        const char *why = NULL;
        bytes[i] ^= 0x24;
        write_file(other, bytes, size);
        bytes[i] ^= 0x24;
        struct run *run = trace_replay(other, &why);
        if (!run) {
            assert_non_null(why);
            continue;
        }
        look_at_all(run, whole);
        run_free(run);
    }
    run_free(whole);
    free(bytes);
}

static void kept_up_to_a_size_it_forgets_the_oldest(void **state)
{
    (void)state;
    struct live live = begin(other, 80000);
    struct workload *w = some_work(11, 0);
    struct happening h;
    for (int i = 0; i < 4 * EVENTS; i++) {
        workload_next(w, &h);
        tell_event(&live, &h.arrivals[0]);
    }
    assert_true(order_first(live.run->order) > 0);
    assert_int_equal(
        order_compare(live.run->order, (struct event_id){1, 1}, (struct event_id){1, 2}),
        ORDER_UNKNOWN);
    struct run *run = open_run(other);
    /* the checkpoint that the discarding requires may not be written yet */
    while (order_first(run->order) != order_first(live.run->order)) {
        run_free(run);
        while (!checkpoint_step(live.run, (struct loop_share){0}))
            ;
        checkpoint_poll(live.run);
        run = open_run(other);
    }
    assert_null(run->file.damage);
    assert_int_equal(order_first(run->order), order_first(live.run->order));
    assert_int_equal(order_count(run->order), order_count(live.run->order));
    look_at_all(run, live.run);
    run_free(run);
    workload_free(w);
    end(&live);
}

/* ---- a full disk, simulated by a limit on the size of files ---- */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void assert_holds_all(const struct live *live)
{
    struct run *run = open_run(other);
    struct order_figures f = order_figures(run->order), g = order_figures(live->run->order);
    assert_null(run->file.damage);
    assert_int_equal(f.events, g.events);
    assert_int_equal(f.pending, g.pending);
    assert_int_equal(f.contradictions + f.lost, 0);
    run_free(run);
}

static unsigned times_full;

static void look_and_make_room(struct live *live)
{
    times_full++;
    assert_holds_all(live);
    for (int i = 0; i < 3; i++) { /* the file stays unchanged, however often it is tried */
        tracefile_append(
            live->run->trace,
            (struct chunk){.kind = CHUNK_END, .size = 5000, .data = (uint8_t[5000]){0}});
        assert_false(tracefile_flush(live->run->trace));
    }
    assert_holds_all(live);
    limit_files(RLIM_INFINITY);
}

/* Wherever the disk is full, the file contains everything that was captured, and continues once
 * there is space. */
static void a_disk_full_at_any_byte_loses_nothing(void **state)
{
    (void)state;
    struct stat st;
    stat(path, &st);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t bytes = 3000; bytes < (rlim_t)st.st_size; bytes += 1 + (rlim_t)st.st_size / 70) {
        unlink(other);
        limit_files(bytes);
        struct live live = begin_on(other, 0, look_and_make_room);
        struct workload *w = some_work(3, 0.3);
        struct happening h;
        for (int i = 0; i < EVENTS / 2; i++) {
            workload_next(w, &h);
            tell_event(&live, &h.arrivals[0]);
            if (i % 150 == 0)
                assert_holds_all(&live);
        }
        while (workload_rest(w, &h))
            tell_event(&live, &h.arrivals[0]);
        limit_files(RLIM_INFINITY);
        checkpoint_poll(live.run);
        assert_holds_all(&live);
        workload_free(w);
        end(&live);
    }
    assert_true(times_full > 20);
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* writes a file for the fuzzer's corpus */
        write_whole(argv[1], 1, 0, 200);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_file_gives_the_whole_run),
        cmocka_unit_test(it_can_be_read_at_any_moment),
        cmocka_unit_test(read_while_it_is_written_nothing_comes_twice),
        cmocka_unit_test(cut_anywhere_it_opens_or_says_why),
        cmocka_unit_test(with_a_byte_flipped_it_never_answers_wrongly),
        cmocka_unit_test(kept_up_to_a_size_it_forgets_the_oldest),
        cmocka_unit_test(a_disk_full_at_any_byte_loses_nothing),
    };
    return cmocka_run_group_tests_name("saving", tests, set_up, clean_up);
}
