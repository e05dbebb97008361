#include "clients/cli/chrome_format.h"
#include "clients/cli/chrome_calls.h"
#include "clients/cli/json_output.h"
#include "clients/cli/thread_slices.h"
#include "base/alloc.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static uint32_t pid_of(const struct trace_metadata *book, uint32_t line)
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
                           json_object_new_uint64(pid_of(&format->subject->source.book, line)));
    json_object_object_add(o, "tid", json_object_new_uint64(line));
    return o;
}

/* The format has times in microseconds; three decimals keep the nanoseconds. */
static void add_time(struct json_object *object, const char *key, int64_t ns)
{
    char text[32];
    snprintf(text, sizeof text, "%.3f", (double)ns / 1000);
    json_object_object_add(object, key, json_object_new_double_s((double)ns / 1000, text));
}

/* Writes a metadata event, such as the name of a track; its args have one entry. */
static void chrome_write_metadata(struct order_format *format, const char *what, uint32_t line,
                                  const char *key, struct json_object *value)
{
    struct json_object *o = chrome_object(format, "M", what, line),
                       *args = json_object_new_object();
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
    chrome_write_metadata(format, "process_name", line, "name", json_object_new_string(name));
    chrome_write_metadata(format, "thread_name", line, "name", json_object_new_string(label));
    chrome_write_metadata(format, "thread_sort_index", line, "sort_index",
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
    add_time(o, "ts", l->now_ns);
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

static void on_slice(void *context, uint32_t line, const char *name)
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
    c->tracks = thread_slices_new(book, on_slice, format);
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
    add_time(o, "ts", at_ns);
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
    add_time(o, "ts", time_ns);
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
    struct chrome_list list = {format, chrome_object, add_time, chrome_put};
    format->failed = !chrome_calls_write(&list, last_ns);
    fputs("\n]}\n", format->f);
    thread_slices_free(c->tracks);
    free(c->lines);
    free(c);
}
