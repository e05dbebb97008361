#include "clients/cli/consistency_check.h"

#include "clients/connection/result_table.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_NS 1000000000 /* progress is shown after this time */

struct consistency_request {
    const struct command *command;
    struct result_table table;
    struct timespec begun;
    bool printed; /* progress was shown */
};

static bool is_long(const struct consistency_request *a)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - a->begun.tv_sec) * 1000000000LL + now.tv_nsec - a->begun.tv_nsec >
           TIMEOUT_NS;
}

static void consistency_check_receive_table(void *user, const struct response_chunk *answer)
{
    struct consistency_request *a = user;
    const struct result_table *t = &a->table;
    result_table_receive(&a->table, answer);
    if (answer->last || !t->count || !isatty(STDERR_FILENO) || !is_long(a))
        return;
    fprintf(stderr, "\rpoet %s: timing data: %3.0f %%", a->command->name,
            100 * (double)t->known / (double)t->count);
    a->printed = true;
}

/* Returns "ACTUAL, not EXPECTED" of two columns, in new memory; NULL if the row lacks a value. */
static char *consistency_check_figures_text(const struct result_table *t,
                                            const struct table_cell *cells, const char *actual,
                                            const char *expected, const char *unit)
{
    uint32_t column = result_table_find_column(t, actual),
             other = result_table_find_column(t, expected);
    if (column == t->column_count || other == t->column_count || cells[column].is != CELL_NUMBER ||
        cells[other].is != CELL_NUMBER)
        return NULL;
    return xasprintf("%lld%s, not %lld%s", (long long)cells[column].number, unit,
                     (long long)cells[other].number, unit);
}

static void consistency_check_report_row(const struct result_table *t, uint32_t row,
                                         void (*report)(void *user, struct event_id at,
                                                        uint32_t thread, const char *what),
                                         void *user)
{
    uint32_t rule = result_table_find_column(t, "rule"),
             thread = result_table_find_column(t, "thread");
    const struct table_cell *cells = result_table_cells(t, row);
    if (rule == t->column_count || thread == t->column_count)
        return;
    char *figures = consistency_check_figures_text(t, cells, "actual_ns", "expected_ns", " ns");
    if (!figures)
        figures = consistency_check_figures_text(t, cells, "actual_count", "expected_count", "");
    char *what = xasprintf("%s: %s", cells[rule].is == CELL_TEXT ? cells[rule].text : "",
                           figures ? figures : "?");
    report(user, t->rows[row].event, cells[thread].is == CELL_LINE ? cells[thread].line : 0, what);
    free(what);
    free(figures);
}

bool consistency_check_request(const struct command *command, struct command_source *subject,
                               void (*report)(void *user, struct event_id at, uint32_t thread,
                                              const char *what),
                               void *user)
{
    struct consistency_request a = {.command = command};
    struct table_request request = {
        .what = (char[]){"sound"}, .by = (char[]){""}, .sort = (char[]){""}};
    struct encoder body = {0};
    clock_gettime(CLOCK_MONOTONIC, &a.begun);
    encode_table_request(&body, &request);
    bool ok = command_source_request(command, subject, REQUEST_TABLE, &body,
                                     consistency_check_receive_table, &a);
    if (a.printed)
        fputs("\r\033[K", stderr);
    for (uint32_t i = 0; ok && i < a.table.row_count; i++)
        consistency_check_report_row(&a.table, i, report, user);
    if (ok && a.table.problem) /* an older server */
        fprintf(stderr, "poet %s: timing data not checked: %s\n", command->name, a.table.problem);
    result_table_free(&a.table);
    return ok;
}
