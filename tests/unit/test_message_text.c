/* Texts in messages: truncated to a size, but never within a character. */
#include "clients/libpoet/core/message_text.h"
#include "clients/libpoet/core/thread.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <string.h>

static char *scratch;

char *thread_scratch(struct traced_thread *thread)
{
    (void)thread;
    return scratch;
}

/* ASCII, and characters of two to four bytes */
static const char *const characters[] = {"a", "ä", "€", "😀"};

/* Writes random characters; returns the size of the longest part of whole ones up to `most`. */
static size_t write_random(unsigned *random, char *text, unsigned count, size_t most)
{
    size_t fits = 0, used = 0;
    for (unsigned i = 0; i < count; i++) {
        const char *next = characters[execution_random(random, 4)];
        strcpy(text + used, next);
        used += strlen(next);
        fits = used <= most ? used : fits;
    }
    text[used] = 0;
    return fits;
}

static void a_text_is_cut_between_characters(void **state)
{
    unsigned random = 11;
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        char text[100];
        unsigned count = execution_random(&random, 20);
        size_t most = execution_random(&random, 60),
               fits = write_random(&random, text, count, most);
        assert_int_equal(message_text_size(text, most), fits);
        struct text_view view = message_text_limit(text, most);
        assert_ptr_equal(view.bytes, text);
        assert_int_equal(view.size, fits);
    }
}

static void a_text_that_fits_is_kept_whatever_it_is(void **state)
{
    (void)state;
    assert_int_equal(message_text_size("", 0), 0);
    assert_int_equal(message_text_size("abc", 3), 3);
    assert_int_equal(message_text_size("ab\xe2\x82", 4), 4);
    assert_int_equal(message_text_size("ab\xff", 3), 3);
}

static void what_is_no_character_is_cut_anywhere(void **state)
{
    (void)state;
    assert_int_equal(message_text_size("\x80\x80\x80\x80\x80\x80", 5), 5);
    assert_int_equal(message_text_size("\xc3\xc3\xc3", 2), 1);
    assert_int_equal(message_text_size("\xe2", 0), 0);
}

static void no_text_is_empty(void **state)
{
    (void)state;
    struct text_view view = message_text_limit(NULL, 10);
    assert_int_equal(view.size, 0);
}

static void a_message_is_written_where_it_fits(void **state)
{
    static char large[SCRATCH_BYTES];
    char small[16];
    (void)state;
    scratch = large;
    struct encoder out = message_text_buffer(NULL, small, sizeof small, sizeof small);
    assert_ptr_equal(out.data, small);
    assert_int_equal(out.room, sizeof small);
    assert_false(out.failed);
    out = message_text_buffer(NULL, small, sizeof small, sizeof small + 1);
    assert_ptr_equal(out.data, large);
    assert_false(out.failed);
    assert_true(message_text_buffer(NULL, small, sizeof small, SCRATCH_BYTES + 1u).failed);
    scratch = NULL; /* no memory */
    out = message_text_buffer(NULL, small, sizeof small, sizeof small + 1);
    assert_true(out.failed);
    assert_int_equal(out.room, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_cut_between_characters),
        cmocka_unit_test(a_text_that_fits_is_kept_whatever_it_is),
        cmocka_unit_test(what_is_no_character_is_cut_anywhere),
        cmocka_unit_test(no_text_is_empty),
        cmocka_unit_test(a_message_is_written_where_it_fits),
    };
    return cmocka_run_group_tests_name("truncated", tests, NULL, NULL);
}
