/* Texts for predicted bugs. */
#include "clients/connection/finding_text.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[][2] = {
    {"lock-order-inversion", "potential deadlock (cyclic lock order)"},
    {"read-lock-recursion",
     "potential deadlock (a read lock is acquired again while a writer waits)"},
    {"fork-with-lock", "the child requests a lock that another thread can hold at the fork"},
    {"handler-lock",
     "potential deadlock (a signal handler requests a lock that the interrupted thread holds)"},
    {"destroy-in-use", "an object is destroyed that another thread uses or can still use"},
    {"unsafe-send",
     "potential deadlock (sends that return only since their messages are buffered)"},
    {"lost-wakeup", "possible lost wake-up; the signal is not sent under the waiter's lock and can "
                    "precede the wait"},
    {"signal-not-broadcast", "the signal wakes one thread, but several can be waiting"},
    {"message-race", "wildcard receive; another message can be matched"},
    {"early-signal", "if the signaling critical section runs first, the wake-up is lost unless the "
                     "waiter tests its predicate before waiting (not visible in a trace)"},
    {"atomicity-violation", "another critical section can run between these two (possible "
                            "atomicity violation)"},
    {"order-violation", "these critical sections always ran in this order, but no synchronization "
                        "enforces it (possible order violation)"},
    {NULL, NULL}};

static const char *finding_text_kind_text(const char *kind)
{
    for (size_t i = 0; kinds[i][0]; i++)
        if (strcmp(kinds[i][0], kind) == 0)
            return kinds[i][1];
    return "";
}

/* ---- texts ---- */

struct finding_text_row {
    const struct table_names *names;
    const struct result_table *table;
    uint32_t row;
};

static const struct table_cell *finding_text_find_cell(const struct finding_text_row *r,
                                                       const char *name)
{
    static const struct table_cell nothing;
    uint32_t column = result_table_find_column(r->table, name);
    return column < r->table->column_count ? &result_table_cells(r->table, r->row)[column]
                                           : &nothing;
}

static const char *finding_text_line_label(const struct finding_text_row *r, const char *name)
{
    const struct table_cell *c = finding_text_find_cell(r, name);
    return c->is == CELL_LINE ? metadata_label(r->names->book, c->line) : "(unknown)";
}

/* Returns " at f.c:12 (event 3:4)" in new memory. */
static char *finding_text_place_text(const struct finding_text_row *r, const char *place,
                                     const char *event)
{
    const struct table_cell *p = finding_text_find_cell(r, place),
                            *e = finding_text_find_cell(r, event);
    char at[48] = "",
         *sentence = p->is == CELL_PLACE ? result_table_place_text(r->names, p->place, "") : NULL;
    if (e->is == CELL_EVENT)
        event_id_print(at, sizeof at, e->event);
    char *all = xasprintf("%s%s%s%s%s", sentence && *sentence ? " at " : "",
                          sentence ? sentence : "", *at ? " (event " : "", at, *at ? ")" : "");
    free(sentence);
    return all;
}

/* Expands a format: %T the thread, %L and %M the two objects, %l and %m the two locations. New
 * memory. */
static char *finding_text_participant_text(struct finding_text_row *r, const char *format)
{
    char *first = finding_text_place_text(r, "location", "event"),
         *then = finding_text_place_text(r, "second_location", "second_event"), *sentence = NULL,
         text[1000];
    size_t n = 0;
    for (const char *c = format; *c && n < sizeof text - 1; c++) {
        const char *put = *c != '%'     ? NULL
                          : *++c == 'T' ? finding_text_line_label(r, "thread")
                          : *c == 'L'   ? finding_text_line_label(r, "object")
                          : *c == 'M'   ? finding_text_line_label(r, "second_object")
                          : *c == 'l'   ? first
                                        : then;
        n += (size_t)(put ? snprintf(text + n, sizeof text - n, "%s", put)
                          : snprintf(text + n, sizeof text - n, "%c", *c));
        n = n < sizeof text ? n : sizeof text - 1;
    }
    text[n] = 0;
    sentence = xstrdup(text);
    free(first);
    free(then);
    return sentence;
}

char *finding_text_participant(const struct table_names *names, const struct result_table *t,
                               uint32_t row, const char *kind)
{
    static const char *const ways[][4] = {
        {"lock-order-inversion", "%T acquired %L%l, then requested %M%m", NULL},
        {"read-lock-recursion", "%T read-locked %L%l and again%m", "%T write-locked %L%l"},
        {"fork-with-lock", "%T forked%l", "%T acquired %L%l", "%T requested %L in the child%l"},
        {"handler-lock", "%T acquired %L%l; its signal handler requested %M%m",
         "%T sent the signal to %L%l"},
        {"destroy-in-use", "%T destroyed %L%l", "%T used %L%l"},
        {"unsafe-send", "%T sent to %L%l, received%m", NULL},
        {"lost-wakeup", "%T locked %L%l, then waited on %M%m", "%T signaled %L%l"},
        {"signal-not-broadcast", "%T signaled %L%l", "%T locked %L%l, then waited on %M%m"},
        {"message-race", "%T sent to %L%l, received%m", "%T sent to %L%l, received later%m"},
        {"early-signal", "%T locked %L%l, then waited on %M%m",
         "%T locked %L%l, then signaled %M%m"},
        {"atomicity-violation", "%T locked %L%l and again%m", "%T locked %L%l"},
        {"order-violation", "%T locked %L%l", "%T locked %L%l next"},
    };
    struct finding_text_row r = {names, t, row};
    uint32_t nth = 0;
    while (nth < row && t->rows[row - nth - 1].depth)
        nth++;
    bool first = !nth, then = finding_text_find_cell(&r, "second_event")->is == CELL_EVENT;
    if (!then && strcmp(kind, "unsafe-send") == 0)
        return finding_text_participant_text(&r, "%T received from %L%l");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i][0], kind) == 0 &&
            (first || !ways[i][2] || then || strcmp(kind, "signal-not-broadcast") != 0))
            return finding_text_participant_text(&r, first || !ways[i][2]    ? ways[i][1]
                                                     : nth > 1 && ways[i][3] ? ways[i][3]
                                                                             : ways[i][2]);
    return finding_text_participant_text(&r, "%T also locked %L%l");
}

const char *finding_text_kind(const struct result_table *t, uint32_t row)
{
    const struct table_cell *c = &result_table_cells(t, row)[result_table_find_column(t, "kind")];
    return c->is == CELL_TEXT ? c->text : "";
}

char *finding_text_summary(const struct result_table *t, uint32_t row)
{
    const struct finding_text_row r = {NULL, t, row};
    const char *kind = finding_text_kind(t, row);
    long long times = (long long)finding_text_find_cell(&r, "count")->number;
    const char *text = finding_text_kind_text(kind);
    return times > 1 ? xasprintf("%s (%lld occurrences): %s", kind, times, text)
                     : xasprintf("%s: %s", kind, text);
}

char *finding_text_kinds(void)
{
    char *all = NULL;
    for (size_t i = 0; kinds[i][0]; i++) {
        char *more = xasprintf("%s%s%s", all ? all : "", all ? ", " : "", kinds[i][0]);
        free(all);
        all = more;
    }
    return all;
}

bool finding_text_kinds_are_known(const char *list)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        bool known = false;
        for (size_t i = 0; kinds[i][0]; i++)
            known |= strlen(kinds[i][0]) == n && strncmp(kinds[i][0], list, n) == 0;
        if (!known)
            return false;
        list += n + (list[n] == ',');
    }
    return true;
}
