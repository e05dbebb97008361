#include "clients/cli/sql_tables.h"

#include "base/alloc.h"
#include "clients/cli/blocked.h"
#include "clients/cli/dump_columns.h"
#include "clients/cli/finding_options.h"
#include "clients/cli/run_findings.h"
#include "clients/cli/sql_values.h"
#include "clients/cli/table_options.h"
#include "wire/limits.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

struct sql_columns {
    char **names;
    const char **types; /* "" : values keep their types */
    uint32_t count;
};

static void sql_columns_add(struct sql_columns *columns, const char *name, const char *type)
{
    uint32_t types = columns->count;
    ARRAY_PUSH(columns->types, types, type);
    ARRAY_PUSH(columns->names, columns->count, xstrdup(name));
}

static bool sql_columns_have(const struct sql_columns *columns, const char *name)
{
    uint32_t i = 0;
    while (i < columns->count && sqlite3_stricmp(columns->names[i], name) != 0)
        i++;
    return i < columns->count;
}

static void sql_columns_free(struct sql_columns *columns)
{
    for (uint32_t i = 0; i < columns->count; i++)
        free(columns->names[i]);
    free(columns->names);
    free(columns->types);
}

/* ---- creating and inserting ---- */

/* Creates the table; returns a statement that inserts a row, or NULL. */
static sqlite3_stmt *sql_table_create(struct sql_database *d, const char *name,
                                      const struct sql_columns *columns)
{
    sqlite3_str *create = sqlite3_str_new(d->db), *insert = sqlite3_str_new(d->db);
    sqlite3_stmt *statement = NULL;
    sqlite3_str_appendf(create, "create table \"%w\"(", name);
    sqlite3_str_appendf(insert, "insert into \"%w\" values(", name);
    for (uint32_t i = 0; i < columns->count; i++) {
        sqlite3_str_appendf(create, "%s\"%w\" %s", i ? ", " : "", columns->names[i],
                            columns->types[i]);
        sqlite3_str_appendall(insert, i ? ", ?" : "?");
    }
    sqlite3_str_appendall(create, ")");
    sqlite3_str_appendall(insert, ")");
    char *created = sqlite3_str_finish(create), *inserted = sqlite3_str_finish(insert);
    if (created && inserted && sqlite3_exec(d->db, created, NULL, NULL, NULL) == SQLITE_OK)
        sqlite3_prepare_v2(d->db, inserted, -1, &statement, NULL);
    sqlite3_free(created);
    sqlite3_free(inserted);
    return statement;
}

static bool sql_table_insert(sqlite3_stmt *insert, const struct sql_columns *columns,
                             struct json_object *row)
{
    for (uint32_t i = 0; i < columns->count; i++)
        sql_bind_json(insert, (int)i + 1, json_object_object_get(row, columns->names[i]));
    bool done = sqlite3_step(insert) == SQLITE_DONE;
    return sqlite3_reset(insert) == SQLITE_OK && done;
}

/* ---- tables of the server ---- */

/* What the rows of all of them have, beside their columns. */
static const char *const sql_row_columns[] = {"row_number", "row_parent", "row_depth",
                                              "row_event",  "row_lines",  "row_context"};

static const char *sql_table_type(enum table_kind kind)
{
    return kind == TABLE_NS || kind == TABLE_FINE || kind == TABLE_COUNT ? "integer"
           : kind == TABLE_SHARE                                         ? "real"
                                                                         : "";
}

static void sql_table_columns(const struct result_table *t, struct sql_columns *columns)
{
    for (uint32_t i = 0; i < t->column_count; i++)
        if (!sql_columns_have(columns, t->columns[i].name))
            sql_columns_add(columns, t->columns[i].name,
                            sql_table_type((enum table_kind)t->columns[i].kind));
    for (size_t i = 0; i < sizeof sql_row_columns / sizeof *sql_row_columns; i++)
        if (!sql_columns_have(columns, sql_row_columns[i]))
            sql_columns_add(columns, sql_row_columns[i], i < 3 ? "integer" : "");
}

/* Returns the row as an object with all columns, which the caller frees. parent 0: none. */
static struct json_object *sql_table_row(const struct table_names *names,
                                         const struct result_table *t, uint32_t row,
                                         const uint32_t *columns, uint32_t parent)
{
    static const char *const keys[] = {"depth", "event", "lines", "context"};
    struct json_object *all = table_row_json(names, t, row, columns, t->column_count),
                       *cells = json_object_object_get(all, "row");
    json_object_object_add(cells, "row_number", json_object_new_int64(row + 1));
    json_object_object_add(cells, "row_parent", parent ? json_object_new_int64(parent) : NULL);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_object_add(cells, sql_row_columns[i + 2],
                               json_object_get(json_object_object_get(all, keys[i])));
    json_object_get(cells);
    json_object_put(all);
    return cells;
}

static bool sql_table_has_row(const struct sql_table *table, unsigned depth)
{
    return table->rows == SQL_ALL_ROWS || (table->rows == SQL_OUTER_ROWS) == (depth == 0);
}

static bool sql_table_insert_rows(struct sql_database *d, const struct sql_table *table,
                                  const struct result_table *t, const struct sql_columns *columns,
                                  sqlite3_stmt *insert)
{
    struct table_names names = {&d->subject->source.book, d->subject->sites};
    uint32_t parents[UINT8_MAX + 2] = {0}; /* by depth + 1: the last row */
    uint32_t *every = xcalloc(t->column_count, sizeof *every);
    bool good = true;
    for (uint32_t i = 0; i < t->column_count; i++)
        every[i] = i;
    for (uint32_t i = 0; i < t->row_count && good; i++) {
        unsigned depth = t->rows[i].depth;
        parents[depth + 1] = i + 1;
        if (!sql_table_has_row(table, depth))
            continue;
        struct json_object *row = sql_table_row(&names, t, i, every, parents[depth]);
        good = sql_table_insert(insert, columns, row);
        json_object_put(row);
    }
    free(every);
    return good;
}

static int sql_table_load_preset(struct sql_database *d, const struct sql_table *table,
                                 char **problem)
{
    struct table_settings settings = d->settings;
    struct table_option options[2] = {
        {(char *)(uintptr_t)table->key, (char *)(uintptr_t)table->value}, {0}};
    struct table_section section = {.what = table->preset, .options = options};
    struct result_table t = {0};
    struct sql_columns columns = {0};
    settings.by = table->by;
    settings.quiet = true;
    int status = table_request_run(&settings, &section, d->subject, &t);
    if (status == EXIT_DONE) {
        sql_table_columns(&t, &columns);
        sqlite3_stmt *insert = sql_table_create(d, table->name, &columns);
        if (!insert || !sql_table_insert_rows(d, table, &t, &columns, insert))
            status = sql_database_fail(d);
        sqlite3_finalize(insert);
    }
    for (uint32_t i = 0; i < t.note_count && status == EXIT_DONE; i++)
        sql_database_add_note(d, xasprintf("%s: %s", table->name, t.notes[i]));
    if (t.row_count >= LIMIT_TABLE_ROWS)
        sql_database_add_note(d, xasprintf("%s: only the first %u rows", table->name, t.row_count));
    *problem = xstrdup(t.problem);
    sql_columns_free(&columns);
    result_table_free(&t);
    return status;
}

/* ---- lists of objects ---- */

/* Returns whether an object is a line, as {"line": 2, "label": "T:main"}. */
static bool sql_list_is_line(struct json_object *value)
{
    return json_object_is_type(value, json_type_object) && json_object_object_length(value) == 2 &&
           json_object_object_get(value, "line") && json_object_object_get(value, "label");
}

/* Replaces each line by two columns, its label under the name of the column, as other tables have
 * it, and its number; returns the new object. */
static struct json_object *sql_list_row(struct json_object *object)
{
    struct json_object *row = json_object_new_object();
    json_object_object_foreach(object, key, value)
    {
        if (!sql_list_is_line(value)) {
            json_object_object_add(row, key, json_object_get(value));
            continue;
        }
        char *number = xasprintf("%s_line", key);
        json_object_object_add(row, key, json_object_get(json_object_object_get(value, "label")));
        json_object_object_add(row, number, json_object_get(json_object_object_get(value, "line")));
        free(number);
    }
    return row;
}

/* Adds the columns of a table, also if it has no rows, and any others that its rows have. */
static void sql_list_columns(const struct sql_table *table, struct json_object *rows,
                             struct sql_columns *columns)
{
    char *words = xstrdup(table->columns), *rest = words, *word;
    while ((word = strsep(&rest, " ")) != NULL)
        sql_columns_add(columns, word, "");
    free(words);
    for (size_t i = 0; i < json_object_array_length(rows); i++) {
        json_object_object_foreach(json_object_array_get_idx(rows, i), key, value)
        {
            (void)value;
            if (!sql_columns_have(columns, key))
                sql_columns_add(columns, key, "");
        }
    }
}

static int sql_table_load_list(struct sql_database *d, const struct sql_table *table)
{
    struct json_object *list = json_object_new_array(), *rows = json_object_new_array();
    struct sql_columns columns = {0};
    int status = table->make(d, list);
    for (size_t i = 0; i < json_object_array_length(list); i++)
        json_object_array_add(rows, sql_list_row(json_object_array_get_idx(list, i)));
    json_object_put(list);
    sql_list_columns(table, rows, &columns);
    sqlite3_stmt *insert = status == EXIT_DONE ? sql_table_create(d, table->name, &columns) : NULL;
    bool good = insert != NULL;
    for (size_t i = 0; i < json_object_array_length(rows) && good; i++)
        good = sql_table_insert(insert, &columns, json_object_array_get_idx(rows, i));
    if (status == EXIT_DONE && !good)
        status = sql_database_fail(d);
    sqlite3_finalize(insert);
    sql_columns_free(&columns);
    json_object_put(rows);
    return status;
}

/* ---- threads that wait at the end ---- */

/* Appends the objects of one list of poet blocked --json; those of lists in it with the number of
 * the list, from 1, as "cycle". */
static void sql_blocked_append(struct json_object *all, const char *key, struct json_object *list)
{
    struct json_object *from = json_object_object_get(all, key);
    for (size_t i = 0; i < json_object_array_length(from); i++) {
        struct json_object *item = json_object_array_get_idx(from, i);
        bool nested = json_object_is_type(item, json_type_array);
        for (size_t k = 0; nested && k < json_object_array_length(item); k++) {
            struct json_object *step = json_object_array_get_idx(item, k);
            json_object_object_add(step, "cycle", json_object_new_int64((int64_t)i + 1));
            json_object_array_add(list, json_object_get(step));
        }
        if (!nested)
            json_object_array_add(list, json_object_get(item));
    }
}

static int sql_blocked_make(struct sql_database *d, const char *key, struct json_object *list)
{
    struct wait_list waits;
    bool good = command_source_waits(d->settings.command, d->subject, &waits);
    if (good) {
        struct json_object *all = blocked_json(d->subject, &waits);
        sql_blocked_append(all, key, list);
        json_object_put(all);
    }
    wait_list_free(&waits);
    return good ? EXIT_DONE : EXIT_FAILED;
}

static int sql_make_blocked(struct sql_database *d, struct json_object *list)
{
    return sql_blocked_make(d, "blocked", list);
}

static int sql_make_asleep(struct sql_database *d, struct json_object *list)
{
    return sql_blocked_make(d, "asleep", list);
}

static int sql_make_deadlocks(struct sql_database *d, struct json_object *list)
{
    return sql_blocked_make(d, "cycles", list);
}

static int sql_make_diagnoses(struct sql_database *d, struct json_object *list)
{
    return sql_blocked_make(d, "diagnoses", list);
}

/* ---- findings and lines ---- */

#define SQL_FINDINGS                                                                               \
    (FINDINGS_OF_HANGS | FINDINGS_OF_RULES | FINDINGS_OF_PREDICTION | FINDINGS_OF_RACES |          \
     FINDINGS_OF_MEMORY)

static int sql_make_findings(struct sql_database *d, struct json_object *list)
{
    struct run_findings findings = {0};
    int status =
        run_findings_collect(d->settings.command, d->subject, SQL_FINDINGS, NULL, &findings);
    for (uint32_t i = 0; i < findings.count && status == EXIT_DONE; i++)
        json_object_array_add(list, finding_json(&findings.items[i]));
    run_findings_free(&findings);
    return status;
}

/* Adds a line with the label that other tables have. */
static void sql_lines_add(struct sql_database *d, uint32_t line, struct json_object *list)
{
    struct json_object *row = json_object_new_object();
    const struct trace_metadata *book = &d->subject->source.book;
    for (const struct line_column *c = line_columns; c->name; c++)
        json_object_object_add(row, c->name, c->value(d->subject, line));
    json_object_object_add(row, "label",
                           line & HIDDEN_LINE ? NULL
                                              : json_object_new_string(metadata_label(book, line)));
    json_object_array_add(list, row);
}

static void sql_lines_receive(void *received, const struct response_chunk *answer)
{
    (void)answer;
    *(bool *)received = true;
}

/* Makes hidden lines known: a dump begins with them. Returns an exit status, after reporting an
 * error. */
static int sql_lines_request_hidden(struct sql_database *d)
{
    struct session *session = &d->subject->source;
    struct error error = {""};
    bool received = false, good = true;
    unsigned type;
    struct decoder in;
    uint32_t id = session_send(session, REQUEST_DUMP, NULL, sql_lines_receive, &received);
    while (good && !received && session_request_is_open(session, id))
        good = session_receive(session, true, &type, &in, &error) > 0 &&
               (type != MESSAGE_RESPONSE || session_request_done(session, &in, &error));
    session_cancel_request(session, id);
    return good ? EXIT_DONE : command_fail(d->settings.command, "%s", error.text);
}

static int sql_make_lines(struct sql_database *d, struct json_object *list)
{
    const struct trace_metadata *book = &d->subject->source.book;
    int status = sql_lines_request_hidden(d);
    command_source_label_lines(d->subject);
    for (uint32_t i = 1; i <= book->line_count; i++)
        sql_lines_add(d, i, list);
    for (uint32_t i = 1; i <= book->hidden_count; i++)
        sql_lines_add(d, HIDDEN_LINE | i, list);
    return status;
}

/* ---- the tables ---- */

/* clang-format off */
const struct sql_table sql_tables[] = {
    {.name = "run", .command = "report", .about = "the program, its command line and its duration",
     .preset = "run"},
    {.name = "lines", .command = "dump", .about = "trace lines: threads and objects",
     .make = sql_make_lines,
     .columns = "line kind letter name object shared hidden opened_by label"},
    {.name = "states", .command = "states", .about = "time per thread state", .preset = "states"},
    {.name = "state_intervals", .command = "states --list", .about = "intervals of thread states",
     .preset = "intervals"},
    {.name = "task_counts", .command = "states --tasks", .about = "number of tasks over time",
     .preset = "tasks"},
    {.name = "task_tree", .command = "states --created", .about = "tasks and their creators",
     .preset = "created"},
    {.name = "placement", .command = "states --placement", .about = "worker threads of tasks",
     .preset = "placement"},
    {.name = "concurrency", .command = "states --concurrency", .about = "level of concurrency",
     .preset = "concurrency"},
    {.name = "waits", .command = "waits --by wait", .about = "each wait",
     .preset = "waits", .by = "wait", .rows = SQL_OUTER_ROWS},
    {.name = "wait_causes", .command = "waits --by wait",
     .about = "code that a wait is attributed to; row_parent: its wait",
     .preset = "waits", .by = "wait", .rows = SQL_INNER_ROWS},
    {.name = "bottlenecks", .command = "waits --knots", .about = "bottleneck groups (wPerf knots)",
     .preset = "knots"},
    {.name = "locks", .command = "locks", .about = "locks: holds and waits",
     .preset = "locks", .rows = SQL_OUTER_ROWS},
    {.name = "lock_threads", .command = "locks", .about = "threads at a lock; row_parent: its row",
     .preset = "locks", .rows = SQL_INNER_ROWS},
    {.name = "path", .command = "path", .about = "code segments of the critical path",
     .preset = "path"},
    {.name = "path_pieces", .command = "path --by piece", .about = "the critical path, in order",
     .preset = "path", .by = "piece"},
    {.name = "calls", .command = "calls", .about = "function profile",
     .preset = "calls", .key = "points", .value = "yes"},
    {.name = "call_paths", .command = "calls --by path", .about = "function profile by call path",
     .preset = "calls", .by = "path", .key = "points", .value = "yes"},
    {.name = "call_intervals", .command = "calls --every", .about = "single calls",
     .preset = "entries"},
    {.name = "memory", .command = "memory", .about = "heap memory not freed; invalid frees",
     .preset = "memory"},
    {.name = "memory_blocks", .command = "memory --each", .about = "blocks not freed",
     .preset = "memory", .key = "each", .value = "yes"},
    {.name = "usage", .command = "usage", .about = "OS resource usage", .preset = "usage"},
    {.name = "metrics", .command = "metrics", .about = "user-defined metrics",
     .preset = "metrics"},
    {.name = "blocked", .command = "blocked --labels=name", .about = "threads blocked at the end",
     .make = sql_make_blocked,
     .columns = "thread thread_line waits_for waits_for_line type event since_ns site held_by "
                "stack incomplete handler destructor outcome at_exit"},
    {.name = "asleep", .command = "blocked --labels=name",
     .about = "threads asleep in untraced calls",
     .make = sql_make_asleep,
     .columns = "thread thread_line waits_for since_ns call futex object last site held_by "
                "outcome"},
    {.name = "deadlocks", .command = "blocked --labels=name", .about = "steps of deadlock cycles",
     .make = sql_make_deadlocks,
     .columns = "cycle line label waits_for waits_for_line event how acquired_event text"},
    {.name = "diagnoses", .command = "blocked --labels=name",
     .about = "objects with waiters that hang",
     .make = sql_make_diagnoses,
     .columns = "object object_line pool outcome uncertainties wait last type relation "
                "woke_waiter woken woken_line arrived participants candidates running text"},
    {.name = "findings", .command = "report --format json",
     .about = "deadlocks, hangs, violated rules, predicted bugs and leaks, with their certainty",
     .make = sql_make_findings,
     .columns = "kind certainty identity text objects places accepted"},
    {.name = "predictions", .command = "predict --all", .about = "potential concurrency bugs",
     .preset = "predict", .key = "kinds", .value = "all", .rows = SQL_OUTER_ROWS},
    {.name = "prediction_events", .command = "predict --all",
     .about = "events of a potential bug; row_parent: its row",
     .preset = "predict", .key = "kinds", .value = "all", .rows = SQL_INNER_ROWS},
    {.name = "violations", .command = "report", .about = "rules that the program violated",
     .preset = "violations"},
    {0}};
/* clang-format on */

/* A list of one event is the event alone. */
const char sql_views[] =
    "create view messages as "
    "select p.value as send_event, e.event as receive_event, e.thread_label as receiver, "
    "e.line_label as line, e.time_ns as receive_ns "
    "from events e, json_each(iif(e.partner like '[%', e.partner, json_array(e.partner))) p "
    "where e.direction = 'receive';"
    "create view order_edges as "
    "select a.value as before_event, e.event as after_event "
    "from events e, json_each(e.order_after) a;";

const struct sql_table *sql_table_find(const char *name)
{
    for (const struct sql_table *table = sql_tables; table->name; table++)
        if (sqlite3_stricmp(table->name, name) == 0)
            return table;
    return NULL;
}

bool sql_table_has_everywhere(const char *column)
{
    for (size_t i = 0; i < sizeof sql_row_columns / sizeof *sql_row_columns; i++)
        if (strcmp(sql_row_columns[i], column) == 0)
            return true;
    return false;
}

int sql_table_load(struct sql_database *d, const struct sql_table *table, char **problem)
{
    *problem = NULL;
    if (!sql_database_execute(d, "begin"))
        return EXIT_FAILED;
    int status =
        table->make ? sql_table_load_list(d, table) : sql_table_load_preset(d, table, problem);
    bool ended = sql_database_execute(d, "commit");
    return status == EXIT_DONE && !ended ? EXIT_FAILED : status;
}
