#define _GNU_SOURCE
#include "clients/cli/shiviz_log.h"

#include "base/alloc.h"

#include <json-c/json.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shiviz_reader {
    const char *file, *text;
    uint64_t line, line_at; /* line number at an offset of the text */
    pcre2_code *parser;
    pcre2_match_data *match;
    struct shiviz_log *log;
    size_t event_room;
    bool several; /* one execution in several texts */
    char *error;
    size_t error_size;
};

static bool shiviz_fail(struct shiviz_reader *r, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool shiviz_fail(struct shiviz_reader *r, uint64_t line, const char *format, ...)
{
    va_list ap;
    int n = line ? snprintf(r->error, r->error_size, "%s:%llu: ", r->file, (unsigned long long)line)
                 : snprintf(r->error, r->error_size, "%s: ", r->file);
    va_start(ap, format);
    vsnprintf(r->error + n, r->error_size - (size_t)n, format, ap);
    va_end(ap);
    return false;
}

/* Reports an error at an event, with its file and line. */
#define FAIL(r, e, ...) ((r)->file = (e)->file, shiviz_fail(r, (e)->line, __VA_ARGS__))

/* ---- expressions ---- */

static pcre2_code *shiviz_compile_pattern(struct shiviz_reader *r, const char *what,
                                          const char *expression)
{
    int code;
    PCRE2_SIZE at;
    pcre2_code *re = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED, PCRE2_MULTILINE,
                                   &code, &at, NULL);
    if (!re) {
        char why[120];
        pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
        shiviz_fail(r, 0, "%s, at character %zu: %s", what, at + 1, why);
        return NULL;
    }
    pcre2_jit_compile(re, PCRE2_JIT_COMPLETE);
    return re;
}

static bool shiviz_match_group(const struct shiviz_reader *r, const char *name, const char **begin,
                               size_t *size)
{
    int number = pcre2_substring_number_from_name(r->parser, (PCRE2_SPTR)name);
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(r->match);
    if (number < 0 || at[2 * number] == PCRE2_UNSET)
        return false;
    *begin = r->text + at[2 * number];
    *size = at[2 * number + 1] - at[2 * number];
    return true;
}

static bool shiviz_check_groups(struct shiviz_reader *r)
{
    static const char *const needed[] = {"host", "clock", "event"};
    for (size_t i = 0; i < 3; i++)
        if (pcre2_substring_number_from_name(r->parser, (PCRE2_SPTR)needed[i]) < 0)
            return shiviz_fail(r, 0, "the expression has no group (?<%s>...)", needed[i]);
    return true;
}

/* ---- events ---- */

static uint32_t shiviz_host_of(struct shiviz_reader *r, const char *name)
{
    struct shiviz_log *log = r->log;
    for (uint32_t i = log->host_count; i-- > 0;)
        if (strcmp(log->hosts[i], name) == 0)
            return i;
    ARRAY_PUSH(log->hosts, log->host_count, xstrdup(name));
    return log->host_count - 1;
}

static int shiviz_compare_hosts(const void *a, const void *b)
{
    uint32_t x = ((const struct shiviz_entry *)a)->host, y = ((const struct shiviz_entry *)b)->host;
    return x < y ? -1 : x > y;
}

/* Replaces \" by ", for logs that were copied out of string literals. */
static void shiviz_unescape_quotes(char *s)
{
    char *to = s;
    for (; *s; s++)
        if (!(s[0] == '\\' && s[1] == '"'))
            *to++ = *s;
    *to = 0;
}

static struct json_object *shiviz_parse_clock(const char *s, size_t size,
                                              enum json_tokener_error *error)
{
    enum json_tokener_error ignored;
    char *copy = xstrndup(s, size);
    struct json_object *clock = json_tokener_parse_verbose(copy, error);
    if (!clock) {
        shiviz_unescape_quotes(copy);
        clock = json_tokener_parse_verbose(copy, &ignored);
    }
    free(copy);
    return clock;
}

static bool shiviz_read_clock(struct shiviz_reader *r, struct shiviz_event *e, const char *s,
                              size_t size)
{
    enum json_tokener_error error = json_tokener_success;
    struct json_object *clock = shiviz_parse_clock(s, size, &error);
    if (!clock || !json_object_is_type(clock, json_type_object)) {
        json_object_put(clock);
        return FAIL(r, e, "invalid vector clock: not a JSON object: %s",
                    error == json_tokener_success ? "other JSON type"
                                                  : json_tokener_error_desc(error));
    }
    size_t room = 0;
    bool good = true;
    json_object_object_foreach(clock, key, value)
    {
        int64_t n = json_object_get_int64(value);
        if (!json_object_is_type(value, json_type_int) || n < 0) {
            good = FAIL(r, e, "invalid vector clock: value for host \"%s\" is not an event count",
                        key);
            break;
        }
        if (n == 0)
            continue;
        e->clock = array_reserve(e->clock, &room, e->entries + 1, sizeof *e->clock);
        e->clock[e->entries++] = (struct shiviz_entry){shiviz_host_of(r, key), (uint64_t)n};
    }
    json_object_put(clock);
    if (e->entries)
        qsort(e->clock, e->entries, sizeof *e->clock, shiviz_compare_hosts);
    return good;
}

static void shiviz_read_fields(struct shiviz_reader *r, struct shiviz_event *e)
{
    uint32_t names, size;
    PCRE2_SPTR table;
    size_t room = 0;
    pcre2_pattern_info(r->parser, PCRE2_INFO_NAMECOUNT, &names);
    pcre2_pattern_info(r->parser, PCRE2_INFO_NAMEENTRYSIZE, &size);
    pcre2_pattern_info(r->parser, PCRE2_INFO_NAMETABLE, &table);
    for (uint32_t i = 0; i < names; i++) {
        const char *name = (const char *)table + i * size + 2, *begin;
        size_t length;
        if (strcmp(name, "host") == 0 || strcmp(name, "clock") == 0 || strcmp(name, "event") == 0 ||
            !shiviz_match_group(r, name, &begin, &length) || !length)
            continue;
        e->fields = array_reserve(e->fields, &room, e->field_count + 1, sizeof *e->fields);
        e->fields[e->field_count++] = xasprintf("%s: %.*s", name, (int)(length & 0xffff), begin);
    }
}

#define TIME_ROOM 64u /* longer texts are not times */

/* Copies the text of a named group, preceded by that of the group `before`; returns false if it did
 * not match. */
static bool shiviz_time_text(const struct shiviz_reader *r, const char *before, const char *name,
                             char text[TIME_ROOM])
{
    const char *begin, *first = "";
    size_t size, first_size = 0;
    if (!shiviz_match_group(r, name, &begin, &size) || !size)
        return false;
    if (before)
        shiviz_match_group(r, before, &first, &first_size);
    *text = 0;
    if (first_size < TIME_ROOM && size < TIME_ROOM - first_size - 1)
        snprintf(text, TIME_ROOM, "%.*s%s%.*s", (int)first_size, first, first_size ? " " : "",
                 (int)size, begin);
    return true;
}

static void shiviz_read_event_time(struct shiviz_reader *r, struct shiviz_event *e)
{
    char text[TIME_ROOM];
    bool has =
        shiviz_time_text(r, NULL, "timestamp", text) || shiviz_time_text(r, "date", "time", text);
    if (has)
        e->time = logtime_read(text, strlen(text));
    r->log->has_times |= has;
}

static uint64_t shiviz_line_at(struct shiviz_reader *r, size_t offset)
{
    while (r->line_at < offset)
        r->line += r->text[r->line_at++] == '\n';
    return r->line;
}

static bool shiviz_read_event(struct shiviz_reader *r)
{
    struct shiviz_log *log = r->log;
    const char *host, *clock, *text = "";
    size_t host_size, clock_size, size = 0;
    log->events =
        array_reserve(log->events, &r->event_room, log->event_count + 1, sizeof *log->events);
    struct shiviz_event *e = &log->events[log->event_count++];
    *e = (struct shiviz_event){0};
    bool both = shiviz_match_group(r, "host", &host, &host_size) &&
                shiviz_match_group(r, "clock", &clock, &clock_size);
    e->file = r->file;
    e->line = both ? shiviz_line_at(r, (size_t)(host - r->text))
                   : shiviz_line_at(r, pcre2_get_ovector_pointer(r->match)[0]);
    if (!both || !host_size)
        return FAIL(r, e, "event without host or clock");
    shiviz_match_group(r, "event", &text, &size);
    char *name = xstrndup(host, host_size);
    e->host = shiviz_host_of(r, name);
    free(name);
    while (size && (text[size - 1] == '\r' || text[size - 1] == ' '))
        size--;
    e->text = xstrndup(text, size);
    shiviz_read_fields(r, e);
    shiviz_read_event_time(r, e);
    if (!shiviz_read_clock(r, e, clock, clock_size))
        return false;
    e->number = e->value = shiviz_clock_of(e, e->host);
    return e->number || FAIL(r, e, "invalid vector clock: host \"%s\" missing from its own clock",
                             log->hosts[e->host]);
}

/* ---- executions ---- */

static bool shiviz_read_events(struct shiviz_reader *r, size_t from, size_t to)
{
    for (size_t at = from; at < to;) {
        int found =
            pcre2_match(r->parser, (PCRE2_SPTR)r->text, to, at, PCRE2_NOTEMPTY, r->match, NULL);
        if (found == PCRE2_ERROR_NOMATCH)
            break;
        if (found < 0)
            return shiviz_fail(r, shiviz_line_at(r, at), "matching the expression takes too long");
        if (!shiviz_read_event(r))
            return false;
        at = pcre2_get_ovector_pointer(r->match)[1];
    }
    return true;
}

static bool shiviz_check_execution(struct shiviz_reader *r)
{
    struct shiviz_log *log = r->log;
    while (log->untimed < log->event_count && log->events[log->untimed].time.kind)
        log->untimed++;
    return shiviz_clocks_check(log, r->error, r->error_size);
}

static struct shiviz_log *shiviz_add_log(struct shiviz_reader *r, struct shiviz_log **logs,
                                         size_t *count)
{
    *logs = xreallocarray(*logs, *count + 1, sizeof **logs);
    r->log = &(*logs)[(*count)++];
    *r->log = (struct shiviz_log){0};
    r->event_room = 0;
    return r->log;
}

static bool shiviz_read_split(struct shiviz_reader *r, size_t from, size_t size, const char *split,
                              struct shiviz_log **logs, size_t *count)
{
    pcre2_code *re = shiviz_compile_pattern(r, "--split", split);
    pcre2_match_data *match = re ? pcre2_match_data_create_from_pattern(re, NULL) : NULL;
    bool good = re != NULL;
    char *name = NULL;
    while (good && from <= size) {
        int found = pcre2_match(re, (PCRE2_SPTR)r->text, size, from, PCRE2_NOTEMPTY, match, NULL);
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(match);
        size_t to = found > 0 ? at[0] : size;
        shiviz_add_log(r, logs, count)->name = name;
        name = NULL;
        good = shiviz_read_events(r, from, to) && shiviz_check_execution(r);
        if (r->log->event_count == 0 && good && found > 0 && *count == 1 && !r->log->name)
            shiviz_free(*logs, *count), *logs = NULL, *count = 0; /* empty first text */
        if (found <= 0)
            break;
        PCRE2_UCHAR *trace = NULL;
        PCRE2_SIZE length;
        if (pcre2_substring_get_byname(match, (PCRE2_SPTR) "trace", &trace, &length) == 0)
            name = xstrndup((const char *)trace, length);
        pcre2_substring_free(trace);
        from = pcre2_get_ovector_pointer(match)[1];
    }
    free(name);
    pcre2_match_data_free(match);
    pcre2_code_free(re);
    return good;
}

/* ---- choice of the expression ---- */

/* The first two lines of a log, as in ShiViz: the expression, and the separator of executions. */
struct shiviz_header {
    char *parser, *split; /* NULL: none */
    size_t size; /* its bytes */
};

static char *shiviz_header_line(const struct shiviz_text *text, size_t *at)
{
    const char *line = text->text + *at, *end = memchr(line, '\n', text->size - *at);
    size_t size = end ? (size_t)(end - line) : text->size - *at;
    *at += size + (end != NULL);
    while (size && line[size - 1] == '\r')
        size--;
    return xstrndup(line, size);
}

static struct shiviz_header shiviz_header_of(const struct shiviz_text *text)
{
    struct shiviz_header h = {0};
    size_t at = 0;
    char *parser = shiviz_header_line(text, &at);
    if (strstr(parser, "(?<host>") && strstr(parser, "(?<clock>") && strstr(parser, "(?<event>")) {
        h.parser = parser;
        h.split = shiviz_header_line(text, &at);
        h.size = at;
        if (!*h.split) {
            free(h.split);
            h.split = NULL;
        }
        return h;
    }
    free(parser);
    return h;
}

/* Returns whether the expression matches at the beginning of the log. */
static bool shiviz_matches_first(const struct shiviz_text *text, size_t from,
                                 const char *expression)
{
    char ignored[200];
    struct shiviz_reader quiet = {.file = "", .error = ignored, .error_size = sizeof ignored};
    pcre2_code *re = shiviz_compile_pattern(&quiet, "", expression);
    pcre2_match_data *match = re ? pcre2_match_data_create_from_pattern(re, NULL) : NULL;
    while (from < text->size && strchr("\r\n", text->text[from]))
        from++;
    bool is = match && pcre2_match(re, (PCRE2_SPTR)text->text, text->size, from,
                                   PCRE2_NOTEMPTY | PCRE2_ANCHORED, match, NULL) > 0;
    pcre2_match_data_free(match);
    pcre2_code_free(re);
    return is;
}

static const char *const parsers[] = {SHIVIZ_PARSER_TIME_FIRST, SHIVIZ_PARSER,
                                      SHIVIZ_PARSER_CLOCK_FIRST};

static const char *shiviz_parser_of(const struct shiviz_text *text, const struct shiviz_header *h)
{
    if (text->parser || h->parser)
        return text->parser ? text->parser : h->parser;
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++)
        if (shiviz_matches_first(text, h->size, parsers[i]))
            return parsers[i];
    return SHIVIZ_PARSER;
}

/* Adds to the error message an expression that matches the first line, if the one in use does
 * not. */
static void shiviz_suggest_parser(struct shiviz_reader *r, const struct shiviz_text *text,
                                  size_t from, const char *parser)
{
    size_t n = strlen(r->error), count = sizeof parsers / sizeof *parsers;
    for (size_t i = 0; i < count && !shiviz_matches_first(text, from, parser); i++)
        if (shiviz_matches_first(text, from, parsers[i])) {
            snprintf(r->error + n, r->error_size - n,
                     "; the expression does not match the first line, this one does: %s",
                     parsers[i]);
            return;
        }
}

/* ---- one text ---- */

static bool shiviz_read_with(struct shiviz_reader *r, const struct shiviz_text *text,
                             const struct shiviz_header *h, struct shiviz_log **logs, size_t *count)
{
    const char *split = text->split ? text->split : h->split;
    if (split && !r->several)
        return shiviz_read_split(r, h->size, text->size, split, logs, count);
    if (!r->log)
        shiviz_add_log(r, logs, count);
    return shiviz_read_events(r, h->size, text->size);
}

static bool shiviz_read_text(struct shiviz_reader *r, const struct shiviz_text *text,
                             struct shiviz_log **logs, size_t *count)
{
    struct shiviz_header h = shiviz_header_of(text);
    const char *parser = shiviz_parser_of(text, &h);
    r->file = text->file;
    r->text = text->text;
    r->line = 1;
    r->line_at = 0;
    r->parser = shiviz_compile_pattern(r, text->parser ? "--parser" : "the expression", parser);
    r->match = r->parser ? pcre2_match_data_create_from_pattern(r->parser, NULL) : NULL;
    bool good = r->parser && shiviz_check_groups(r);
    if (good) {
        good = shiviz_read_with(r, text, &h, logs, count);
        if (good && !text->next && (r->several || !(text->split || h.split)))
            good = shiviz_check_execution(r);
        if (!good)
            shiviz_suggest_parser(r, text, h.size, parser);
    }
    pcre2_match_data_free(r->match);
    pcre2_code_free(r->parser);
    free(h.parser);
    free(h.split);
    return good;
}

bool shiviz_read(const struct shiviz_text *text, struct shiviz_log **logs, size_t *count,
                 char *error, size_t error_size)
{
    struct shiviz_reader r = {
        .error = error, .error_size = error_size, .several = text->next != NULL};
    bool good = true;
    size_t events = 0;
    *logs = NULL;
    *count = 0;
    for (const struct shiviz_text *t = text; t && good; t = t->next)
        good = shiviz_read_text(&r, t, logs, count);
    for (size_t i = 0; i < *count; i++)
        events += (*logs)[i].event_count;
    if (good && !events)
        good = shiviz_fail(&r, 0, "the expression does not match anywhere in it: %s",
                           text->parser ? text->parser : SHIVIZ_PARSER);
    if (!good) {
        shiviz_free(*logs, *count);
        *logs = NULL;
        *count = 0;
    }
    return good;
}

static uint64_t shiviz_largest_number(const struct shiviz_log *log)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < log->event_count; i++) {
        const struct logtime *time = &log->events[i].time;
        if (time->kind == LOGTIME_NUMBER && time->whole > largest)
            largest = time->whole;
    }
    return largest;
}

uint64_t *shiviz_times(const struct shiviz_log *log, uint64_t unit)
{
    if (!log->event_count || log->untimed < log->event_count)
        return NULL;
    uint64_t *times = xcalloc(log->event_count, sizeof *times);
    unit = unit ? unit : logtime_unit(shiviz_largest_number(log));
    for (size_t i = 0; i < log->event_count; i++)
        times[i] = logtime_ns(log->events[i].time, unit);
    return times;
}

void shiviz_free_log(struct shiviz_log *log)
{
    for (size_t i = 0; i < log->event_count; i++) {
        struct shiviz_event *e = &log->events[i];
        for (uint32_t f = 0; f < e->field_count; f++)
            free(e->fields[f]);
        free(e->fields);
        free(e->clock);
        free(e->causes);
        free(e->text);
    }
    for (uint32_t h = 0; h < log->host_count; h++) {
        free(log->hosts[h]);
        if (log->by_host)
            free(log->by_host[h]);
    }
    free(log->by_host);
    free(log->again);
    free(log->numbers);
    free(log->hosts);
    free(log->events);
    free(log->name);
}

void shiviz_free(struct shiviz_log *logs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        shiviz_free_log(&logs[i]);
    free(logs);
}
