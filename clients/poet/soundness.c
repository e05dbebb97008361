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

static void say_row(const struct shown_table *t, uint32_t row,
                    void (*say)(void *user, struct ref at, uint32_t thread, const char *what),
                    void *user)
{
    static const char *const names[] = {"rule", "thread", "is_ns", "should_ns"};
    const struct table_cell *cells[4];
    for (unsigned i = 0; i < 4; i++) {
        uint32_t column = table_find(t, names[i]);
        if (column == t->column_count)
            return;
        cells[i] = &table_cells(t, row)[column];
    }
    char *what =
        memory_printed("%s: %lld ns, not %lld ns", cells[0]->is == CELL_TEXT ? cells[0]->text : "",
                       cells[2]->is == CELL_NUMBER ? (long long)cells[2]->number : 0,
                       cells[3]->is == CELL_NUMBER ? (long long)cells[3]->number : 0);
    say(user, t->rows[row].event, cells[1]->is == CELL_LINE ? cells[1]->line : 0, what);
    free(what);
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
