/* Two books as one: each line, type and program of the second one is there under its new number, and an event of it names
 * them by those. */
#include "clients/book/joined.h"
#include "memory/memory.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 3, HIDDEN = 2, TYPES = 4, PROCESSES = 2 };

static void add_line(struct book *book, uint32_t number, unsigned run)
{
    struct book_line *line = book_room(book, number);
    line->is = (struct shown_line){.line = number,
                                   .kind = memory_copied("thread"),
                                   .name = memory_printed("%u of %u", number & ~HIDDEN_LINE, run),
                                   .process = 1,
                                   .opened_by = {number == 1 ? 0 : 1, 2}};
    line->label = memory_printed("T:%s", line->is.name);
}

static struct book book_of(unsigned run)
{
    struct book book = {.line_count = LINES,
                        .hidden_count = HIDDEN,
                        .type_count = TYPES,
                        .process_count = PROCESSES};
    for (uint32_t i = 1; i <= LINES; i++)
        add_line(&book, i, run);
    for (uint32_t i = 1; i <= HIDDEN; i++)
        add_line(&book, i | HIDDEN_LINE, run);
    book.types = memory_zeroed(TYPES, sizeof *book.types);
    for (unsigned i = 0; i < TYPES; i++)
        book.types[i] = memory_printed("type %u of %u", i + 1, run);
    book.processes = memory_zeroed(PROCESSES, sizeof *book.processes);
    for (unsigned i = 0; i < PROCESSES; i++)
        book.processes[i].path = memory_printed("/bin/%u-%u", i, run);
    return book;
}

static void check_lines(const struct book *book, uint32_t kind, uint32_t count)
{
    char name[40];
    for (uint32_t i = 1; i <= 2 * count; i++) {
        const struct book_line *line = book_line(book, i | kind);
        uint32_t own = i > count ? i - count : i;
        snprintf(name, sizeof name, "T:%u of %u", own, i > count ? 2 : 1);
        assert_string_equal(book_label(book, i | kind), name);
        assert_int_equal(line->is.line, i | kind);
        assert_int_equal(line->is.process, i > count ? 1 + PROCESSES : 1);
        uint32_t opener = (own | kind) == 1 ? 0 : i > count ? 1 + LINES : 1;
        assert_int_equal(line->is.opened_by.line, opener);
    }
}

static void test_books(void **state)
{
    (void)state;
    struct book book = book_of(1), other = book_of(2);
    struct joined joined = book_join(&book, &other);
    assert_int_equal(other.line_count, 0);
    check_lines(&book, 0, LINES);
    check_lines(&book, HIDDEN_LINE, HIDDEN);
    assert_string_equal(book_type(&book, TYPES), "type 4 of 1");
    assert_string_equal(book_type(&book, TYPES + 1), "type 1 of 2");
    assert_string_equal(book.processes[PROCESSES].path, "/bin/0-2");
    assert_int_equal(book_own(&book, (struct ref){LINES, 7}).line, LINES);
    assert_int_equal(book_own(&book, joined_ref(&joined, (struct ref){2, 7})).line, 2);
    assert_int_equal(joined_line(&joined, 0), 0);
    uint32_t heading = book_heading(&book, "the second");
    assert_int_equal(heading, 2 * LINES + 1);
    assert_string_equal(book_label(&book, heading), "the second");
    assert_null(book_kind(&book, heading));
    book_free(&book);
}

static void test_event(void **state)
{
    (void)state;
    struct book book = book_of(1), other = book_of(2);
    struct joined joined = book_join(&book, &other);
    struct ref partners[2] = {{2, 5}, {1 | HIDDEN_LINE, 6}}, after[1] = {{3, 4}};
    struct shown_event e = {.at = {1, 9},
                            .type = 3,
                            .thread = 1,
                            .process = 1,
                            .group = 8,
                            .context = 5,
                            .partners = partners,
                            .partner_count = 2,
                            .after = after,
                            .after_count = 1};
    joined_event(&joined, &e);
    assert_int_equal(e.at.line, 1 + LINES);
    assert_int_equal(e.at.number, 9);
    assert_int_equal(e.thread, 1 + LINES);
    assert_int_equal(e.about, 0); /* nothing stays nothing */
    assert_string_equal(book_type(&book, e.type), "type 3 of 2");
    assert_int_equal(e.process, 1 + PROCESSES);
    assert_int_equal(e.context, 0);
    assert_true(e.group != 8 && e.group != 0);
    assert_int_equal(partners[0].line, 2 + LINES);
    assert_int_equal(partners[1].line, (1 + HIDDEN) | HIDDEN_LINE);
    assert_int_equal(after[0].line, 3 + LINES);
    book_free(&book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_books),
        cmocka_unit_test(test_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
