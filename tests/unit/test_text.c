/* Text from outside: the result is valid UTF-8, and contains no terminal control characters. */
#include "tests/unit/unit.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

static void what_is_fit_stays_and_the_rest_is_marked(void **state)
{
    (void)state;
    static const struct {
        const char *from, *name, *note;
    } cases[] = {
        {"", "", ""},
        {"plain", "plain", "plain"},
        {"spät ▸ 日本 😀", "spät ▸ 日本 😀", "spät ▸ 日本 😀"},
        {"\x1b[31mred\x1b]0;title\x07", "␛[31mred␛]0;title␇", "␛[31mred␛]0;title␇"},
        {"two\nlines\tand\rmore", "two␊lines␉and␍more", "two\nlines\tand␍more"},
        {"del\x7f", "del␡", "del␡"},
        {"latin\xe9", "latin\xef\xbf\xbd", "latin\xef\xbf\xbd"},
        {"cut \xe6\x97", "cut \xef\xbf\xbd\xef\xbf\xbd", "cut \xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd",
         "\xef\xbf\xbd\xef\xbf\xbd"},                 /* overlong encoding of U+0000 */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* above U+10FFFF */
        {"no character \xef\xbf\xbe\xef\xbf\xbf\xef\xb7\x90\xf0\x9f\xbf\xbe",
         "no character \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
         "no character \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"c1 \xc2\x9b"
         "31m",
         "c1 \xef\xbf\xbd"
         "31m",
         "c1 \xef\xbf\xbd"
         "31m"},
        {"turned \xe2\x80\xae"
         "txt",
         "turned \xef\xbf\xbd"
         "txt",
         "turned \xef\xbf\xbd"
         "txt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name = text_readable(cases[i].from, SIZE_MAX, false);
        char *note = text_readable(cases[i].from, SIZE_MAX, true),
             *again = text_readable(note, SIZE_MAX, true);
        assert_string_equal(name, cases[i].name);
        assert_string_equal(note, cases[i].note);
        assert_string_equal(again, note);
        free(name);
        free(note);
        free(again);
    }
}

static void a_text_ends_where_its_bytes_end(void **state)
{
    (void)state;
    char *s = text_readable("späte", 3, false); /* cut within ä */
    assert_string_equal(s, "sp\xef\xbf\xbd");
    free(s);
    s = text_readable("ab\0cd", 5, false);
    assert_string_equal(s, "ab");
    free(s);
}

static void a_cut_leaves_whole_characters(void **state)
{
    (void)state;
    const char *s = "aä😀b"; /* 1, 2, 4, 1 bytes */
    static const size_t wanted[] = {0, 1, 1, 3, 3, 3, 3, 7, 8, 8};
    for (size_t most = 0; most < sizeof wanted / sizeof *wanted; most++)
        assert_int_equal(text_cut(s, most), wanted[most]);
}

static void a_mask_keeps_the_length(void **state)
{
    (void)state;
    char s[] = "ok ä \x1b[2J \xff \xc2\x9b \n";
    text_mask(s);
    assert_string_equal(s, "ok ä ?[2J ? ?? ?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_fit_stays_and_the_rest_is_marked),
        cmocka_unit_test(a_text_ends_where_its_bytes_end),
        cmocka_unit_test(a_cut_leaves_whole_characters),
        cmocka_unit_test(a_mask_keeps_the_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
