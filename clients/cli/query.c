/* poet query: the tables that Poet computes, and the events, as SQL. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/command.h"
#include "clients/cli/sql_run.h"
#include "clients/cli/sql_output.h"
#include "clients/cli/sql_tables.h"
#include "clients/cli/terminal.h"
#include "config/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SQL_BYTES (1u << 20) /* of a statement from standard input */

enum { OPTION_FROM = 3000, OPTION_TO, OPTION_CSV };

struct query_options {
    const struct command *command;
    struct table_end from, to;
    bool json, csv;
};

static const struct argp_option options[] = {
    {"from", OPTION_FROM, "WHEN", 0,
     "tables about times start at an event (LINE:NUMBER) or at a time (20ms); not events", 1},
    {"to", OPTION_TO, "WHEN", 0, "they end at an event or a time", 1},
    {"json", 'j', NULL, 0,
     "one JSON object per line: the columns, each row as {\"row\": {NAME: VALUE, ...}}, the notes",
     2},
    {"csv", OPTION_CSV, NULL, 0, "CSV (RFC 4180)", 2},
    {0}};

static const struct option_row query_rows[] = {OPTION_SETS('j', struct query_options, json),
                                               OPTION_SETS(OPTION_CSV, struct query_options, csv),
                                               {0}};

static error_t query_parse_end(const struct query_options *o, struct table_end *end,
                               const char *value)
{
    if (table_end_read(value, end))
        return 0;
    command_usage(o->command, "%s: not an event (2:17) or a time (20ms)", value);
    return EINVAL;
}

static error_t query_parse_option(int key, char *value, struct argp_state *state)
{
    struct query_options *o = state->input;
    switch (key) {
    case OPTION_FROM:
        return query_parse_end(o, &o->from, value);
    case OPTION_TO:
        return query_parse_end(o, &o->to, value);
    default:
        return option_rows_parse(query_rows, key, value, state);
    }
}

/* ---- operands ---- */

/* Returns whether a word begins as a statement, and names no file. */
static bool query_is_statement(const char *word)
{
    static const char *const begins[] = {"select", "with", "values", "explain", "pragma"};
    const char *start = word + strspn(word, " \t\r\n(");
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t size = strlen(begins[i]);
        if (strncasecmp(start, begins[i], size) == 0 && start[size] &&
            strchr(" \t\r\n(*'\"", start[size]))
            return access(word, F_OK) < 0;
    }
    return false;
}

/* Returns the statement on standard input, in new memory; NULL after reporting an error. */
static char *query_read_statement(const struct command *command)
{
    char *text = xcalloc(SQL_BYTES + 2, 1);
    size_t size = fread(text, 1, SQL_BYTES + 1, stdin);
    if (!ferror(stdin) && size <= SQL_BYTES && !memchr(text, 0, size))
        return text;
    command_fail(command, "standard input: %s",
                 ferror(stdin)       ? strerror(errno)
                 : size <= SQL_BYTES ? "not a text"
                                     : "statement too long");
    free(text);
    return NULL;
}

/* ---- listing ---- */

static const char *query_kind(const char *declared)
{
    return declared && strcasecmp(declared, "integer") == 0 ? " integer"
           : declared && strcasecmp(declared, "real") == 0  ? " real"
                                                            : "";
}

/* Prints a table with its columns, as lines of text. */
static bool query_print_table(struct sql_database *d, const char *name, const char *about,
                              const char *command)
{
    sqlite3_stmt *columns = NULL;
    char *sql = sqlite3_mprintf("select name, type from pragma_table_info(%Q)", name);
    bool good = sql && sqlite3_prepare_v2(d->db, sql, -1, &columns, NULL) == SQLITE_OK;
    printf("%s%s%s: %s", terminal_color_begin(COLOR_HEAD), name, terminal_color_end(), about);
    printf(command ? " (poet %s --json)\n" : "\n", command);
    int column = 0;
    for (unsigned i = 0; good && sqlite3_step(columns) == SQLITE_ROW; i++) {
        if (sql_table_has_everywhere((const char *)sqlite3_column_text(columns, 0)))
            continue;
        char *text = xasprintf("%s%s", (const char *)sqlite3_column_text(columns, 0),
                               query_kind((const char *)sqlite3_column_text(columns, 1)));
        int width = (int)strlen(text) + 2;
        if (i && column + width > 78)
            column = printf(",\n    ") - 2;
        else
            column += printf(i ? ", " : "    ");
        column += printf("%s", text);
        free(text);
    }
    putchar('\n');
    sqlite3_free(sql);
    sqlite3_finalize(columns);
    return good;
}

/* Prints all tables and views, and why the run does not have one. */
static int query_print_tables(struct sql_database *d)
{
    int status = EXIT_DONE;
    d->settings.top = 1;
    pager_begin();
    query_print_table(d, "events", "each event, in an order in which causes precede effects",
                      "dump");
    query_print_table(d, "messages", "view of events: each message from a send to a receive", NULL);
    query_print_table(d, "order_edges", "view of events: their key order_after", NULL);
    for (const struct sql_table *table = sql_tables; table->name; table++) {
        char *problem;
        int loaded = sql_table_load(d, table, &problem);
        if (problem)
            printf("%s%s%s: not in this trace: %s\n", terminal_color_begin(COLOR_HEAD), table->name,
                   terminal_color_end(), problem);
        else if (loaded == EXIT_DONE)
            query_print_table(d, table->name, table->about, table->command);
        else
            status = loaded;
        free(problem);
    }
    puts("Tables of commands with --columns also have row_number, row_parent (the number of the\n"
         "row that a sub-row belongs to), row_depth, row_event, row_lines and row_context.");
    return status;
}

/* ---- the command ---- */

static int query_run_statement(struct sql_database *d, const char *sql,
                               const struct query_options *o)
{
    sqlite3_stmt *statement = NULL;
    int status = sql_run_prepare(d, sql, &statement);
    if (status != EXIT_DONE)
        return status;
    if (!statement)
        return command_usage(o->command, "empty statement");
    if (!o->json && !o->csv)
        pager_begin();
    int ended = sql_output_run(stdout, d, statement,
                               o->json  ? OUTPUT_JSON
                               : o->csv ? OUTPUT_CSV
                                        : OUTPUT_TEXT);
    if (ended != SQLITE_DONE) {
        fflush(stdout);
        status = sql_run_fail(d, sql);
    }
    sqlite3_finalize(statement);
    return status;
}

/* sql NULL: lists the tables. */
static int query_open_and_run(const struct query_options *o, const char *source, const char *sql)
{
    struct command_source subject;
    table_progress_begin(o->command);
    if (!command_source_open(o->command, &subject, source, SESSION_ALL_LINES,
                             label_option_selected(LABELS_NAME)))
        return EXIT_FAILED;
    struct sql_database d = {.subject = &subject,
                             .source = source,
                             .settings = {.command = o->command, .from = o->from, .to = o->to}};
    command_source_warn_updated(o->command, &subject);
    int status = !sql_run_open(&d, NULL) ? EXIT_FAILED
                 : sql                   ? query_run_statement(&d, sql, o)
                                         : query_print_tables(&d);
    sql_run_close(&d);
    command_source_close(&subject);
    return status;
}

static int query_run(const struct command *command, int argc, char **argv)
{
    struct query_options o = {.command = command};
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status != OPTIONS_READ)
        return status;
    const char *source =
        first < argc && !query_is_statement(argv[first]) && strcmp(argv[first], "-") != 0
            ? argv[first++]
            : NULL;
    const char *sql = first < argc ? argv[first++] : NULL;
    if (first != argc)
        return command_usage(command, "extra operand: %s", argv[first]);
    char *input = sql && strcmp(sql, "-") == 0 ? query_read_statement(command) : NULL;
    if (sql && strcmp(sql, "-") == 0 && !input)
        return EXIT_FAILED;
    status = query_open_and_run(&o, source, input ? input : sql);
    free(input);
    return status;
}

static const struct argp_child children[] = {{&labels_options, 0, NULL, 0},
                                             {&color_options, 0, NULL, 0},
                                             {&options_common, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .options = options,
    .parser = query_parse_option,
    .args_doc = "[SOURCE] [SQL|-]",
    .doc = "Print the result of a statement of SQLite: each table that Poet computes is a table of "
           "SQL, with the columns and values of --json; events are read as a stream.  Without SQL: "
           "list the tables and their columns; with -, read the statement from standard input.  A "
           "table is computed when a statement names it.  Times are in ns; unknown values are "
           "null.  Statements only read: files cannot be attached or written."
           "\vExample: poet query latest \"select thread, sum(waited_ns) from waits where object = "
           "'M:table' group by thread\".  poet export -f sqlite writes all tables to a file.",
    .children = children};

const struct command command_query = {.name = "query",
                                      .summary = "query events and all tables with SQL",
                                      .run = query_run,
                                      .argp = &argp};
