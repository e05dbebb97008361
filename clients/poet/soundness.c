#include "clients/poet/soundness.h"

#include "clients/source/table.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 1000000000 /* after that people want to know how far it is */

struct asking {
    const struct command *command;
    struct shown_table table;
    struct timespec begun;
    bool said; /* how far it is */
};

static bool is_long(const struct asking *a)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - a->begun.tv_sec) * 1000000000LL + now.tv_nsec - a->begun.tv_nsec >
           PATIENCE_NS;
}

static void take(void *user, const struct answer *answer)
{
    struct asking *a = user;
    const struct shown_table *t = &a->table;
    table_take(&a->table, answer);
    if (answer->last || !t->count || !isatty(STDERR_FILENO) || !is_long(a))
        return;
    fprintf(stderr, "\rpoet %s: what it tells of time: %3.0f %%", a->command->name,
            100 * (double)t->known / (double)t->count);
    a->said = true;
}

/* What is, and should be: a time, or how many. */
static char *say_figures(const struct shown_table *t, const struct table_cell *cells,
                         const char *is, const char *should, const char *unit)
{
    uint32_t column = table_find(t, is), other = table_find(t, should);
    if (column == t->column_count || other == t->column_count || cells[column].is != CELL_NUMBER ||
        cells[other].is != CELL_NUMBER)
        return NULL;
    return memory_printed("%lld%s, not %lld%s", (long long)cells[column].number, unit,
                          (long long)cells[other].number, unit);
}

static void say_row(const struct shown_table *t, uint32_t row,
                    void (*say)(void *user, struct ref at, uint32_t thread, const char *what),
                    void *user)
{
    uint32_t rule = table_find(t, "rule"), thread = table_find(t, "thread");
    const struct table_cell *cells = table_cells(t, row);
    if (rule == t->column_count || thread == t->column_count)
        return;
    char *figures = say_figures(t, cells, "is_ns", "should_ns", " ns");
    if (!figures)
        figures = say_figures(t, cells, "count", "should_count", "");
    char *what = memory_printed("%s: %s", cells[rule].is == CELL_TEXT ? cells[rule].text : "",
                                figures ? figures : "?");
    say(user, t->rows[row].event, cells[thread].is == CELL_LINE ? cells[thread].line : 0, what);
    free(what);
    free(figures);
}

bool soundness_ask(const struct command *command, struct subject *subject,
                   void (*say)(void *user, struct ref at, uint32_t thread, const char *what),
                   void *user)
{
    struct asking a = {.command = command};
    struct table_request request = {
        .what = (char[]){"sound"}, .by = (char[]){""}, .sort = (char[]){""}};
    struct out body = {0};
    clock_gettime(CLOCK_MONOTONIC, &a.begun);
    put_table_request(&body, &request);
    bool ok = subject_ask(command, subject, ASK_TABLE, &body, take, &a);
    if (a.said)
        fputs("\r\033[K", stderr);
    for (uint32_t i = 0; ok && i < a.table.row_count; i++)
        say_row(&a.table, i, say, user);
    if (ok && a.table.problem) /* an older server */
        fprintf(stderr, "poet %s: what it tells of time is not checked: %s\n", command->name,
                a.table.problem);
    shown_table_free(&a.table);
    return ok;
}
