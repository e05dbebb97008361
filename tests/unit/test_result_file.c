/* Results of requests that are saved beside a trace (server/queries/result_file.h): what is read is
 * what was written, or nothing. */
#define _GNU_SOURCE
#include "server/queries/result_file.h"

#include "base/alloc.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/poet-results.XXXXXX";
static struct result_file file = {.identity = 42, .mode = 0640};

static int begin(void **unused)
{
    (void)unused;
    if (!mkdtemp(directory))
        return -1;
    char *trace = xasprintf("%s/work.poet", directory);
    file.path = result_file_path(trace);
    free(trace);
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    unlink(file.path);
    free(file.path);
    return rmdir(directory);
}

static struct result_bytes of(const char *text)
{
    return (struct result_bytes){text, strlen(text)};
}

static void write_text(const char *key, const char *result)
{
    assert_true(result_file_write(&file, of(key), of(result)));
}

/* Reads the result of a key, for the caller to free; NULL: there is none. */
static char *text_of(const struct result_file *from, const char *key)
{
    size_t size = 0;
    char *text = (char *)result_file_read(from, of(key), &size);
    return text ? xreallocarray(text, (text[size] = 0, size + 1), 1) : NULL;
}

static void assert_text(const char *key, const char *wanted)
{
    char *text = text_of(&file, key);
    if (wanted)
        assert_string_equal(text ? text : "(none)", wanted);
    else
        assert_null(text);
    free(text);
}

static uint8_t *bytes_of_file(size_t *size)
{
    struct stat st;
    int fd = open(file.path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    uint8_t *bytes = xmalloc((size_t)st.st_size);
    assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
    close(fd);
    *size = (size_t)st.st_size;
    return bytes;
}

static void put_file(const uint8_t *bytes, size_t size)
{
    int fd = open(file.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

static void results_are_read_as_written(void **unused)
{
    struct stat st;
    (void)unused;
    assert_text("states", NULL);
    write_text("states", "running");
    write_text("waits", "");
    write_text("path", "long");
    assert_text("states", "running");
    assert_text("waits", "");
    assert_text("path", "long");
    assert_text("stat", NULL);
    write_text("states", "blocked");
    assert_text("states", "blocked");
    assert_text("path", "long");
    assert_int_equal(stat(file.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    unlink(file.path);
}

static void paths_are_beside_the_trace(void **unused)
{
    char *named = result_file_path("a/x.poet"), *other = result_file_path("trace");
    (void)unused;
    assert_string_equal(named, "a/x.poet-results");
    assert_string_equal(other, "trace.poet-results");
    free(named);
    free(other);
}

static void results_of_another_identity_count_as_absent(void **unused)
{
    struct result_file other = file;
    (void)unused;
    other.identity++;
    write_text("states", "running");
    assert_null(text_of(&other, "states"));
    assert_true(result_file_write(&other, of("waits"), of("long")));
    assert_text("states", NULL); /* and are replaced */
    assert_text("waits", NULL);
    unlink(file.path);
}

/* Cut off anywhere, the file has the results that are whole, and can be written again. */
static void truncated_files_have_whole_results(void **unused)
{
    size_t size;
    (void)unused;
    write_text("states", "running");
    struct stat first;
    assert_int_equal(stat(file.path, &first), 0);
    write_text("waits", "long");
    uint8_t *bytes = bytes_of_file(&size);
    for (size_t n = 0; n < size; n++) {
        put_file(bytes, n);
        assert_text("states", n >= (size_t)first.st_size ? "running" : NULL);
        assert_text("waits", NULL);
    }
    write_text("path", "short");
    assert_text("states", "running");
    assert_text("path", "short");
    free(bytes);
    unlink(file.path);
}

static void flipped_bits_give_no_wrong_result(void **unused)
{
    size_t size;
    (void)unused;
    write_text("states", "running");
    write_text("waits", "long");
    uint8_t *bytes = bytes_of_file(&size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        put_file(bytes, size);
        char *states = text_of(&file, "states"), *waits = text_of(&file, "waits");
        assert_true(!states || strcmp(states, "running") == 0);
        assert_null(waits); /* the flipped bit is in it, or before it */
        free(states);
        free(waits);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    put_file(bytes, size);
    assert_text("waits", "long");
    free(bytes);
    unlink(file.path);
}

static void oldest_results_are_dropped(void **unused)
{
    size_t size = RESULT_BYTES_MAX - 16;
    char *large = xmalloc(size + 1), key[] = "0";
    struct stat st;
    (void)unused;
    memset(large, 'x', size);
    large[size] = 0;
    for (; key[0] < '6'; key[0]++)
        assert_true(result_file_write(&file, of(key), (struct result_bytes){large, size}));
    assert_int_equal(stat(file.path, &st), 0);
    assert_true((size_t)st.st_size <= RESULT_FILE_BYTES_MAX);
    assert_text("0", NULL);
    assert_text("5", large);
    assert_text("4", large);
    assert_text("3", large);
    assert_false(result_file_write(&file, of("longer than sixteen"),
                                   (struct result_bytes){large, size})); /* too large for one */
    assert_text("5", large);
    free(large);
    unlink(file.path);
}

static void nothing_is_written_where_that_is_impossible(void **unused)
{
    struct result_file nowhere = {"/nowhere/work.poet-results", 42, 0600};
    char *path = xasprintf("%s.new", file.path);
    (void)unused;
    assert_false(result_file_write(&nowhere, of("states"), of("running")));
    assert_null(text_of(&nowhere, "states"));
    write_text("states", "running");
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600); /* another process writes it */
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_false(result_file_write(&file, of("waits"), of("long")));
    assert_text("states", "running");
    assert_int_equal(write(fd, "half", 4), 4);
    close(fd); /* and was killed */
    write_text("waits", "long");
    assert_text("states", "running");
    assert_text("waits", "long");
    assert_int_equal(access(path, F_OK), -1);
    unlink(file.path);
    assert_int_equal(mkdir(file.path, 0700), 0); /* a directory in its place */
    assert_false(result_file_write(&file, of("waits"), of("long")));
    assert_int_equal(access(path, F_OK), -1);
    assert_text("waits", NULL);
    rmdir(file.path);
    assert_int_equal(mkfifo(file.path, 0600), 0); /* does not block */
    assert_text("waits", NULL);
    unlink(file.path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_read_as_written),
        cmocka_unit_test(paths_are_beside_the_trace),
        cmocka_unit_test(results_of_another_identity_count_as_absent),
        cmocka_unit_test(truncated_files_have_whole_results),
        cmocka_unit_test(flipped_bits_give_no_wrong_result),
        cmocka_unit_test(oldest_results_are_dropped),
        cmocka_unit_test(nothing_is_written_where_that_is_impossible),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
