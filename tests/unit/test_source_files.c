/* Source files: where they are searched, and their lines as they are shown. */
#define _GNU_SOURCE
#include "clients/sourcefile/source_files.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/excerpts.XXXXXX", path[64];

static int begin(void **state)
{
    char sub[64];
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(sub, sizeof sub, "%s/sub", directory);
    snprintf(path, sizeof path, "%s/sub/a.c", directory);
    return mkdir(sub, 0700);
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    *strrchr(path, '/') = 0;
    rmdir(path);
    return rmdir(directory);
}

static void write_source(const char *bytes, size_t size)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void write_text(const char *text) { write_source(text, strlen(text)); }

/* ---- lines ---- */

/* Expects the lines of a file with that text; they end with NULL. */
static void has_lines(const char *text, const char *const *wanted)
{
    struct source_file_text file;
    uint32_t count = 0;
    write_text(text);
    source_files_read(&file, NULL, path);
    assert_null(file.problem);
    assert_true(file.changed_ns > 0);
    for (; wanted[count]; count++) {
        char *line = source_files_line(&file, count + 1);
        assert_string_equal(line, wanted[count]);
        free(line);
    }
    assert_int_equal(file.line_count, count);
    for (uint32_t i = 0; i < 3; i++) {
        char *outside = source_files_line(&file, i ? count + i : 0);
        assert_string_equal(outside, "");
        free(outside);
    }
    source_files_free(&file);
}

#define LINES(...)                                                                                 \
    (const char *const[]) { __VA_ARGS__ __VA_OPT__(, ) NULL }

static void lines_end_in_any_way(void **state)
{
    (void)state;
    has_lines("", LINES());
    has_lines("a", LINES("a"));
    has_lines("a\n", LINES("a"));
    has_lines("a\nb", LINES("a", "b"));
    has_lines("\n\n", LINES("", ""));
    has_lines("a\r\n  b  \r\n", LINES("a", "  b"));
}

static void tabs_reach_to_the_next_eighth_column(void **state)
{
    (void)state;
    has_lines("\ta\n1234567\tb\n12345678\tc\n",
              LINES("        a", "1234567 b", "12345678        c"));
    has_lines("äöü\tx\n", LINES("äöü     x")); /* columns are characters */
}

static void what_a_terminal_would_obey_is_replaced(void **state)
{
    struct source_file_text file;
    (void)state;
    write_source("a\033[31mb\0c\n\xff\n", 12);
    source_files_read(&file, NULL, path);
    assert_int_equal(file.line_count, 2);
    for (uint32_t i = 1; i <= 2; i++) {
        char *line = source_files_line(&file, i);
        assert_true(*line);
        for (const char *p = line; *p; p++)
            assert_true((unsigned char)*p >= ' ' && *p != 127 && *p != '\xff');
        free(line);
    }
    source_files_free(&file);
}

static void long_lines_are_cut_between_characters(void **state)
{
    char text[1200];
    struct source_file_text file;
    (void)state;
    memset(text, 'x', 399);
    strcpy(text + 399, "€€€\nb\n"); /* three bytes each */
    write_text(text);
    source_files_read(&file, NULL, path);
    char *line = source_files_line(&file, 1), *next = source_files_line(&file, 2);
    text[399] = 0;
    assert_string_equal(line, text);
    assert_string_equal(next, "b");
    free(line);
    free(next);
    source_files_free(&file);
}

/* ---- search ---- */

struct searching {
    struct source_file_search search;
    char values[4][128];
    unsigned count;
};

/* Adds "FROM=" (or ""), the directory of the test, and what is behind it. */
static void search_in(struct searching *s, const char *from, const char *behind)
{
    char *value = s->values[s->count++];
    snprintf(value, sizeof *s->values, "%s%s%s", from, directory, behind);
    source_files_open_search(&s->search, value);
}

/* Expects that a name is found as sub/a.c. */
static void finds(const struct searching *s, const char *name, bool wanted)
{
    char *is = source_files_find(&s->search, name);
    struct stat a, b;
    assert_int_equal(is != NULL, wanted);
    if (is) {
        assert_int_equal(stat(is, &a), 0);
        assert_int_equal(stat(path, &b), 0);
        assert_int_equal(a.st_ino, b.st_ino);
    }
    free(is);
}

static void a_directory_has_the_longest_end_of_the_path(void **state)
{
    struct searching s = {.count = 0};
    (void)state;
    write_text("a\n");
    search_in(&s, "", "");
    finds(&s, "/build/x/sub/a.c", true);
    finds(&s, "sub/a.c", true);
    finds(&s, "a.c", false);
    finds(&s, "/build/x/a.c", false);
    finds(&s, "/build/sub/b.c", false);
    finds(&s, "sub", false); /* it is not a file */
    finds(&s, "", false);
    search_in(&s, "", "/sub/");
    finds(&s, "/build/x/a.c", true);
    source_files_search_free(&s.search);
}

static void a_prefix_is_replaced_where_a_directory_ends(void **state)
{
    struct searching s = {.count = 0};
    (void)state;
    write_text("a\n");
    search_in(&s, "/build/x=", "");
    finds(&s, "/build/x/sub/a.c", true);
    finds(&s, "/build/xy/sub/a.c", false);
    finds(&s, "/build/sub/a.c", false);
    source_files_search_free(&s.search);
    s = (struct searching){.count = 0};
    search_in(&s, "/build/x=", "/s");
    finds(&s, "/build/xub/a.c", false);
    source_files_search_free(&s.search);
    s = (struct searching){.count = 0};
    search_in(&s, "/build/x//=", "");
    finds(&s, "/build/x/sub/a.c", true);
    source_files_search_free(&s.search);
    s = (struct searching){.count = 0};
    search_in(&s, "/=", "/");
    finds(&s, "/sub/a.c", true);
    finds(&s, "sub/a.c", false);
    source_files_search_free(&s.search);
}

static void the_path_of_the_compiler_is_the_last_one(void **state)
{
    struct searching s = {.count = 0};
    (void)state;
    write_text("a\n");
    finds(&s, path, true);
    search_in(&s, "/nowhere=", "");
    search_in(&s, "", "/none");
    finds(&s, path, true);
    source_files_search_free(&s.search);
    char *none = source_files_find(NULL, "/nowhere/a.c");
    assert_null(none);
}

static void why_a_file_is_not_read_is_said(void **state)
{
    struct source_file_text file;
    (void)state;
    source_files_read(&file, NULL, "/nowhere/a.c");
    assert_string_equal(file.path, "/nowhere/a.c");
    assert_string_equal(file.problem, "not found");
    assert_int_equal(file.line_count, 0);
    source_files_free(&file);
    source_files_read(&file, NULL, "");
    assert_string_equal(file.problem, "not found");
    source_files_free(&file);
    source_files_read(&file, NULL, directory);
    assert_string_equal(file.problem, "no regular file: not read");
    source_files_free(&file);
    write_text("");
    assert_int_equal(truncate(path, SOURCE_FILE_LINES_MAX + 1), 0);
    source_files_read(&file, NULL, path);
    assert_string_equal(file.problem, "larger than 8 MiB: not read");
    source_files_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_in_any_way),
        cmocka_unit_test(tabs_reach_to_the_next_eighth_column),
        cmocka_unit_test(what_a_terminal_would_obey_is_replaced),
        cmocka_unit_test(long_lines_are_cut_between_characters),
        cmocka_unit_test(a_directory_has_the_longest_end_of_the_path),
        cmocka_unit_test(a_prefix_is_replaced_where_a_directory_ends),
        cmocka_unit_test(the_path_of_the_compiler_is_the_last_one),
        cmocka_unit_test(why_a_file_is_not_read_is_said),
    };
    return cmocka_run_group_tests_name("excerpts", tests, begin, end);
}
