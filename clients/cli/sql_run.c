#include "clients/cli/sql_run.h"

#include "base/alloc.h"
#include "clients/cli/sql_events.h"
#include "clients/cli/sql_tables.h"
#include "config/description_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLES_MOST 100
#define LINE_SHOWN 76 /* characters of a statement shown with an error */

/* ---- errors ---- */

/* Shows the line of the statement in which an error is, with a mark below it. */
static void sql_run_show_place(sqlite3 *db, const char *sql)
{
    int offset = sqlite3_error_offset(db);
    if (offset < 0 || offset > (int)strlen(sql))
        return;
    const char *begin = sql + offset, *end = sql + offset;
    while (begin > sql && begin[-1] != '\n' && sql + offset - begin < LINE_SHOWN / 2)
        begin--;
    while ((*begin & 0xc0) == 0x80) /* inside a character */
        begin++;
    end += strcspn(end, "\n");
    int shown = end - begin > LINE_SHOWN ? LINE_SHOWN : (int)(end - begin), column = 0;
    for (const char *c = begin; c < sql + offset; c++)
        column += (*c & 0xc0) != 0x80;
    fprintf(stderr, "  %.*s\n  %*s^\n", shown, begin, column, "");
}

/* Returns the name of a missing table after the message of SQLite about it; NULL: it is another
 * message. */
static const char *sql_run_missing_table(const char *message)
{
    static const char begin[] = "no such table: ";
    if (strncmp(message, begin, sizeof begin - 1) != 0)
        return NULL;
    const char *name = message + sizeof begin - 1, *dot = strchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Returns the name of a table that is most similar to a word, or NULL. */
static const char *sql_run_nearest(const char *word)
{
    const char *names[TABLES_MOST + 2] = {"events", "messages", "order_edges"};
    for (size_t i = 0, n = 3; sql_tables[i].name && n < TABLES_MOST; i++)
        names[n++] = sql_tables[i].name;
    return nearest_word(word, names);
}

int sql_run_fail(const struct sql_database *d, const char *sql)
{
    const struct command *command = d->settings.command;
    const char *message = sqlite3_errmsg(d->db), *missing = sql_run_missing_table(message),
               *near = missing ? sql_run_nearest(missing) : NULL;
    if (d->problem)
        return sql_database_fail(d);
    if (sqlite3_errcode(d->db) == SQLITE_AUTH) {
        command_fail(command,
                     "%s: only statements that read are possible (SELECT, WITH, VALUES, "
                     "EXPLAIN)",
                     message);
        return EXIT_USAGE;
    }
    if (near)
        command_fail(command, "%s; did you mean \"%s\"?", message, near);
    else
        command_fail(command, "%s", message);
    sql_run_show_place(d->db, sql);
    fputs("tables and columns: poet query SOURCE\n", stderr);
    return EXIT_USAGE;
}

/* ---- reading only ---- */

/* Returns whether a pragma only describes tables or functions. */
static bool sql_run_describes(const char *pragma)
{
    static const char *const names[] = {"table_info", "table_xinfo", "table_list", "function_list",
                                        "compile_options"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], pragma) == 0)
            return true;
    return false;
}

static int sql_run_authorize(void *user, int action, const char *first, const char *second,
                             const char *database, const char *source)
{
    struct sql_database *d = user;
    (void)database, (void)source;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_PRAGMA:
        snprintf(d->described, sizeof d->described, "%s", second ? second : "");
        return sql_run_describes(first) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

/* ---- statements ---- */

/* Computes a table. Returns an exit status, after reporting errors. */
static int sql_run_load(struct sql_database *d, const struct sql_table *table)
{
    char *problem;
    int status = sql_table_load(d, table, &problem);
    if (problem)
        command_fail(d->settings.command, "%s: %s", table->name, problem);
    free(problem);
    return status;
}

/* Returns whether the database has the table already. */
static bool sql_run_has(struct sql_database *d, const char *table)
{
    return sqlite3_table_column_metadata(d->db, NULL, table, NULL, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

/* Returns the table that must be computed before a statement can be prepared; NULL: none. */
static const struct sql_table *sql_run_needed(struct sql_database *d, int status)
{
    const char *name =
        status == SQLITE_OK ? d->described : sql_run_missing_table(sqlite3_errmsg(d->db));
    const struct sql_table *table = name ? sql_table_find(name) : NULL;
    return table && (status != SQLITE_OK || !sql_run_has(d, table->name)) ? table : NULL;
}

int sql_run_prepare(struct sql_database *d, const char *sql, sqlite3_stmt **statement)
{
    const char *rest = sql;
    for (;;) {
        *d->described = 0;
        sqlite3_set_authorizer(d->db, sql_run_authorize, d);
        int status = sqlite3_prepare_v2(d->db, sql, -1, statement, &rest);
        sqlite3_set_authorizer(d->db, NULL, NULL);
        const struct sql_table *table = sql_run_needed(d, status);
        if (!table && status != SQLITE_OK)
            return sql_run_fail(d, sql);
        if (!table)
            break;
        sqlite3_finalize(*statement);
        *statement = NULL;
        int loaded = sql_run_load(d, table);
        if (loaded != EXIT_DONE)
            return loaded;
    }
    rest += strspn(rest, " \t\r\n;");
    if (!*rest || strncmp(rest, "--", 2) == 0)
        return EXIT_DONE;
    sqlite3_finalize(*statement);
    command_fail(d->settings.command, "more than one statement");
    return EXIT_USAGE;
}

/* ---- opening and closing ---- */

/* The first statement about a virtual table declares it, which is a CREATE TABLE and would not be
 * allowed later. */
static const char sql_run_declared[] =
    "select 1 from events limit 0;"
    "select 1 from json_each('[]') limit 0; select 1 from json_tree('[]') limit 0;"
    "select 1 from pragma_table_info('events') limit 0;"
    "select 1 from pragma_table_xinfo('events') limit 0;"
    "select 1 from pragma_table_list limit 0; select 1 from pragma_function_list limit 0";

bool sql_run_open(struct sql_database *d, const char *file)
{
    int status = sqlite3_open(file ? file : "", &d->db);
    bool temporary = !file;
    sqlite3_limit(d->db, SQLITE_LIMIT_ATTACHED, 0);
    if (status != SQLITE_OK || !sql_events_add(d, temporary ? "events" : "poet_events")) {
        sql_database_fail(d);
        return false;
    }
    return sql_database_execute(d, "pragma journal_mode = off; pragma synchronous = off") &&
           (!temporary ||
            (sql_database_execute(d, sql_run_declared) && sql_database_execute(d, sql_views)));
}

void sql_run_close(struct sql_database *d)
{
    sql_database_close(d);
    sql_events_free(d);
}
