/* Annotations that users write at events: the file beside the trace, which is never overwritten if
 * damaged. */
#define _GNU_SOURCE
#include "clients/connection/note_file.h"
#include "tests/unit/unit.h"
#include "wire/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD "{\"poet_notes\":1,\"run\":\"work\",\"began_ns\":42}\n"
#define ONE "{\"event\":\"1:3\",\"text\":\"one\"}\n"

static char directory[] = "/tmp/poet-notes.XXXXXX", trace[64], file[80], state[64];

static int begin(void **unused)
{
    (void)unused;
    if (!mkdtemp(directory))
        return -1;
    snprintf(trace, sizeof trace, "%s/work.poet", directory);
    snprintf(file, sizeof file, "%s/work.poet-notes", directory);
    snprintf(state, sizeof state, "%s/state", directory);
    return setenv("XDG_STATE_HOME", state, 1);
}

static int end(void **unused)
{
    (void)unused;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static struct session source_of(char *run, uint64_t began_ns)
{
    return (struct session){
        .is_file = true, .name = trace, .book.run = {.name = run, .wall_ns = began_ns}};
}

static bool open_notes(struct note_file *notes, const char *run, uint64_t began_ns,
                       struct error *error)
{
    char name[16];
    snprintf(name, sizeof name, "%s", run);
    struct session source = source_of(name, began_ns);
    return note_file_open(notes, &source, error);
}

static void put_file(const char *text, size_t size)
{
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void file_is(const char *text, size_t size)
{
    char *got = malloc(size + 1);
    FILE *f = fopen(file, "r");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, size + 1, f), size);
    assert_memory_equal(got, text, size);
    fclose(f);
    free(got);
}

/* ---- valid files ---- */

static void what_was_written_is_read(void **unused)
{
    static const char *const texts[] = {"plain", "two\nlines",
                                        "\"quoted\" \\ / \xc3\xbc \xe2\x9c\x93", "</script>"};
    struct note_file notes;
    struct error error;
    (void)unused;
    assert_true(open_notes(&notes, "work", 42, &error));
    assert_int_equal(notes.count, 0);
    assert_null(note_file_file(&notes));
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(
            note_file_set(&notes, (struct event_id){i + 1, UINT64_MAX - i}, texts[i], &error),
            NOTES_BESIDE);
    note_file_free(&notes);
    assert_true(open_notes(&notes, "work", 42, &error));
    assert_int_equal(notes.count, 4);
    assert_string_equal(note_file_file(&notes), file);
    for (uint32_t i = 0; i < 4; i++) {
        /* in the order in which they were written */
        assert_int_equal(notes.items[i].at.line, i + 1);
        assert_string_equal(note_file_text(&notes, (struct event_id){i + 1, UINT64_MAX - i}),
                            texts[i]);
    }
    assert_null(note_file_text(&notes, (struct event_id){1, 1}));
    note_file_free(&notes);
}

static void one_takes_the_place_of_another_and_goes(void **unused)
{
    struct note_file notes;
    struct error error;
    const struct event_id at = {1, 3}, other = {2, 5};
    (void)unused;
    put_file(HEAD ONE, strlen(HEAD ONE));
    assert_true(open_notes(&notes, "work", 42, &error));
    assert_int_equal(note_file_set(&notes, at, "another", &error), NOTES_BESIDE);
    assert_int_equal(note_file_set(&notes, other, "more", &error), NOTES_BESIDE);
    assert_int_equal(notes.count, 2);
    assert_int_equal(note_file_set(&notes, at, NULL, &error), NOTES_BESIDE);
    assert_null(note_file_text(&notes, at));
    assert_string_equal(note_file_text(&notes, other), "more");
    assert_int_equal(note_file_set(&notes, other, NULL, &error), NOTES_BESIDE);
    assert_int_equal(access(file, F_OK), -1); /* removing the last one removes the file */
    note_file_free(&notes);
    note_file_free(&notes); /* a zeroed struct has no effect */
    note_file_free(NULL);
}

/* Two users write: each keeps what the other wrote in the meantime. */
static void what_others_wrote_meanwhile_stays(void **unused)
{
    struct note_file mine, theirs;
    struct error error;
    (void)unused;
    assert_true(open_notes(&mine, "work", 42, &error));
    assert_true(open_notes(&theirs, "work", 42, &error));
    assert_int_equal(note_file_set(&theirs, (struct event_id){2, 2}, "theirs", &error),
                     NOTES_BESIDE);
    assert_int_equal(note_file_set(&mine, (struct event_id){1, 1}, "mine", &error), NOTES_BESIDE);
    assert_int_equal(mine.count, 2);
    assert_string_equal(note_file_text(&mine, (struct event_id){2, 2}), "theirs");
    note_file_free(&theirs);
    note_file_free(&mine);
    unlink(file);
}

static void of_another_run(void **unused)
{
    static const struct {
        const char *run;
        uint64_t began_ns;
    } others[] = {{"work", 43}, {"other", 42}};
    (void)unused;
    for (int i = 0; i < 2; i++) {
        struct note_file notes;
        struct error error;
        put_file(HEAD ONE, strlen(HEAD ONE));
        assert_true(open_notes(&notes, others[i].run, others[i].began_ns, &error));
        assert_int_equal(notes.count, 0);
        assert_int_equal(note_file_set(&notes, (struct event_id){1, 3}, "mine", &error),
                         NOTES_ELSEWHERE);
        assert_memory_equal(note_file_file(&notes), state, strlen(state));
        file_is(HEAD ONE, strlen(HEAD ONE));
        note_file_free(&notes);
        assert_true(open_notes(&notes, others[i].run, others[i].began_ns, &error));
        assert_string_equal(note_file_text(&notes, (struct event_id){1, 3}), "mine");
        note_file_free(&notes);
    }
    unlink(file);
}

static void they_go_with_a_copy(void **unused)
{
    struct note_file notes;
    struct error error;
    char copy[100], beside[120];
    (void)unused;
    put_file(HEAD ONE, strlen(HEAD ONE));
    assert_true(open_notes(&notes, "work", 42, &error));
    snprintf(copy, sizeof copy, "%s/copy", directory);
    snprintf(beside, sizeof beside, "%s.poet-notes", copy); /* the name does not end in .poet */
    assert_true(note_file_copy(&notes, copy, &error));
    assert_int_equal(access(beside, F_OK), 0);
    note_file_forget(copy);
    assert_int_equal(access(beside, F_OK), -1);
    note_file_free(&notes);
    unlink(file);
}

/* ---- damage ---- */

/* Checks that the damage is reported with its line, and that the file stays unchanged, whatever is
 * written. */
static void is_told_and_left_alone(const char *text, size_t size, unsigned line, const char *why)
{
    struct note_file notes;
    struct error error = {0};
    char said[200];
    put_file(text, size);
    assert_false(open_notes(&notes, "work", 42, &error));
    snprintf(said, sizeof said, "%s:%u: %s", file, line, why);
    assert_string_equal(error.text, said);
    assert_int_equal(notes.count, 0);
    assert_int_equal(note_file_set(&notes, (struct event_id){1, 4}, "more", &error), NOTES_NOWHERE);
    assert_non_null(strstr(error.text, said));
    file_is(text, size);
    note_file_free(&notes);
    unlink(file);
}

static void a_damaged_file(void **unused)
{
    static const char json[] = "not a line of JSON", event[] = "invalid \"event\" (as in \"2:17\")",
                      text[] = "invalid \"text\" (at most 4096 bytes)", none[] = "not a note file";
    static const struct {
        const char *text;
        unsigned line;
        const char *why;
    } damaged[] = {
        {"", 1, none},
        {"{}\n", 1, none},
        {"{\"poet_notes\":\"1\",\"run\":\"work\",\"began_ns\":42}\n", 1, none},
        {"{\"poet_notes\":2}\n", 1, "note file of a newer Poet"},
        {"{\"poet_notes\":1}\n", 1, "the note file does not name its run"},
        {"{\"poet_notes\":1,\"run\":\"work\",\"began_ns\":\"42\"}\n", 1,
         "the note file does not name its run"},
        {HEAD "{\"event\":\"1:3\"", 2, json},
        {HEAD "\n", 2, json},
        {HEAD ONE "{\"event\":\"1:4\",\"text\":\"a\"}{}", 3, json},
        {HEAD "[1,2]\n", 2, json},
        {HEAD "{\"event\":\"1:3\",\"text\":\"\xff\xfe\"}\n", 2, json},
        {HEAD "{\"event\":\"1:3\",\"text\":\"a\",\"x\":[[[[[[[[[[[[[[[[\n", 2, json},
        {HEAD "{\"text\":\"a\"}\n", 2, event},
        {HEAD "{\"event\":\"1:3x\",\"text\":\"a\"}\n", 2, event},
        {HEAD "{\"event\":\"0:3\",\"text\":\"a\"}\n", 2, event},
        {HEAD "{\"event\":\"h1:3\",\"text\":\"a\"}\n", 2, event},
        {HEAD "{\"event\":7,\"text\":\"a\"}\n", 2, event},
        {HEAD "{\"event\":\"1:3\",\"text\":7}\n", 2, text},
        {HEAD "{\"event\":\"1:3\"}\n", 2, text},
        {HEAD "{\"event\":\"1:3\",\"text\":\"a\\u0000b\"}\n", 2, text},
        {HEAD ONE "{\"event\":\"1:3\",\"text\":\"two\"}\n", 3, "duplicate note for this event"}};
    (void)unused;
    for (unsigned i = 0; i < sizeof damaged / sizeof *damaged; i++)
        is_told_and_left_alone(damaged[i].text, strlen(damaged[i].text), damaged[i].line,
                               damaged[i].why);
    is_told_and_left_alone(HEAD "\0\n", sizeof HEAD "\0\n" - 1, 2, json);
}

/* A text of the maximum length is valid; one byte more is not. */
static void how_long_a_text_may_be(void **unused)
{
    (void)unused;
    for (size_t n = LIMIT_TEXT_BYTES; n <= LIMIT_TEXT_BYTES + 1; n++) {
        char *text = NULL;
        struct note_file notes;
        struct error error;
        char *words = malloc(n + 1);
        memset(words, 'w', n);
        words[n] = 0;
        int size = asprintf(&text, HEAD "{\"event\":\"1:3\",\"text\":\"%s\"}\n", words);
        if (n > LIMIT_TEXT_BYTES) {
            is_told_and_left_alone(text, (size_t)size, 2, "invalid \"text\" (at most 4096 bytes)");
        } else {
            put_file(text, (size_t)size);
            assert_true(open_notes(&notes, "work", 42, &error));
            assert_string_equal(note_file_text(&notes, (struct event_id){1, 3}), words);
            note_file_free(&notes);
        }
        free(words);
        free(text);
    }
    unlink(file);
}

/* A control character is stored as three bytes, so the limit applies to the stored text. */
static void a_text_that_grows(void **unused)
{
    struct note_file notes;
    struct error error;
    struct event_id at = {1, 3};
    char text[LIMIT_TEXT_BYTES / 3 + 2];
    (void)unused;
    memset(text, 1, sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_true(open_notes(&notes, "work", 42, &error));
    assert_int_equal(note_file_set(&notes, at, "short", &error), NOTES_BESIDE);
    assert_int_equal(note_file_set(&notes, at, text, &error), NOTES_REFUSED);
    assert_non_null(strstr(error.text, "at most 4096 bytes"));
    assert_string_equal(note_file_text(&notes, at), "short");
    text[sizeof text - 2] = 0;
    assert_int_equal(note_file_set(&notes, at, text, &error), NOTES_BESIDE);
    note_file_free(&notes);
    assert_true(open_notes(&notes, "work", 42, &error));
    assert_int_equal(strlen(note_file_text(&notes, at)), 3 * strlen(text));
    note_file_free(&notes);
    unlink(file);
}

/* A file that is larger than any valid one is not read; it is sparse. */
static void a_huge_file(void **unused)
{
    struct note_file notes;
    struct error error;
    (void)unused;
    put_file(HEAD, strlen(HEAD));
    assert_int_equal(truncate(file, (17 << 20)), 0);
    assert_false(open_notes(&notes, "work", 42, &error));
    assert_non_null(strstr(error.text, "too large for a note file"));
    assert_int_equal(note_file_set(&notes, (struct event_id){1, 1}, "x", &error), NOTES_NOWHERE);
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_size, 17 << 20);
    note_file_free(&notes);
    unlink(file);
}

/* Terminal control characters and bidirectional overrides are shown escaped. */
static void nothing_in_them_commands_a_terminal(void **unused)
{
    struct note_file notes;
    struct error error;
    (void)unused;
    put_file(HEAD "{\"event\":\"1:3\",\"text\":\"\\u001b[31mred\"}\n",
             strlen(HEAD "{\"event\":\"1:3\",\"text\":\"\\u001b[31mred\"}\n"));
    assert_true(open_notes(&notes, "work", 42, &error));
    assert_null(strchr(note_file_text(&notes, (struct event_id){1, 3}), '\033'));
    assert_non_null(strstr(note_file_text(&notes, (struct event_id){1, 3}), "[31mred"));
    note_file_free(&notes);
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(one_takes_the_place_of_another_and_goes),
        cmocka_unit_test(what_others_wrote_meanwhile_stays),
        cmocka_unit_test(of_another_run),
        cmocka_unit_test(they_go_with_a_copy),
        cmocka_unit_test(a_damaged_file),
        cmocka_unit_test(how_long_a_text_may_be),
        cmocka_unit_test(a_text_that_grows),
        cmocka_unit_test(a_huge_file),
        cmocka_unit_test(nothing_in_them_commands_a_terminal),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
