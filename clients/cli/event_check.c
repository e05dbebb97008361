#include "clients/cli/event_check.h"

#include <stdio.h>

/* What there is instead. */
static void event_check_report_line(char *s, size_t size, const struct trace_metadata *book,
                                    struct event_id at)
{
    const struct line_metadata *line = metadata_line(book, at.line);
    unsigned long long last = line ? line->is.last : 0, first = line ? line->is.first : 0;
    if (!line && !(at.line & HIDDEN_LINE))
        snprintf(s, size, "it has %u line%s", book->line_count, plural_suffix(book->line_count));
    else if (!line || last == 0)
        snprintf(s, size, "line %u has no events", at.line & ~HIDDEN_LINE);
    else if (at.number < first)
        snprintf(s, size, "line %u: events %llu to %llu are available", at.line, first, last);
    else
        snprintf(s, size, "line %u has %llu event%s", at.line & ~HIDDEN_LINE, last,
                 plural_suffix(last));
}

bool event_check_exists(struct command_source *subject, struct event_id at, struct error *why)
{
    const struct trace_metadata *book = &subject->source.book;
    if (!metadata_line(book, at.line) && book->some &&
        !session_subscribe_lines(&subject->source, &at.line, 1, why))
        return false;
    const struct line_metadata *line = metadata_line(book, at.line);
    if (line && at.number >= 1 && at.number >= line->is.first && at.number <= line->is.last)
        return true;
    char s[48], instead[100];
    event_id_print(s, sizeof s, at);
    event_check_report_line(instead, sizeof instead, book, at);
    error_set(why, "no event %s in this run (%s)", s, instead);
    return false;
}
