#include "clients/cli/sql_events.h"

#include "base/alloc.h"
#include "clients/cli/dump_columns.h"
#include "clients/cli/output_format.h"
#include "clients/cli/sql_values.h"
#include "wire/event_types.h"
#include "wire/text.h"
#include "wire/limits.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns that poet dump --json does not have ---- */

static struct json_object *sql_event_line(struct command_source *subject,
                                          const struct event_info *e)
{
    (void)subject;
    return e->at.line & HIDDEN_LINE ? json_take_text(xasprintf("h%u", e->at.line & ~HIDDEN_LINE))
                                    : json_object_new_int64(e->at.line);
}

static struct json_object *sql_event_number(struct command_source *subject,
                                            const struct event_info *e)
{
    (void)subject;
    return json_object_new_uint64(e->at.number);
}

static struct json_object *sql_event_label(struct command_source *subject, uint32_t line)
{
    command_source_label_lines(subject);
    return line && !(line & HIDDEN_LINE)
               ? json_object_new_string(metadata_label(&subject->source.book, line))
               : NULL;
}

static struct json_object *sql_event_line_label(struct command_source *subject,
                                                const struct event_info *e)
{
    return sql_event_label(subject, e->at.line);
}

static struct json_object *sql_event_thread_label(struct command_source *subject,
                                                  const struct event_info *e)
{
    return sql_event_label(subject, e->thread);
}

static struct json_object *sql_event_object_label(struct command_source *subject,
                                                  const struct event_info *e)
{
    return sql_event_label(subject, e->about);
}

static struct json_object *sql_event_direction(struct command_source *subject,
                                               const struct event_info *e)
{
    (void)subject;
    return e->relation == RELATION_SEND      ? json_object_new_string("send")
           : e->relation == RELATION_RECEIVE ? json_object_new_string("receive")
                                             : NULL;
}

static const struct event_column sql_event_extras[] = {
    {"line", sql_event_line, false},
    {"number", sql_event_number, false},
    {"line_label", sql_event_line_label, false},
    {"thread_label", sql_event_thread_label, false},
    {"object_label", sql_event_object_label, false},
    {"direction", sql_event_direction, false},
    {NULL, NULL, false}};

/* Returns the column with that index, from 0; a row without a name behind the last one. */
static const struct event_column *sql_event_column(unsigned index)
{
    const struct event_column *c = event_columns;
    while (c->name && index--)
        c++;
    if (c->name)
        return c;
    for (c = sql_event_extras; c->name && index--;)
        c++;
    return c;
}

char *sql_events_declaration(void)
{
    char *text = xstrdup("(");
    for (unsigned i = 0; sql_event_column(i)->name; i++) {
        char *more = xasprintf("%s%s\"%s\"", text, i ? ", " : "", sql_event_column(i)->name);
        free(text);
        text = more;
    }
    char *all = xasprintf("%s)", text);
    free(text);
    return all;
}

/* ---- streams ---- */

/* A session that scans use one after the other. */
struct sql_stream {
    struct command_source own; /* of all streams but the first */
    struct command_source *subject;
    bool used;
};

struct sql_events {
    struct sql_stream **streams;
    uint32_t stream_count;
};

/* Returns a stream that no scan uses; NULL after reporting an error. */
static struct sql_stream *sql_events_stream(struct sql_database *d)
{
    struct sql_events *all = d->events;
    for (uint32_t i = 0; i < all->stream_count; i++)
        if (!all->streams[i]->used)
            return all->streams[i];
    struct sql_stream *stream = xcalloc(1, sizeof *stream);
    stream->subject = all->stream_count ? &stream->own : d->subject;
    if (all->stream_count && !command_source_open(d->settings.command, &stream->own,
                                                  d->source ? d->source : d->subject->source.name,
                                                  SESSION_ALL_LINES, LABELS_NAME)) {
        free(stream);
        sql_database_set_problem(d, "cannot open the source again, for a scan within a scan");
        return NULL;
    }
    ARRAY_PUSH(all->streams, all->stream_count, stream);
    return stream;
}

void sql_events_free(struct sql_database *database)
{
    struct sql_events *all = database->events;
    for (uint32_t i = 0; all && i < all->stream_count; i++) {
        if (i)
            command_source_close(&all->streams[i]->own);
        free(all->streams[i]);
    }
    if (all)
        free(all->streams);
    free(all);
    database->events = NULL;
}

/* ---- scans ---- */

struct sql_scan {
    sqlite3_vtab_cursor base;
    struct sql_database *database;
    struct sql_stream *stream;
    uint32_t request; /* its id; 0: none */
    struct event_info *events; /* received; those before `next` are freed */
    size_t count, next, room;
    sqlite3_int64 row;
    bool failed;
};

struct sql_events_table {
    sqlite3_vtab base;
    struct sql_database *database;
};

static void sql_scan_receive(void *user, const struct response_chunk *answer)
{
    struct sql_scan *scan = user;
    struct event_info event;
    if (answer->part == RESPONSE_ERROR) {
        char *why = decode_name(answer->in, LIMIT_TEXT_BYTES);
        sql_database_set_problem(scan->database, why);
        scan->failed = true;
        free(why);
    }
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &event);
    if (answer->in->error) {
        event_info_free(&event);
        return;
    }
    scan->events = array_reserve(scan->events, &scan->room, scan->count + 1, sizeof *scan->events);
    scan->events[scan->count++] = event;
}

/* Receives until there is an event, or the dump ends. */
static void sql_scan_fill(struct sql_scan *scan)
{
    struct session *session = &scan->stream->subject->source;
    struct error error = {""};
    unsigned type;
    struct decoder in;
    if (scan->next < scan->count)
        return;
    scan->next = scan->count = 0;
    while (!scan->count && !scan->failed && session_request_is_open(session, scan->request))
        if (session_receive(session, true, &type, &in, &error) <= 0 ||
            (type == MESSAGE_RESPONSE && !session_request_done(session, &in, &error))) {
            sql_database_set_problem(scan->database, error.text);
            scan->failed = true;
        }
}

static int sql_scan_status(struct sql_scan *scan)
{
    if (!scan->failed)
        return SQLITE_OK;
    const char *why = scan->database->problem;
    sqlite3_free(scan->base.pVtab->zErrMsg);
    scan->base.pVtab->zErrMsg = sqlite3_mprintf("events: %s", why ? why : "unknown error");
    return SQLITE_ERROR;
}

/* Ends a scan and gives its stream back. */
static void sql_scan_end(struct sql_scan *scan)
{
    if (scan->request)
        session_cancel_request(&scan->stream->subject->source, scan->request);
    for (; scan->next < scan->count; scan->next++)
        event_info_free(&scan->events[scan->next]);
    scan->next = scan->count = 0;
    scan->request = 0;
    if (scan->stream)
        scan->stream->used = false;
    scan->stream = NULL;
}

static int sql_scan_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
    struct sql_scan *scan = xcalloc(1, sizeof *scan);
    scan->database = ((struct sql_events_table *)table)->database;
    *cursor = &scan->base;
    return SQLITE_OK;
}

static int sql_scan_close(sqlite3_vtab_cursor *cursor)
{
    struct sql_scan *scan = (struct sql_scan *)cursor;
    sql_scan_end(scan);
    free(scan->events);
    free(scan);
    return SQLITE_OK;
}

static int sql_scan_begin(sqlite3_vtab_cursor *cursor, int plan, const char *text, int count,
                          sqlite3_value **values)
{
    struct sql_scan *scan = (struct sql_scan *)cursor;
    (void)plan, (void)text, (void)count, (void)values;
    sql_scan_end(scan);
    scan->row = 0;
    scan->stream = sql_events_stream(scan->database);
    scan->failed = !scan->stream;
    if (scan->failed)
        return sql_scan_status(scan);
    scan->stream->used = true;
    scan->request =
        session_send(&scan->stream->subject->source, REQUEST_DUMP, NULL, sql_scan_receive, scan);
    sql_scan_fill(scan);
    return sql_scan_status(scan);
}

static int sql_scan_next(sqlite3_vtab_cursor *cursor)
{
    struct sql_scan *scan = (struct sql_scan *)cursor;
    if (scan->next < scan->count)
        event_info_free(&scan->events[scan->next++]);
    scan->row++;
    sql_scan_fill(scan);
    return sql_scan_status(scan);
}

static int sql_scan_at_end(sqlite3_vtab_cursor *cursor)
{
    const struct sql_scan *scan = (const struct sql_scan *)cursor;
    return scan->next >= scan->count;
}

static int sql_scan_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int index)
{
    const struct sql_scan *scan = (const struct sql_scan *)cursor;
    struct json_object *value =
        sql_event_column((unsigned)index)->value(scan->stream->subject, &scan->events[scan->next]);
    sql_result_json(context, value);
    json_object_put(value);
    return SQLITE_OK;
}

static int sql_scan_row(sqlite3_vtab_cursor *cursor, sqlite3_int64 *row)
{
    *row = ((const struct sql_scan *)cursor)->row;
    return SQLITE_OK;
}

/* ---- the table ---- */

static int sql_events_connect(sqlite3 *db, void *database, int count, const char *const *arguments,
                              sqlite3_vtab **result, char **error)
{
    char *columns = sql_events_declaration(), *text = xasprintf("create table x%s", columns);
    int status = sqlite3_declare_vtab(db, text);
    (void)count, (void)arguments, (void)error;
    free(text);
    free(columns);
    if (status != SQLITE_OK)
        return status;
    struct sql_events_table *table = xcalloc(1, sizeof *table);
    table->database = database;
    *result = &table->base;
    return SQLITE_OK;
}

static int sql_events_disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

/* The only plan is a scan, which costs as much as there are events. */
static int sql_events_plan(sqlite3_vtab *table, sqlite3_index_info *plan)
{
    const struct sql_database *d = ((const struct sql_events_table *)table)->database;
    uint64_t events = d->subject->source.book.run.events;
    plan->estimatedRows = (sqlite3_int64)(events ? events : 1);
    plan->estimatedCost = 10.0 * (double)plan->estimatedRows;
    return SQLITE_OK;
}

static const sqlite3_module sql_events_module = {.iVersion = 0,
                                                 .xConnect = sql_events_connect,
                                                 .xBestIndex = sql_events_plan,
                                                 .xDisconnect = sql_events_disconnect,
                                                 .xOpen = sql_scan_open,
                                                 .xClose = sql_scan_close,
                                                 .xFilter = sql_scan_begin,
                                                 .xNext = sql_scan_next,
                                                 .xEof = sql_scan_at_end,
                                                 .xColumn = sql_scan_column,
                                                 .xRowid = sql_scan_row};

bool sql_events_add(struct sql_database *database, const char *name)
{
    database->events = xcalloc(1, sizeof *database->events);
    return sqlite3_create_module(database->db, name, &sql_events_module, database) == SQLITE_OK;
}
