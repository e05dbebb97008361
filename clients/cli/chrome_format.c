/* The trace-event format, which Perfetto opens.
 *
 * Each line is a track. The activities of its thread are nested slices (thread_slices.h) in one
 * that lasts as long as the line has events; every event is an instant, and an edge is a flow. A
 * flow binds to the slice around its end, so there is always one. Threads that recorded when each
 * call began and ended (POET_MEASURE=calls=every) have an additional track, on which the calls are
 * nested slices. */
#include "clients/cli/order_formats.h"

#include "base/alloc.h"
#include "clients/cli/output_format.h"
#include "clients/cli/table_options.h"
#include "clients/cli/thread_slices.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE "50000" /* maximum number of entries and returns per request */
#define TRACK (1u << 30) /* added to a line for its track of calls: above the tracks of lines */

struct chrome_line {
    int64_t now_ns; /* its latest event: times along a track must not decrease */
    bool begun; /* the slice around all of it is open */
    int64_t *times; /* of its events, by number - first */
    uint64_t first, count;
    size_t room;
};

struct chrome {
    struct chrome_line *lines;
    uint32_t line_count;
    struct thread_slices *tracks;
    int64_t now_ns; /* of the current event */
    uint64_t flows;
    bool comma;
};

/* Writes an object of the list, and frees it. */
static void chrome_put(struct order_format *format, struct json_object *object)
{
    struct chrome *c = format->state;
    fputs(c->comma ? ",\n" : "\n", format->f);
    c->comma = true;
    json_write(format->f, object);
}

static uint32_t chrome_pid(const struct trace_metadata *book, uint32_t line)
{
    uint32_t process = metadata_line(book, line) ? metadata_line(book, line)->is.process : 0;
    uint32_t pid = process < book->process_count ? book->processes[process].pid : 0;
    return pid ? pid : 1 + process;
}

/* Returns a new object of the list, of this kind ("ph"), on this line's track. */
static struct json_object *chrome_object(const struct order_format *format, const char *kind,
                                         const char *name, uint32_t line)
{
    struct json_object *o = json_object_new_object();
    json_add_text(o, "ph", kind);
    if (name)
        json_add_text(o, "name", name);
    json_object_object_add(o, "pid",
                           json_object_new_uint64(chrome_pid(&format->subject->source.book, line)));
    json_object_object_add(o, "tid", json_object_new_uint64(line));
    return o;
}

/* The format has times in microseconds; three decimals keep the nanoseconds. */
static void chrome_add_time(struct json_object *object, const char *key, int64_t ns)
{
    char text[32];
    snprintf(text, sizeof text, "%.3f", (double)ns / 1000);
    json_object_object_add(object, key, json_object_new_double_s((double)ns / 1000, text));
}

/* Writes and frees a metadata event, such as the name of a track; its args have one entry. */
static void chrome_put_metadata(struct order_format *format, struct json_object *o, const char *key,
                                struct json_object *value)
{
    struct json_object *args = json_object_new_object();
    json_object_object_add(args, key, value);
    json_object_object_add(o, "args", args);
    chrome_put(format, o);
}

static void chrome_track(struct order_format *format, uint32_t line, const char *label)
{
    const struct trace_metadata *book = &format->subject->source.book;
    uint32_t process = metadata_line(book, line) ? metadata_line(book, line)->is.process : 0;
    const char *path = process < book->process_count ? book->processes[process].path : NULL;
    const char *name = path && *path ? path : book->run.name;
    name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    chrome_put_metadata(format, chrome_object(format, "M", "process_name", line), "name",
                        json_object_new_string(name));
    chrome_put_metadata(format, chrome_object(format, "M", "thread_name", line), "name",
                        json_object_new_string(label));
    chrome_put_metadata(format, chrome_object(format, "M", "thread_sort_index", line), "sort_index",
                        json_object_new_uint64(line));
}

/* ---- slices ---- */

/* Begins a slice on a line's track, now; name NULL: ends the innermost one. */
static void chrome_slice(struct order_format *format, uint32_t line, const char *name)
{
    struct chrome *c = format->state;
    struct chrome_line *l = &c->lines[line - 1];
    struct json_object *o = chrome_object(format, name ? "B" : "E", name, line);
    l->now_ns = c->now_ns > l->now_ns ? c->now_ns : l->now_ns;
    chrome_add_time(o, "ts", l->now_ns);
    chrome_put(format, o);
}

/* Begins the slice around all others of a track, if it has not begun. */
static void chrome_begin_track(struct order_format *format, uint32_t line)
{
    struct chrome *c = format->state;
    struct chrome_line *l = &c->lines[line - 1];
    if (l->begun)
        return;
    const struct target_line_type *kind = metadata_line_type(&format->subject->source.book, line);
    l->begun = true;
    l->now_ns = c->now_ns;
    chrome_slice(format, line, kind && kind->title ? kind->title : "line");
}

static void chrome_on_slice(void *context, uint32_t line, const char *name)
{
    chrome_begin_track(context, line);
    chrome_slice(context, line, name);
}

void chrome_begin(struct order_format *format, struct command_source *subject, FILE *f)
{
    const struct trace_metadata *book = &subject->source.book;
    struct chrome *c = format->state = xcalloc(1, sizeof *c);
    c->line_count = book->line_count;
    c->lines = xcalloc(c->line_count + 1, sizeof *c->lines);
    c->tracks = thread_slices_new(book, chrome_on_slice, format);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", f);
    for (uint32_t line = 1; line <= c->line_count; line++)
        chrome_track(format, line, metadata_label(book, line));
}

/* ---- events ---- */

static void chrome_instant(struct order_format *format, const struct event_info *e, int64_t at_ns)
{
    const struct trace_metadata *book = &format->subject->source.book;
    struct json_object *o =
        chrome_object(format, "i", metadata_type_name(book, e->type), e->at.line);
    struct json_object *args = json_object_new_object();
    chrome_add_time(o, "ts", at_ns);
    json_add_text(o, "s", "t");
    json_object_object_add(args, "event", json_event_id(e->at));
    if (e->about && e->about <= book->line_count)
        json_add_text(args, "about", metadata_label(book, e->about));
    if (e->site)
        json_add_text(args, "site", command_source_site(format->subject, e));
    if (e->text_count)
        json_add_text(args, "text", e->texts[0]);
    json_object_object_add(o, "args", args);
    chrome_put(format, o);
}

static void chrome_flow_end(struct order_format *format, const char *kind, const char *name,
                            uint32_t line, int64_t time_ns)
{
    struct chrome *c = format->state;
    struct json_object *o = chrome_object(format, kind, name, line);
    if (*kind == 'f')
        json_add_text(o, "bp", "e");
    chrome_add_time(o, "ts", time_ns);
    json_object_object_add(o, "id", json_object_new_uint64(c->flows));
    json_add_text(o, "cat", name);
    chrome_put(format, o);
}

static void chrome_flow(struct order_format *format, struct event_id from,
                        const struct event_info *to, const char *name)
{
    struct chrome *c = format->state;
    if (!from.line || from.line > c->line_count)
        return;
    const struct chrome_line *l = &c->lines[from.line - 1];
    if (from.number < l->first || from.number - l->first >= l->count)
        return;
    int64_t begin = l->times[from.number - l->first], end = c->lines[to->at.line - 1].now_ns;
    c->flows++; /* clocks of hosts may disagree, but a flow must not end before it begins */
    chrome_flow_end(format, "s", name, from.line, begin < end ? begin : end);
    chrome_flow_end(format, "f", name, to->at.line, end);
}

static void chrome_note_time(struct chrome_line *l, const struct event_info *e)
{
    if (!l->count)
        l->first = e->at.number;
    uint64_t index = e->at.number - l->first;
    if (e->at.number < l->first || index > l->count + (1u << 24))
        return;
    while (l->count <= index) {
        if (l->count == l->room) {
            l->room = l->room ? 2 * l->room : 64;
            l->times = xreallocarray(l->times, l->room, sizeof *l->times);
        }
        l->times[l->count++] = l->now_ns;
    }
}

void chrome_event(struct order_format *format, struct event_info *e)
{
    struct chrome *c = format->state;
    if (e->at.line & HIDDEN_LINE || !e->at.line || e->at.line > c->line_count)
        return;
    struct chrome_line *l = &c->lines[e->at.line - 1];
    c->now_ns = e->time_ns;
    chrome_begin_track(format, e->at.line);
    l->now_ns = e->time_ns > l->now_ns ? e->time_ns : l->now_ns;
    chrome_instant(format, e, l->now_ns);
    thread_slices_add_event(c->tracks, e);
    chrome_note_time(l, e);
    bool async = e->relation == RELATION_RECEIVE, pair = e->relation == RELATION_SYNC;
    for (uint32_t i = 0; (async || pair) && i < e->partner_count; i++)
        chrome_flow(format, e->partners[i], e, pair ? "pair" : "message");
    for (uint32_t i = 0; i < e->after_count; i++)
        chrome_flow(format, e->after[i], e, "order");
}

/* ---- calls ---- */

struct chrome_calls_writer {
    struct order_format *format;
    struct chrome_calls_line {
        bool named;
        uint32_t open;
        int64_t now_ns;
    } *lines; /* by line - 1 */
    uint32_t line_count;
    uint32_t scope, is, at, thread; /* columns */
    int64_t last_ns;
};

static struct json_object *chrome_calls_make_object(const struct chrome_calls_writer *w,
                                                    const char *kind, const char *name,
                                                    uint32_t line)
{
    struct json_object *o = chrome_object(w->format, kind, name, line);
    json_object_object_add(o, "tid", json_object_new_uint64(TRACK + line));
    return o;
}

static void chrome_calls_name_track(const struct chrome_calls_writer *w, uint32_t line)
{
    const struct trace_metadata *book = &w->format->subject->source.book;
    char *name = xasprintf("%s: calls", metadata_label(book, line));
    chrome_put_metadata(w->format, chrome_calls_make_object(w, "M", "thread_name", line), "name",
                        json_object_new_string(name));
    chrome_put_metadata(w->format, chrome_calls_make_object(w, "M", "thread_sort_index", line),
                        "sort_index", json_object_new_uint64(line));
    free(name);
}

static void chrome_calls_append_at(const struct chrome_calls_writer *w, struct json_object *o,
                                   int64_t at_ns)
{
    chrome_add_time(o, "ts", at_ns);
    chrome_put(w->format, o);
}

static void chrome_calls_append_lost(const struct chrome_calls_writer *w, uint32_t line,
                                     int64_t at_ns, const char *what)
{
    struct json_object *o = chrome_calls_make_object(w, "i", what, line);
    json_object_object_add(o, "s", json_object_new_string("t"));
    chrome_calls_append_at(w, o, at_ns);
}

static void chrome_calls_append_row(struct chrome_calls_writer *w, const struct result_table *t,
                                    const struct table_cell *cells)
{
    struct command_source *subject = w->format->subject;
    struct table_names names = {&subject->source.book, subject->sites};
    uint32_t line = cells[w->thread].line;
    const char *is = cells[w->is].is == CELL_TEXT ? cells[w->is].text : "open";
    if (cells[w->thread].is != CELL_LINE || !line || line > w->line_count || *is == 'o')
        return; /* "open": it began in an earlier part, and was written then */
    struct chrome_calls_line *l = &w->lines[line - 1];
    if (!l->named)
        chrome_calls_name_track(w, line);
    l->named = true;
    int64_t at_ns = cells[w->at].number > l->now_ns ? cells[w->at].number : l->now_ns;
    l->now_ns = at_ns;
    w->last_ns = at_ns > w->last_ns ? at_ns : w->last_ns;
    char *name = result_table_cell_text(&names, &t->columns[w->scope], &cells[w->scope]);
    if (strcmp(is, "lost") == 0) {
        chrome_calls_append_lost(w, line, at_ns, name);
    } else if (strcmp(is, "entry") == 0) {
        chrome_calls_append_at(w, chrome_calls_make_object(w, "B", name, line), at_ns);
        l->open++;
    } else if (l->open) {
        chrome_calls_append_at(w, chrome_calls_make_object(w, "E", NULL, line), at_ns);
        l->open--;
    }
    free(name);
}

/* Ends the calls that are open at the end. */
static void chrome_calls_close(const struct chrome_calls_writer *w, int64_t end_ns)
{
    int64_t at_ns = end_ns > w->last_ns ? end_ns : w->last_ns;
    for (uint32_t line = 1; line <= w->line_count; line++)
        for (uint32_t i = 0; i < w->lines[line - 1].open; i++) {
            struct json_object *o = chrome_calls_make_object(w, "E", NULL, line),
                               *args = json_object_new_object();
            json_object_object_add(args, "incomplete", json_object_new_boolean(true));
            json_object_object_add(o, "args", args);
            chrome_calls_append_at(w, o, at_ns);
        }
}

/* ---- calls: requests ---- */

/* Sets *from_ns to the start of the next part, which a note of the table names; returns false if
 * there is none. */
static bool chrome_calls_next_part(const struct result_table *t, int64_t *from_ns)
{
    for (uint32_t i = 0; i < t->note_count; i++) {
        const char *text = strstr(t->notes[i], "continue with --from ");
        long long ns;
        if (text && sscanf(text, "continue with --from %lldns", &ns) == 1 && ns > *from_ns) {
            *from_ns = ns;
            return true;
        }
    }
    return false;
}

static bool chrome_calls_find_columns(struct chrome_calls_writer *w, const struct result_table *t)
{
    w->scope = result_table_find_column(t, "function");
    w->is = result_table_find_column(t, "kind");
    w->at = result_table_find_column(t, "start_ns");
    w->thread = result_table_find_column(t, "thread");
    return w->scope < t->column_count && w->is < t->column_count && w->at < t->column_count &&
           w->thread < t->column_count;
}

/* Returns false after reporting an error. */
static bool chrome_calls_receive_part(struct chrome_calls_writer *w, struct table_settings *tables,
                                      bool *more)
{
    char most[] = "most", count[] = AT_ONCE;
    struct table_option options[] = {{most, count}, {0}};
    struct table_section section = {.what = "entries", .options = options};
    struct result_table t = {0};
    int64_t from_ns = tables->from.is == TABLE_AT_NS ? tables->from.at : INT64_MIN;
    bool good = table_request_run(tables, &section, w->format->subject, &t) == EXIT_DONE;
    bool known = good && chrome_calls_find_columns(w, &t);
    for (uint32_t i = 0; known && i < t.row_count; i++)
        chrome_calls_append_row(w, &t, result_table_cells(&t, i));
    *more = known && chrome_calls_next_part(&t, &from_ns);
    if (*more)
        tables->from = (struct table_end){.is = TABLE_AT_NS, .at = from_ns};
    result_table_free(&t);
    return good;
}

/* Requests the calls part by part, and writes each part before requesting the next: memory use does
 * not grow with the run. Unfinished calls end at end_ns, and are marked. Returns false, after
 * reporting the error, if the server does not respond. */
static bool chrome_calls_write(struct order_format *format, int64_t end_ns)
{
    struct table_settings tables = {.command = format->command};
    uint32_t count = format->subject->source.book.line_count;
    struct chrome_calls_writer w = {.format = format,
                                    .line_count = count,
                                    .lines = xcalloc(count + 1, sizeof *w.lines),
                                    .last_ns = INT64_MIN};
    bool more = true, good = true;
    while (good && more)
        good = chrome_calls_receive_part(&w, &tables, &more);
    chrome_calls_close(&w, end_ns);
    free(w.lines);
    return good;
}

/* ---- the end ---- */

/* Ends the slice around each track after its last event, so that flows from there are within it;
 * what a thread does at last extends to the end of the run. */
void chrome_end(struct order_format *format)
{
    struct chrome *c = format->state;
    int64_t last_ns = 0;
    for (uint32_t i = 0; i < c->line_count; i++)
        last_ns = c->lines[i].now_ns > last_ns ? c->lines[i].now_ns : last_ns;
    for (uint32_t line = 1; line <= c->line_count; line++) {
        struct chrome_line *l = &c->lines[line - 1];
        c->now_ns = thread_slices_open(c->tracks, line) ? last_ns : l->now_ns;
        if (l->begun) {
            thread_slices_close(c->tracks, line);
            c->now_ns = l->now_ns + 1;
            chrome_slice(format, line, NULL);
        }
        free(l->times);
    }
    format->failed = !chrome_calls_write(format, last_ns);
    fputs("\n]}\n", format->f);
    thread_slices_free(c->tracks);
    free(c->lines);
    free(c);
}
