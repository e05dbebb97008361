/* The breakpoint file beside a trace: adding, removing, concurrent changes by other processes, and
 * the texts of breakpoints. */
#define _GNU_SOURCE
#include "clients/connection/breakpoint_file.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/poet-breaks.XXXXXX", trace[64], file[80];

static int begin(void **unused)
{
    (void)unused;
    if (!mkdtemp(directory))
        return -1;
    snprintf(trace, sizeof trace, "%s/work.poet", directory);
    snprintf(file, sizeof file, "%s/work.poet-breaks", directory);
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static void put_file(const char *text, size_t size)
{
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* Returns all breakpoints, each followed by a bar. */
static const char *kept(void)
{
    static char all[1000];
    struct breakpoint_list breaks;
    all[0] = 0;
    breakpoint_file_read(&breaks, trace);
    for (size_t i = 0; i < breaks.count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s|", breaks.items[i]);
    breakpoint_file_free(&breaks);
    assert_int_equal(breaks.count, 0);
    return all;
}

static bool toggled(const char *what)
{
    bool set;
    struct error error;
    assert_true(breakpoint_file_toggle(trace, what, &set, &error));
    return set;
}

static void one_comes_and_goes(void **unused)
{
    (void)unused;
    unlink(file);
    assert_string_equal(kept(), "");
    assert_true(toggled("2:17"));
    assert_true(toggled("work.c:12 thread 3"));
    assert_string_equal(kept(), "2:17|work.c:12 thread 3|");
    assert_false(toggled("2:17"));
    assert_string_equal(kept(), "work.c:12 thread 3|");
    assert_true(toggled("2:17"));
    assert_string_equal(kept(), "work.c:12 thread 3|2:17|");
}

static void what_stands_there_twice_goes_at_once(void **unused)
{
    (void)unused;
    const char text[] = "1:1\n2:2\n1:1\n";
    put_file(text, sizeof text - 1);
    assert_false(toggled("1:1"));
    assert_string_equal(kept(), "2:2|");
}

static void any_file_is_read_as_far_as_it_goes(void **unused)
{
    (void)unused;
    const char text[] = "\n\n1:1\n\nlast";
    put_file(text, sizeof text - 1);
    assert_string_equal(kept(), "1:1|last|");
    FILE *f = fopen(file, "w");
    for (int i = 0; i < 3000; i++)
        fprintf(f, "1:%d\n", i);
    assert_int_equal(fclose(f), 0);
    struct breakpoint_list breaks;
    breakpoint_file_read(&breaks, trace);
    assert_int_equal(breaks.count, 1000);
    assert_string_equal(breaks.items[999], "1:999");
    breakpoint_file_free(&breaks);
}

static void a_trace_of_another_name_has_its_own(void **unused)
{
    (void)unused;
    char other[80];
    struct breakpoint_list breaks;
    bool set;
    struct error error;
    snprintf(other, sizeof other, "%s/x", directory);
    assert_true(breakpoint_file_toggle(other, "1:1", &set, &error));
    assert_true(set);
    snprintf(other, sizeof other, "%s/x.poet", directory);
    breakpoint_file_read(&breaks, other);
    assert_int_equal(breaks.count, 1);
    breakpoint_file_free(&breaks);
}

static void a_folder_that_is_not_there_is_an_error(void **unused)
{
    (void)unused;
    bool set;
    struct error error;
    assert_false(breakpoint_file_toggle("/nowhere/at/all.poet", "1:1", &set, &error));
    assert_non_null(strstr(error.text, "/nowhere/at/all.poet-breaks: No such file"));
}

static void an_event_is_one(void **unused)
{
    (void)unused;
    struct breakpoint_spec is;
    assert_true(breakpoint_parse(&is, "2:17"));
    assert_int_equal(is.at.line, 2);
    assert_int_equal(is.at.number, 17);
    assert_null(is.site);
    breakpoint_free(&is);
}

static void a_place_is_one_with_what_stands_behind_it(void **unused)
{
    (void)unused;
    struct breakpoint_spec is;
    assert_true(breakpoint_parse(&is, "work.c:12"));
    assert_int_equal(is.at.line, 0);
    assert_string_equal(is.site, "work.c:12");
    assert_null(is.thread);
    assert_int_equal(is.arrival, 0);
    breakpoint_free(&is);
    assert_true(breakpoint_parse(&is, "  work.c:12  arrival 7 thread T:work#2 thread 3 "));
    assert_string_equal(is.thread, "3");
    assert_int_equal(is.arrival, 7);
    breakpoint_free(&is);
    assert_true(breakpoint_parse(&is, "'a folder/it'\\''s \"one\".c:3' thread \"T:a b\""));
    assert_string_equal(is.site, "a folder/it's \"one\".c:3");
    assert_string_equal(is.thread, "T:a b");
    breakpoint_free(&is);
}

static void what_is_none_is_refused(void **unused)
{
    (void)unused;
    static const char *const none[] = {"",
                                       " ",
                                       "work",
                                       "work.c:1 thread",
                                       "work.c:1 arrival 0",
                                       "'work.c:1",
                                       "a.c:1 b",
                                       "a.c:1 b 2",
                                       "a.c:1 thread 'x",
                                       "a.c:1 arrival x",
                                       "a.c:1 arrival 99999999999999999999",
                                       "a line that is none"};
    struct breakpoint_spec is;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(breakpoint_parse(&is, none[i]));
}

static void a_place_is_met_by_its_end(void **unused)
{
    (void)unused;
    struct breakpoint_spec is;
    assert_true(breakpoint_parse(&is, "src/work.c:12"));
    assert_true(breakpoint_is_at_site(&is, "src/work.c:12"));
    assert_true(breakpoint_is_at_site(&is, "/home/me/src/work.c:12"));
    assert_false(breakpoint_is_at_site(&is, "mysrc/work.c:12"));
    assert_false(breakpoint_is_at_site(&is, "work.c:12"));
    assert_false(breakpoint_is_at_site(&is, "src/work.c:121"));
    assert_false(breakpoint_is_at_site(&is, NULL));
    breakpoint_free(&is);
    assert_true(breakpoint_parse(&is, "2:17"));
    assert_false(breakpoint_is_at_site(&is, "2:17"));
    breakpoint_free(&is);
}

static void a_thread_is_met_by_its_line_or_its_name(void **unused)
{
    (void)unused;
    struct breakpoint_spec is;
    assert_true(breakpoint_parse(&is, "work.c:12"));
    assert_true(breakpoint_is_for_thread(&is, 3, "T:work"));
    breakpoint_free(&is);
    assert_true(breakpoint_parse(&is, "work.c:12 thread 3"));
    assert_true(breakpoint_is_for_thread(&is, 3, "T:work"));
    assert_false(breakpoint_is_for_thread(&is, 4, "T:work"));
    assert_true(breakpoint_is_for_thread(&is, 4, "T:3"));
    breakpoint_free(&is);
    assert_true(breakpoint_parse(&is, "work.c:12 thread work#2"));
    assert_true(breakpoint_is_for_thread(&is, 5, "T:work#2"));
    assert_false(breakpoint_is_for_thread(&is, 5, "T:work"));
    assert_false(breakpoint_is_for_thread(&is, 5, NULL));
    breakpoint_free(&is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_comes_and_goes),
        cmocka_unit_test(what_stands_there_twice_goes_at_once),
        cmocka_unit_test(any_file_is_read_as_far_as_it_goes),
        cmocka_unit_test(a_trace_of_another_name_has_its_own),
        cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
        cmocka_unit_test(an_event_is_one),
        cmocka_unit_test(a_place_is_one_with_what_stands_behind_it),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(a_place_is_met_by_its_end),
        cmocka_unit_test(a_thread_is_met_by_its_line_or_its_name),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
