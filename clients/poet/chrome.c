#include "clients/poet/chrome.h"
#include "clients/poet/json.h"
#include "memory/memory.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

struct chrome_line {
    struct shown_event last; /* not written yet; at.line 0: none */
    int64_t *times;          /* by number - first */
    uint64_t first, count;
    size_t room;
};

struct chrome {
    struct chrome_line *lines;
    uint32_t line_count;
    uint64_t flows;
    bool comma;
};

/* Writes an object of the list, and lets go of it. */
static void chrome_put(struct format *format, struct json_object *object)
{
    struct chrome *c = format->state;
    fputs(c->comma ? ",\n" : "\n", format->f);
    c->comma = true;
    const int how = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
    fputs(json_object_to_json_string_ext(object, how), format->f);
    json_object_put(object);
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
    json_object_object_add(object, key, json_object_new_string(text));
}

/* An object of the list: of this kind ("ph"), on this line's track. */
static struct json_object *chrome_object(const char *kind, const char *name, uint32_t line)
{
    struct json_object *o = json_object_new_object();
    add_text(o, "ph", kind);
    add_text(o, "name", name);
    json_object_object_add(o, "pid", json_object_new_int(1));
    json_object_object_add(o, "tid", json_object_new_uint64(line));
    return o;
}

/* Times are microseconds there; three digits behind the point keep the nanoseconds. */
static void add_time(struct json_object *object, const char *key, int64_t ns)
{
    char text[32];
    snprintf(text, sizeof text, "%.3f", (double)ns / 1000);
    json_object_object_add(object, key, json_object_new_double_s((double)ns / 1000, text));
}

static void chrome_track(struct format *format, uint32_t line, const char *label)
{
    struct json_object *o = chrome_object("M", "thread_name", line),
                       *args = json_object_new_object();
    add_text(args, "name", label);
    json_object_object_add(o, "args", args);
    chrome_put(format, o);
    o = chrome_object("M", "thread_sort_index", line);
    args = json_object_new_object();
    json_object_object_add(args, "sort_index", json_object_new_uint64(line));
    json_object_object_add(o, "args", args);
    chrome_put(format, o);
}

void chrome_begin(struct format *format, struct subject *subject, FILE *f)
{
    const struct book *book = &subject->source.book;
    struct chrome *c = format->state = memory_zeroed(1, sizeof *c);
    c->line_count = book->line_count;
    c->lines = memory_zeroed(c->line_count, sizeof *c->lines);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", f);
    for (uint32_t line = 1; line <= c->line_count; line++)
        chrome_track(format, line, book_label(book, line));
}

static void chrome_slice(struct format *format, const struct shown_event *e, int64_t length)
{
    const struct book *book = &format->subject->source.book;
    struct json_object *o = chrome_object("X", book_type(book, e->type), e->at.line);
    struct json_object *args = json_object_new_object();
    add_time(o, "ts", e->time_ns);
    add_time(o, "dur", length);
    json_object_object_add(args, "event", json_ref(e->at));
    if (e->site)
        add_text(args, "site", subject_site(format->subject, e));
    if (e->text_count)
        add_text(args, "text", e->texts[0]);
    json_object_object_add(o, "args", args);
    chrome_put(format, o);
}

static void chrome_flow_end(struct format *format, const char *kind, const char *name,
                            uint32_t line, int64_t time_ns)
{
    struct chrome *c = format->state;
    struct json_object *o = chrome_object(kind, name, line);
    if (*kind == 'f')
        add_text(o, "bp", "e");
    add_time(o, "ts", time_ns);
    json_object_object_add(o, "id", json_object_new_uint64(c->flows));
    add_text(o, "cat", name);
    chrome_put(format, o);
}

static void chrome_flow(struct format *format, struct ref from, const struct shown_event *to,
                        const char *name)
{
    struct chrome *c = format->state;
    if (!from.line || from.line > c->line_count)
        return;
    const struct chrome_line *l = &c->lines[from.line - 1];
    if (from.number < l->first || from.number - l->first >= l->count)
        return;
    c->flows++;
    chrome_flow_end(format, "s", name, from.line, l->times[from.number - l->first]);
    chrome_flow_end(format, "f", name, to->at.line, to->time_ns);
}

static void chrome_note(struct chrome_line *l, const struct shown_event *e)
{
    if (!l->count)
        l->first = e->at.number;
    uint64_t index = e->at.number - l->first;
    if (e->at.number < l->first || index > l->count + (1u << 24))
        return;
    while (l->count <= index) {
        if (l->count == l->room) {
            l->room = l->room ? 2 * l->room : 64;
            l->times = memory_resized(l->times, l->room, sizeof *l->times);
        }
        l->times[l->count++] = e->time_ns;
    }
}

void chrome_event(struct format *format, struct shown_event *e)
{
    struct chrome *c = format->state;
    if (e->at.line & HIDDEN_LINE || !e->at.line || e->at.line > c->line_count)
        return;
    struct chrome_line *l = &c->lines[e->at.line - 1];
    if (l->last.at.line) {
        int64_t room = e->time_ns - l->last.time_ns;
        chrome_slice(format, &l->last, room < 0 ? 0 : room < 1000 ? room : 1000);
        shown_event_free(&l->last);
    }
    chrome_note(l, e);
    bool async = e->relation == RELATION_RECEIVE, pair = e->relation == RELATION_SYNC;
    for (uint32_t i = 0; (async || pair) && i < e->partner_count; i++)
        chrome_flow(format, e->partners[i], e, pair ? "pair" : "message");
    for (uint32_t i = 0; i < e->after_count; i++)
        chrome_flow(format, e->after[i], e, "order");
    l->last = *e;
    l->last.partners = l->last.after = NULL;
    l->last.partner_count = l->last.after_count = 0;
    l->last.texts = NULL;
    l->last.text_count = 0;
    if (e->text_count) {
        l->last.texts = memory_zeroed(1, sizeof *l->last.texts);
        l->last.texts[l->last.text_count++] = memory_copied(e->texts[0]);
    }
}

void chrome_end(struct format *format)
{
    struct chrome *c = format->state;
    for (uint32_t i = 0; i < c->line_count; i++) {
        if (c->lines[i].last.at.line)
            chrome_slice(format, &c->lines[i].last, 1000);
        shown_event_free(&c->lines[i].last);
        free(c->lines[i].times);
    }
    fputs("\n]}\n", format->f);
    free(c->lines);
    free(c);
}
