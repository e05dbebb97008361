#include "clients/poet/exists.h"

#include <stdio.h>

/* What there is instead. */
static void say_line(char *s, size_t size, const struct book *book, struct ref at)
{
    const struct book_line *line = book_line(book, at.line);
    unsigned long long last = line ? line->is.last : 0, first = line ? line->is.first : 0;
    if (!line && !(at.line & HIDDEN_LINE))
        snprintf(s, size, "it has %u line%s", book->line_count, plural(book->line_count));
    else if (!line || last == 0)
        snprintf(s, size, "line %u has no events", at.line & ~HIDDEN_LINE);
    else if (at.number < first)
        snprintf(s, size, "of line %u events %llu to %llu are kept", at.line, first, last);
    else
        snprintf(s, size, "line %u has %llu event%s", at.line & ~HIDDEN_LINE, last, plural(last));
}

bool exists_event(struct subject *subject, struct ref at, struct error *why)
{
    const struct book *book = &subject->source.book;
    if (!book_line(book, at.line) && book->some &&
        !source_lines(&subject->source, &at.line, 1, why))
        return false;
    const struct book_line *line = book_line(book, at.line);
    if (line && at.number >= 1 && at.number >= line->is.first && at.number <= line->is.last)
        return true;
    char s[48], instead[100];
    ref_print(s, sizeof s, at);
    say_line(instead, sizeof instead, book, at);
    error_set(why, "no event %s in this run (%s)", s, instead);
    return false;
}
