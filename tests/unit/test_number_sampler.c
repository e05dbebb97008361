/* Numbers that are sampled from files and from the output of commands. */
#define _GNU_SOURCE
#include "clients/cli/number_sampler.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void reads(const char *text, long long thousandths)
{
    long long is = -1;
    assert_true(number_sampler_parse(text, &is));
    assert_int_equal(is, thousandths);
}

static void the_first_number_of_a_text_is_read(void **state)
{
    (void)state;
    reads("0", 0);
    reads("42\n", 42000);
    reads("MemFree:   1024 kB\nCached: 5 kB\n", 1024000);
    reads("load 0.25 0.5", 250);
    reads("about .5 of it", 500);
    reads("1.5e3", 1500000);
    reads("ends with 7", 7000);
    reads("3-4", 3000);
}

static void thousandths_are_rounded_to_the_nearest(void **state)
{
    (void)state;
    reads("0.0004", 0);
    reads("0.0006", 1);
    reads("-0.0006", -1);
    reads("12.3456", 12346);
}

static void a_sign_belongs_to_the_number_where_it_begins_a_word(void **state)
{
    (void)state;
    reads("-5", -5000);
    reads("+5", 5000);
    reads("t=-5", -5000);
    reads("t: -.5", -500);
    reads("(-1.5)", -1500);
    reads("cpu-5", 5000);
    reads("a-.5", 500);
    reads("--5", 5000);
}

static void what_has_no_number_in_range_is_rejected(void **state)
{
    static const char *const none[] = {"", "no number", "-", ".", "nan", "inf", "1e300", "-1e16"};
    long long value = 17;
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(number_sampler_parse(none[i], &value));
    assert_int_equal(value, 17);
    reads("9000000000000000", 9000000000000000000);
    reads("-9000000000000000", -9000000000000000000);
}

/* ---- files ---- */

static char directory[] = "/tmp/sampler.XXXXXX", path[64];

static int begin(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/sampled", mkdtemp(directory) ? directory : "");
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(directory);
}

static void write_file(const char *bytes, size_t size)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void a_file_is_read_anew_each_time(void **state)
{
    struct error error = {""};
    long long value;
    (void)state;
    write_file("12 34\n", 6);
    assert_true(number_sampler_read_file(path, &value, &error));
    assert_int_equal(value, 12000);
    write_file("5", 1);
    assert_true(number_sampler_read_file(path, &value, &error));
    assert_int_equal(value, 5000);
}

static void a_file_without_a_number_is_an_error(void **state)
{
    struct error error = {""};
    long long value;
    (void)state;
    write_file("", 0);
    assert_false(number_sampler_read_file(path, &value, &error));
    assert_string_equal(error.text, "no number found");
    write_file("a\0005", 3); /* the text ends at the zero */
    assert_false(number_sampler_read_file(path, &value, &error));
    assert_false(number_sampler_read_file(directory, &value, &error));
    assert_string_equal(error.text, strerror(EISDIR));
    unlink(path);
    assert_false(number_sampler_read_file(path, &value, &error));
    assert_string_equal(error.text, strerror(ENOENT));
}

static void a_file_without_a_writer_is_not_awaited(void **state)
{
    struct error error = {""};
    long long value;
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(number_sampler_read_file(path, &value, &error));
    assert_string_equal(error.text, "no number found");
    unlink(path);
}

/* ---- commands ---- */

static const volatile int never_stopped = 0, stopped = 1;

static void the_output_of_a_command_is_read(void **state)
{
    struct error error = {""};
    long long value;
    (void)state;
    assert_true(number_sampler_run_command("echo queue: 17", &value, &never_stopped, &error));
    assert_int_equal(value, 17000);
    /* more than is kept, behind the number; and standard input is empty */
    assert_true(number_sampler_run_command("cat; echo 3; head -c 200000 /dev/zero", &value,
                                           &never_stopped, &error));
    assert_int_equal(value, 3000);
}

static void a_command_that_fails_is_an_error(void **state)
{
    static const struct {
        const char *command, *error;
    } all[] = {{"echo 5; exit 3", "exited with status 3"},
               {"echo 5; kill -9 $$", "killed by signal 9"},
               {"echo nothing", "no number found"},
               {"true", "no number found"}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct error error = {""};
        long long value;
        assert_false(number_sampler_run_command(all[i].command, &value, &never_stopped, &error));
        assert_string_equal(error.text, all[i].error);
    }
}

static void a_command_is_killed_when_stopped(void **state)
{
    struct error error = {""};
    long long value;
    (void)state;
    assert_false(number_sampler_run_command("echo 5; sleep 1000", &value, &stopped, &error));
    assert_string_equal(error.text, "timed out and was killed");
}

static int pipe_fd;
static volatile int stopped_behind_output;

/* Stops when the output has been read to its end, and the pipe is closed. */
static void on_signal(int number)
{
    int saved = errno;
    (void)number;
    stopped_behind_output |= fcntl(pipe_fd, F_GETFD) < 0;
    errno = saved;
}

static void a_command_that_closed_its_output_is_killed_when_stopped(void **state)
{
    struct error error = {""};
    long long value;
    (void)state;
    pipe_fd = dup(STDIN_FILENO); /* the pipe gets the same number */
    close(pipe_fd);
    signal(SIGUSR1, on_signal);
    assert_false(number_sampler_run_command(
        "echo 5; exec >&-; i=0; while [ $i -lt 1000000 ]; do kill -USR1 $PPID; i=$((i+1)); done",
        &value, &stopped_behind_output, &error));
    assert_string_equal(error.text, "timed out and was killed");
    signal(SIGUSR1, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_number_of_a_text_is_read),
        cmocka_unit_test(thousandths_are_rounded_to_the_nearest),
        cmocka_unit_test(a_sign_belongs_to_the_number_where_it_begins_a_word),
        cmocka_unit_test(what_has_no_number_in_range_is_rejected),
        cmocka_unit_test(a_file_is_read_anew_each_time),
        cmocka_unit_test(a_file_without_a_number_is_an_error),
        cmocka_unit_test(a_file_without_a_writer_is_not_awaited),
        cmocka_unit_test(the_output_of_a_command_is_read),
        cmocka_unit_test(a_command_that_fails_is_an_error),
        cmocka_unit_test(a_command_is_killed_when_stopped),
        cmocka_unit_test(a_command_that_closed_its_output_is_killed_when_stopped),
    };
    return cmocka_run_group_tests_name("sampler", tests, begin, end);
}
