/* The trace file: truncated at every byte, with every byte changed, on a full disk. */
#define _GNU_SOURCE
#include "server/checkpoint/trace_replay.h"
#include "tests/unit/session_program.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define VISITS 20
#define EVENTS (3 * VISITS)

static char directory[] = "/tmp/poet-unit.XXXXXX";
static char path[64], other[64];

static void append(void *context, unsigned type, uint32_t thread, const void *data, size_t size)
{
    tracefile_append(context, (struct chunk){.kind = (uint16_t)type,
                                             .thread = thread,
                                             .data = data,
                                             .size = (uint32_t)size});
}

static int write_trace(void **state)
{
    (void)state;
    char *used;
    struct encoder hello = {0};
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/a.poet", directory);
    snprintf(other, sizeof other, "%s/b.poet", directory);
    struct tracefile *journal = tracefile_create(path, "test@1", &used);
    assert_non_null(journal);
    put_test_hello(&hello);
    append(journal, CHUNK_SESSION, 0, hello.data, hello.size);
    test_program(append, journal, VISITS);
    append(journal, CHUNK_HANGUP, 0, NULL, 0);
    append(journal, CHUNK_END, 0, (uint8_t[8]){0}, 8);
    assert_true(tracefile_flush(journal));
    tracefile_close(journal);
    free(used);
    encoder_free(&hello);
    return 0;
}

static int remove_trace(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return rmdir(directory);
}

static size_t read_file(uint8_t **bytes)
{
    struct stat st;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &st), 0);
    *bytes = malloc((size_t)st.st_size);
    assert_int_equal(fread(*bytes, 1, (size_t)st.st_size, f), st.st_size);
    fclose(f);
    return (size_t)st.st_size;
}

static void write_other(const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(other, "wb");
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void a_whole_file_gives_the_whole_run(void **state)
{
    (void)state;
    const char *why;
    struct run *run = trace_replay(path, &why);
    assert_non_null(run);
    struct order_figures f = order_figures(run->order);
    assert_int_equal(f.events, EVENTS);
    assert_int_equal(f.pending + f.lost + f.contradictions, 0);
    assert_null(run->file.damage);
    assert_false(run->file.unfinished);
    assert_string_equal(run->name, "test");
    assert_int_equal(order_compare(run->order, (struct event_id){1, 1}, (struct event_id){2, 1}),
                     ORDER_SAME);
    assert_int_equal(order_compare(run->order, (struct event_id){2, 1}, (struct event_id){1, 40}),
                     ORDER_BEFORE);
    run_free(run);
}

static void cut_at_every_byte_it_opens_or_says_why(void **state)
{
    (void)state;
    uint8_t *bytes;
    size_t size = read_file(&bytes);
    uint64_t last = 0;
    for (size_t cut = 0; cut < size; cut++) {
        const char *why = NULL;
        write_other(bytes, cut);
        struct run *run = trace_replay(other, &why);
        if (!run) {
            assert_true(cut < TRACEFILE_HEAD_BYTES && why);
            continue;
        }
        uint64_t events = order_figures(run->order).events;
        assert_true(events >= last && events <= EVENTS);
        assert_int_equal(order_figures(run->order).contradictions, 0);
        last = events;
        run_free(run);
    }
    assert_int_equal(last, EVENTS);
    free(bytes);
}

static void with_any_byte_flipped_it_never_answers_wrongly(void **state)
{
    (void)state;
    uint8_t *bytes;
    size_t size = read_file(&bytes);
    for (size_t i = 0; i < size; i++) {
        const char *why = NULL;
        bytes[i] ^= 0x41;
        write_other(bytes, size);
        bytes[i] ^= 0x41;
        struct run *run = trace_replay(other, &why);
        if (!run) {
            assert_true(i < TRACEFILE_HEAD_BYTES && why);
            continue;
        }
        if (i >= TRACEFILE_HEAD_BYTES)
            assert_non_null(run->file.damage);
        enum causal_relation p =
            order_compare(run->order, (struct event_id){1, 1}, (struct event_id){1, 2 * VISITS});
        assert_true(p == ORDER_BEFORE || p == ORDER_UNKNOWN);
        run_free(run);
    }
    free(bytes);
}

static void a_file_that_is_no_trace_is_refused(void **state)
{
    (void)state;
    const char *why = NULL;
    write_other(
        (const uint8_t
             *)"#!/bin/sh\necho hello, this is a shell script and no trace at all, really\n",
        74);
    assert_null(trace_replay(other, &why));
    assert_string_equal(why, "not a Poet trace file");
    assert_null(trace_replay("/nonexistent", &why));
    assert_string_equal(why, "No such file or directory");
}

static void a_file_of_another_version_is_refused(void **state)
{
    (void)state;
    const char *why = NULL;
    uint8_t head[TRACEFILE_HEAD_BYTES] = TRACEFILE_MAGIC;
    chunk_set_u32(head + 8, TRACEFILE_VERSION + 1);
    write_other(head, sizeof head);
    assert_null(trace_replay(other, &why));
    assert_string_equal(why, "written by a different version of Poet");
    memcpy(head, TRACEHEAD_FORMER_MAGIC, TRACEHEAD_MAGIC_BYTES);
    write_other(head, sizeof head);
    assert_null(trace_replay(other, &why));
    assert_string_equal(why, "written by an older version of Poet");
}

static void a_full_disk_keeps_what_was_complete(void **state)
{
    (void)state;
    char *used;
    struct rlimit before, limit;
    unlink(other);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    struct tracefile *journal = tracefile_create(other, "test@1", &used);
    struct encoder hello = {0};
    put_test_hello(&hello);
    append(journal, CHUNK_SESSION, 0, hello.data, hello.size);
    assert_true(tracefile_flush(journal));
    limit.rlim_cur = (rlim_t)(tracefile_kept(journal) + 500);
    setrlimit(RLIMIT_FSIZE, &limit);
    test_program(append, journal, VISITS);
    assert_false(tracefile_flush(journal));
    setrlimit(RLIMIT_FSIZE, &before);
    test_program(append, journal, VISITS); /* there is space again */
    assert_true(tracefile_flush(journal));
    tracefile_close(journal);
    const char *why;
    struct run *run = trace_replay(other, &why);
    assert_non_null(run);
    assert_null(run->file.damage);
    assert_int_equal(order_figures(run->order).events, EVENTS);
    run_free(run);
    free(used);
    encoder_free(&hello);
}

static void an_existing_file_is_not_overwritten(void **state)
{
    (void)state;
    char *used;
    struct tracefile *journal = tracefile_create(path, "test@1", &used);
    char second[64];
    snprintf(second, sizeof second, "%s/a-2.poet", directory);
    assert_string_equal(used, second);
    tracefile_close(journal);
    unlink(used);
    free(used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_gives_the_whole_run),
        cmocka_unit_test(cut_at_every_byte_it_opens_or_says_why),
        cmocka_unit_test(with_any_byte_flipped_it_never_answers_wrongly),
        cmocka_unit_test(a_file_that_is_no_trace_is_refused),
        cmocka_unit_test(a_file_of_another_version_is_refused),
        cmocka_unit_test(a_full_disk_keeps_what_was_complete),
        cmocka_unit_test(an_existing_file_is_not_overwritten),
    };
    return cmocka_run_group_tests_name("tracefile", tests, write_trace, remove_trace);
}
