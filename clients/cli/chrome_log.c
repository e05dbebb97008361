#define _GNU_SOURCE
#include "clients/cli/chrome_log.h"

#include "base/alloc.h"
#include "wire/limits.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MOST 8u /* arguments of an event that become annotations */
#define DEPTH 256 /* of nested values */
#define PER_US 1000
#define DIGITS_MOST 16 /* of a time in us; as ns it has 19 */
#define US_MOST 9000000000000000

const char *const chrome_log_types[CHROME_LOG_TYPES] = {
    [CHROME_LOG_INSTANT] = "instant", [CHROME_LOG_SEND] = "send",
    [CHROME_LOG_RECEIVE] = "receive", [CHROME_LOG_RELAY] = "relay",
    [CHROME_LOG_BEGIN] = "begin",     [CHROME_LOG_END] = "end"};

/* One event to be; order of those at one time: ends of slices, the innermost first; begins, the
 * longest first; others as in the file. */
struct chrome_record {
    int64_t at_ns;
    int64_t length_ns; /* of the slice that it begins or ends; 0: unknown, or none */
    size_t index; /* in the file */
    uint32_t track;
    uint8_t type;
    bool ends_before; /* the end of a slice that is longer than 0 */
    struct json_object *from;
};

struct chrome_track {
    char *process, *thread; /* keys: the numbers or texts of pid and tid */
    char *name; /* of the thread; NULL: unknown */
    char **open; /* names of the open slices */
    uint32_t open_count;
};

struct chrome_reader {
    struct chrome_log *to;
    struct json_object *tracks; /* "PID TID" -> index */
    struct json_object *processes; /* PID -> name */
    struct json_object *flows; /* key -> index of the event at which it is */
    struct chrome_track *items;
    uint32_t count;
    struct chrome_record *records;
    size_t record_count, record_room;
};

/* ---- values ---- */

static const char *chrome_text(struct json_object *o, const char *key)
{
    struct json_object *value = json_object_object_get(o, key);
    return value ? json_object_get_string(value) : "";
}

/* Returns a time in us, a number or the text of one, in ns; false if it is none. Digits are read
 * from the text, as a double has too few for times since 1970. */
static bool chrome_time(struct json_object *o, const char *key, int64_t *ns)
{
    const char *text = chrome_text(o, key), *at = text;
    bool minus = *at == '-';
    int64_t whole = 0, part = 0;
    size_t digits = strspn(at += minus, "0123456789");
    if (strpbrk(at, "eE")) {
        char *end;
        double value = strtod(text, &end) * PER_US;
        *ns = isfinite(value) && fabs(value) < 9e18 ? (int64_t)llround(value) : 0;
        return end != text && !*end && isfinite(value) && fabs(value) < 9e18;
    }
    if (!digits || digits > DIGITS_MOST)
        return false;
    for (; digits; digits--)
        whole = 10 * whole + (*at++ - '0');
    if (*at == '.') {
        at++;
        for (int64_t unit = PER_US / 10; *at >= '0' && *at <= '9'; at++, unit /= 10)
            part += unit * (*at - '0');
    }
    if (whole > US_MOST)
        return false;
    *ns = (minus ? -1 : 1) * (PER_US * whole + part);
    return !*at;
}

/* ---- tracks ---- */

static uint32_t chrome_track_of(struct chrome_reader *r, struct json_object *o)
{
    char *key = xasprintf("%s %s", chrome_text(o, "pid"), chrome_text(o, "tid"));
    struct json_object *known = json_object_object_get(r->tracks, key);
    uint32_t index = r->count;
    if (known) {
        index = (uint32_t)json_object_get_int64(known);
    } else {
        struct chrome_track track = {.process = xstrdup(chrome_text(o, "pid")),
                                     .thread = xstrdup(chrome_text(o, "tid"))};
        json_object_object_add(r->tracks, key, json_object_new_int64(index));
        ARRAY_PUSH(r->items, r->count, track);
    }
    free(key);
    return index;
}

/* Reads the names of processes and threads. */
static void chrome_read_metadata(struct chrome_reader *r, struct json_object *o)
{
    struct json_object *args = json_object_object_get(o, "args");
    const char *what = chrome_text(o, "name"),
               *name = json_object_is_type(args, json_type_object) ? chrome_text(args, "name") : "";
    if (!*name)
        return;
    if (strcmp(what, "process_name") == 0)
        json_object_object_add(r->processes, chrome_text(o, "pid"), json_object_new_string(name));
    if (strcmp(what, "thread_name") != 0)
        return;
    uint32_t index = chrome_track_of(r, o); /* may move the items */
    struct chrome_track *track = &r->items[index];
    free(track->name);
    track->name = xstrdup(name);
}

/* Returns the name of a track: that of its thread, and that of its process if there are several. */
static char *chrome_track_name(const struct chrome_reader *r, const struct chrome_track *track)
{
    bool several = false;
    for (uint32_t i = 0; i < r->count && !several; i++)
        several = strcmp(r->items[i].process, track->process) != 0;
    const char *process = chrome_text(r->processes, track->process);
    char *thread = track->name ? xstrdup(track->name) : xasprintf("thread %s", track->thread);
    if (!several)
        return thread;
    char *both = *process ? xasprintf("%s (%s)", thread, process)
                          : xasprintf("%s (process %s)", thread, track->process);
    free(thread);
    return both;
}

/* ---- records ---- */

static void chrome_add_record(struct chrome_reader *r, struct chrome_record record)
{
    r->records =
        array_reserve(r->records, &r->record_room, r->record_count + 1, sizeof *r->records);
    r->records[r->record_count++] = record;
}

static void chrome_add_complete(struct chrome_reader *r, struct chrome_record record)
{
    int64_t length_ns;
    if (!chrome_time(record.from, "dur", &length_ns) || length_ns < 0 ||
        record.at_ns > INT64_MAX - length_ns)
        length_ns = 0;
    record.length_ns = length_ns;
    record.type = CHROME_LOG_BEGIN;
    chrome_add_record(r, record);
    record.index++;
    record.type = CHROME_LOG_END;
    record.at_ns += length_ns;
    record.ends_before = length_ns > 0;
    chrome_add_record(r, record);
}

/* Phases that are events, with the type of each. */
static const struct {
    char phase;
    uint8_t type;
} chrome_phases[] = {
    {'B', CHROME_LOG_BEGIN},   {'E', CHROME_LOG_END},     {'i', CHROME_LOG_INSTANT},
    {'I', CHROME_LOG_INSTANT}, {'R', CHROME_LOG_INSTANT}, {'b', CHROME_LOG_INSTANT},
    {'e', CHROME_LOG_INSTANT}, {'n', CHROME_LOG_INSTANT}, {'s', CHROME_LOG_SEND},
    {'t', CHROME_LOG_RELAY},   {'f', CHROME_LOG_RECEIVE}};

static void chrome_read_object(struct chrome_reader *r, struct json_object *o, size_t index)
{
    const char *phase = json_object_is_type(o, json_type_object) ? chrome_text(o, "ph") : "";
    struct chrome_record record = {.index = 2 * index, .from = o};
    size_t i = 0, count = sizeof chrome_phases / sizeof *chrome_phases;
    if (!*phase || phase[1]) {
        r->to->invalid++;
        return;
    }
    if (*phase == 'M') {
        chrome_read_metadata(r, o);
        return;
    }
    while (i < count && chrome_phases[i].phase != *phase)
        i++;
    if (*phase != 'X' && i == count) {
        r->to->skipped++;
        return;
    }
    if (!chrome_time(o, "ts", &record.at_ns)) {
        r->to->invalid++;
        return;
    }
    record.track = chrome_track_of(r, o);
    if (*phase == 'X') {
        chrome_add_complete(r, record);
        return;
    }
    record.type = chrome_phases[i].type;
    chrome_add_record(r, record);
}

static int chrome_compare(const void *a, const void *b)
{
    const struct chrome_record *x = a, *y = b;
    int64_t longer = x->ends_before ? x->length_ns - y->length_ns : y->length_ns - x->length_ns;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    if (x->ends_before != y->ends_before)
        return x->ends_before ? -1 : 1;
    if (longer)
        return longer < 0 ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* ---- events ---- */

/* Returns the name of a slice, of its begin also at its end; "" if an end has no begin. */
static char *chrome_slice_name(struct chrome_reader *r, const struct chrome_record *record)
{
    struct chrome_track *track = &r->items[record->track];
    const char *name = chrome_text(record->from, "name");
    if (record->type == CHROME_LOG_BEGIN)
        ARRAY_PUSH(track->open, track->open_count, xstrdup(name));
    if (record->type != CHROME_LOG_END)
        return xstrdup(name);
    if (track->open_count)
        return track->open[--track->open_count];
    r->to->loose++;
    return xstrdup(name);
}

/* Adds the arguments of an event that are not lists or objects. */
static void chrome_read_fields(struct shiviz_event *e, struct json_object *o)
{
    struct json_object *args = json_object_object_get(o, "args");
    if (*chrome_text(o, "cat"))
        ARRAY_PUSH(e->fields, e->field_count, xasprintf("cat: %s", chrome_text(o, "cat")));
    if (!json_object_is_type(args, json_type_object))
        return;
    json_object_object_foreach(args, key, value)
    {
        bool simple = !json_object_is_type(value, json_type_object) &&
                      !json_object_is_type(value, json_type_array);
        if (simple && e->field_count < FIELDS_MOST)
            ARRAY_PUSH(e->fields, e->field_count,
                       xasprintf("%s: %s", key, value ? json_object_get_string(value) : "null"));
    }
}

/* Makes the end of a flow, or a step of it, a cause of the event. */
static void chrome_follow_flow(struct chrome_reader *r, struct json_object *o, size_t index)
{
    struct shiviz_log *log = &r->to->log;
    struct shiviz_event *e = &log->events[index];
    bool step = r->to->types[index] == CHROME_LOG_RELAY;
    char *key = xasprintf("%s\n%s\n%s\n%s", chrome_text(o, "cat"), chrome_text(o, "name"),
                          chrome_text(o, "id"), chrome_text(o, "id2"));
    struct json_object *known = json_object_object_get(r->flows, key);
    if (r->to->types[index] != CHROME_LOG_SEND && known) {
        struct shiviz_event *from = &log->events[json_object_get_int64(known)];
        from->is_cause = true;
        ARRAY_PUSH(e->causes, e->cause_count,
                   ((struct shiviz_entry){.host = from->host, .number = from->number}));
    } else if (r->to->types[index] != CHROME_LOG_SEND) {
        r->to->loose++;
        r->to->types[index] = step ? CHROME_LOG_SEND : CHROME_LOG_INSTANT;
    }
    if (r->to->types[index] != CHROME_LOG_RECEIVE && r->to->types[index] != CHROME_LOG_INSTANT)
        json_object_object_add(r->flows, key, json_object_new_int64((int64_t)index));
    free(key);
}

static void chrome_add_event(struct chrome_reader *r, const struct chrome_record *record,
                             const char *file, int64_t first_ns, size_t index)
{
    struct shiviz_log *log = &r->to->log;
    struct shiviz_event *e = &log->events[index];
    uint64_t number = ++log->numbers[record->track];
    *e = (struct shiviz_event){
        .host = record->track,
        .number = number,
        .value = number,
        .file = file,
        .text = chrome_slice_name(r, record),
        .time = {.kind = LOGTIME_NUMBER, .whole = (uint64_t)record->at_ns - (uint64_t)first_ns}};
    log->by_host[record->track][number - 1] = index;
    r->to->types[index] = record->type;
    if (record->type != CHROME_LOG_END)
        chrome_read_fields(e, record->from);
    if (record->type == CHROME_LOG_SEND || record->type == CHROME_LOG_RELAY ||
        record->type == CHROME_LOG_RECEIVE)
        chrome_follow_flow(r, record->from, index);
}

/* A flow that begins and never ends is an event of its own. */
static void chrome_settle_sends(struct chrome_log *to)
{
    for (size_t i = 0; i < to->log.event_count; i++) {
        const struct shiviz_event *e = &to->log.events[i];
        if (to->types[i] == CHROME_LOG_SEND && !e->is_cause)
            to->types[i] = CHROME_LOG_INSTANT;
        if (to->types[i] == CHROME_LOG_RELAY && !e->is_cause)
            to->types[i] = CHROME_LOG_RECEIVE;
    }
}

static void chrome_make_events(struct chrome_reader *r, const char *file)
{
    struct shiviz_log *log = &r->to->log;
    uint64_t *counts = xcalloc(r->count, sizeof *counts);
    qsort(r->records, r->record_count, sizeof *r->records, chrome_compare);
    log->events = xcalloc(r->record_count, sizeof *log->events);
    log->event_count = log->untimed = log->restarted = r->record_count;
    log->has_times = true;
    log->hosts = xcalloc(r->count, sizeof *log->hosts);
    log->host_count = log->clock_count = r->count;
    log->numbers = xcalloc(r->count, sizeof *log->numbers);
    log->by_host = xcalloc(r->count, sizeof *log->by_host);
    r->to->types = xcalloc(r->record_count, sizeof *r->to->types);
    for (size_t i = 0; i < r->record_count; i++)
        counts[r->records[i].track]++;
    for (uint32_t i = 0; i < r->count; i++) {
        log->hosts[i] = chrome_track_name(r, &r->items[i]);
        log->by_host[i] = xcalloc(counts[i], sizeof **log->by_host);
    }
    for (size_t i = 0; i < r->record_count; i++)
        chrome_add_event(r, &r->records[i], file, r->records[0].at_ns, i);
    chrome_settle_sends(r->to);
    free(counts);
}

/* ---- the text ---- */

/* Returns the text as JSON; NULL with the reason in *why. A list may lack its last bracket. */
static struct json_object *chrome_parse(const char *text, size_t size, const char **why)
{
    struct json_tokener *parser = json_tokener_new_ex(DEPTH);
    struct json_object *o =
        parser && size < INT32_MAX ? json_tokener_parse_ex(parser, text, (int)size) : NULL;
    enum json_tokener_error error = parser ? json_tokener_get_error(parser) : json_tokener_success;
    if (!o && size && error == json_tokener_continue) {
        while (size && strchr(" \t\r\n,", text[size - 1]))
            size--;
        json_tokener_reset(parser);
        json_tokener_parse_ex(parser, text, (int)size);
        o = json_tokener_parse_ex(parser, "]", 1);
        error = json_tokener_get_error(parser);
    }
    *why = size >= INT32_MAX                ? "too large (2 GiB)"
           : error == json_tokener_continue ? "unexpected end"
                                            : json_tokener_error_desc(error);
    json_tokener_free(parser);
    return o;
}

static void chrome_free_reader(struct chrome_reader *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        free(r->items[i].process);
        free(r->items[i].thread);
        free(r->items[i].name);
        for (uint32_t k = 0; k < r->items[i].open_count; k++)
            free(r->items[i].open[k]);
        free(r->items[i].open);
    }
    free(r->items);
    free(r->records);
    json_object_put(r->tracks);
    json_object_put(r->processes);
    json_object_put(r->flows);
}

bool chrome_log_read(const char *file, const char *text, size_t size, struct chrome_log *to,
                     char *error, size_t error_size)
{
    const char *why = "";
    struct json_object *all = chrome_parse(text, size, &why),
                       *list = json_object_is_type(all, json_type_object)
                                   ? json_object_object_get(all, "traceEvents")
                                   : all;
    struct chrome_reader r = {.to = to,
                              .tracks = json_object_new_object(),
                              .processes = json_object_new_object(),
                              .flows = json_object_new_object()};
    *to = (struct chrome_log){0};
    bool good = json_object_is_type(list, json_type_array);
    for (size_t i = 0; good && i < json_object_array_length(list); i++)
        chrome_read_object(&r, json_object_array_get_idx(list, i), i);
    if (good && r.record_count && r.count <= LIMIT_LINES)
        chrome_make_events(&r, file);
    if (!all)
        snprintf(error, error_size, "%s: not JSON: %s", file, why);
    else if (!good)
        snprintf(error, error_size, "%s: no list of trace events (traceEvents)", file);
    else if (!r.record_count)
        snprintf(error, error_size, "%s: no slices, instants or flows", file);
    else if (r.count > LIMIT_LINES)
        snprintf(error, error_size, "%s: too many tracks", file);
    chrome_free_reader(&r);
    json_object_put(all);
    return good && to->log.event_count > 0;
}

void chrome_log_free(struct chrome_log *to)
{
    shiviz_free_log(&to->log);
    free(to->types);
    *to = (struct chrome_log){0};
}
