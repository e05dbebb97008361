#define _GNU_SOURCE
#include "clients/cli/shiviz_log.h"
#include "base/lower_bound.h"
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
    size_t event_room, host_room;
    bool several; /* one execution in several texts */
    char *error;
    size_t error_size;
};

__attribute__((format(printf, 3, 4))) static bool fail(struct shiviz_reader *r, uint64_t line,
                                                       const char *format, ...)
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
#define FAIL(r, e, ...) ((r)->file = (e)->file, fail(r, (e)->line, __VA_ARGS__))

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
        fail(r, 0, "%s, at character %zu: %s", what, at + 1, why);
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

static bool check_groups(struct shiviz_reader *r)
{
    static const char *const needed[] = {"host", "clock", "event"};
    for (size_t i = 0; i < 3; i++)
        if (pcre2_substring_number_from_name(r->parser, (PCRE2_SPTR)needed[i]) < 0)
            return fail(r, 0, "the expression has no group (?<%s>...)", needed[i]);
    return true;
}

/* ---- events ---- */

static uint32_t host_of(struct shiviz_reader *r, const char *name)
{
    struct shiviz_log *log = r->log;
    for (uint32_t i = log->host_count; i-- > 0;)
        if (strcmp(log->hosts[i], name) == 0)
            return i;
    log->hosts = array_reserve(log->hosts, &r->host_room, log->host_count + 1, sizeof *log->hosts);
    log->hosts[log->host_count] = xstrdup(name);
    return log->host_count++;
}

static int by_host(const void *a, const void *b)
{
    uint32_t x = ((const struct shiviz_entry *)a)->host, y = ((const struct shiviz_entry *)b)->host;
    return x < y ? -1 : x > y;
}

/* Replaces \" by ", for logs that were copied out of string literals. */
static void unescape_quotes(char *s)
{
    char *to = s;
    for (; *s; s++)
        if (!(s[0] == '\\' && s[1] == '"'))
            *to++ = *s;
    *to = 0;
}

static struct json_object *parse_clock(const char *s, size_t size, enum json_tokener_error *error)
{
    enum json_tokener_error ignored;
    char *copy = xstrndup(s, size);
    struct json_object *clock = json_tokener_parse_verbose(copy, error);
    if (!clock) {
        unescape_quotes(copy);
        clock = json_tokener_parse_verbose(copy, &ignored);
    }
    free(copy);
    return clock;
}

static bool read_clock(struct shiviz_reader *r, struct shiviz_event *e, const char *s, size_t size)
{
    enum json_tokener_error error = json_tokener_success;
    struct json_object *clock = parse_clock(s, size, &error);
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
        e->clock[e->entries++] = (struct shiviz_entry){host_of(r, key), (uint64_t)n};
    }
    json_object_put(clock);
    if (e->entries)
        qsort(e->clock, e->entries, sizeof *e->clock, by_host);
    return good;
}

static uint64_t clock_of(const struct shiviz_event *e, uint32_t host)
{
    size_t low = LOWER_BOUND(i, 0, e->entries, e->clock[i].host < host);
    return low < e->entries && e->clock[low].host == host ? e->clock[low].number : 0;
}

static void read_fields(struct shiviz_reader *r, struct shiviz_event *e)
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
static bool time_text(const struct shiviz_reader *r, const char *before, const char *name,
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

static void read_event_time(struct shiviz_reader *r, struct shiviz_event *e)
{
    char text[TIME_ROOM];
    bool has = time_text(r, NULL, "timestamp", text) || time_text(r, "date", "time", text);
    if (has)
        e->time = logtime_read(text, strlen(text));
    r->log->has_times |= has;
}

static uint64_t line_at(struct shiviz_reader *r, size_t offset)
{
    while (r->line_at < offset)
        r->line += r->text[r->line_at++] == '\n';
    return r->line;
}

static bool read_event(struct shiviz_reader *r)
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
    e->line = both ? line_at(r, (size_t)(host - r->text))
                   : line_at(r, pcre2_get_ovector_pointer(r->match)[0]);
    if (!both || !host_size)
        return FAIL(r, e, "event without host or clock");
    shiviz_match_group(r, "event", &text, &size);
    char *name = xstrndup(host, host_size);
    e->host = host_of(r, name);
    free(name);
    while (size && (text[size - 1] == '\r' || text[size - 1] == ' '))
        size--;
    e->text = xstrndup(text, size);
    read_fields(r, e);
    read_event_time(r, e);
    if (!read_clock(r, e, clock, clock_size))
        return false;
    e->number = e->value = clock_of(e, e->host);
    return e->number || FAIL(r, e, "invalid vector clock: host \"%s\" missing from its own clock",
                             log->hosts[e->host]);
}

/* ---- rules of clocks ---- */

/* Adds a line for a restarted host; its event numbers differ from the clock values. */
static uint32_t shiviz_add_restarted_host(struct shiviz_reader *r, uint32_t of, uint32_t last,
                                          unsigned times)
{
    struct shiviz_log *log = r->log;
    uint32_t host = log->host_count++;
    log->hosts = array_reserve(log->hosts, &r->host_room, log->host_count, sizeof *log->hosts);
    log->hosts[host] = xasprintf("%s (%u)", log->hosts[of], times);
    log->again = xreallocarray(log->again, log->host_count, sizeof *log->again);
    log->again[host] = (struct shiviz_again){.of = of};
    log->again[last].next = host;
    return host;
}

struct shiviz_numbering { /* progress in numbering the events of a host */
    uint32_t host; /* its line since its last restart */
    unsigned times; /* number of starts */
    uint64_t count, value; /* events since its last start; clock value of the last one */
};

static bool shiviz_number_event(struct shiviz_reader *r, size_t index, struct shiviz_numbering *c)
{
    struct shiviz_log *log = r->log;
    struct shiviz_event *e = &log->events[index];
    if (e->value == 1 && c->count) {
        c->host = shiviz_add_restarted_host(r, e->host, c->host, ++c->times);
        c->count = 0;
        e->doubtful = true;
        log->restarted = index < log->restarted ? index : log->restarted;
    } else if (c->count && e->value <= c->value) {
        return FAIL(r, e,
                    "invalid vector clock: event numbers of a host must be consecutive; restarted "
                    "host \"%s\" is already at %llu",
                    log->hosts[e->host], (unsigned long long)c->value);
    }
    c->value = e->value;
    e->host = c->host;
    e->number = ++c->count;
    return true;
}

/* Finds the hosts that have the clock value 1 more than once, and splits them. */
static bool find_restarts(struct shiviz_reader *r)
{
    struct shiviz_log *log = r->log;
    unsigned *ones = xcalloc(log->host_count, sizeof *ones);
    struct shiviz_numbering *counting = xcalloc(log->host_count, sizeof *counting);
    bool good = true;
    log->clock_count = log->host_count;
    log->restarted = log->event_count;
    log->again = xcalloc(log->host_count, sizeof *log->again);
    for (size_t i = 0; i < log->event_count; i++)
        ones[log->events[i].host] += log->events[i].value == 1;
    for (uint32_t h = 0; h < log->clock_count; h++) {
        log->again[h] = (struct shiviz_again){.of = h, .has = ones[h] > 1};
        counting[h] = (struct shiviz_numbering){.host = h, .times = 1};
    }
    for (size_t i = 0; i < log->event_count && good; i++)
        if (log->again[log->events[i].host].has)
            good = shiviz_number_event(r, i, &counting[log->events[i].host]);
    free(ones);
    free(counting);
    return good;
}

static bool number_events(struct shiviz_reader *r)
{
    struct shiviz_log *log = r->log;
    log->numbers = xcalloc(log->host_count, sizeof *log->numbers);
    log->by_host = xcalloc(log->host_count, sizeof *log->by_host);
    for (size_t i = 0; i < log->event_count; i++)
        log->numbers[log->events[i].host]++;
    for (uint32_t h = 0; h < log->host_count; h++)
        log->by_host[h] = xcalloc(log->numbers[h], sizeof **log->by_host);
    for (size_t i = 0; i < log->event_count; i++) {
        const struct shiviz_event *e = &log->events[i];
        if (e->number > log->numbers[e->host])
            return FAIL(
                r, e,
                "invalid vector clock: event numbers of a host must be consecutive; \"%s\" has "
                "%llu events, and this is number %llu",
                log->hosts[e->host], (unsigned long long)log->numbers[e->host],
                (unsigned long long)e->number);
        size_t *place = &log->by_host[e->host][e->number - 1];
        if (*place)
            return FAIL(
                r, e,
                "invalid vector clock: event numbers of a host must be consecutive; number %llu of "
                "\"%s\" is already in line %llu",
                (unsigned long long)e->number, log->hosts[e->host],
                (unsigned long long)log->events[*place - 1].line);
        *place = i + 1;
    }
    for (uint32_t h = 0; h < log->host_count; h++)
        for (uint64_t k = 0; k < log->numbers[h]; k++)
            log->by_host[h][k]--;
    return true;
}

/* Returns whether the clock of e is at least that of `other` for each host. */
static bool shiviz_clock_includes(struct shiviz_reader *r, const struct shiviz_event *e,
                                  const struct shiviz_event *other, const char *what)
{
    const struct shiviz_log *log = r->log;
    uint32_t own = log->again[e->host].of;
    for (uint32_t i = 0; i < other->entries; i++)
        if (clock_of(e, other->clock[i].host) < other->clock[i].number &&
            !(log->again[own].has && other->clock[i].host == own))
            return FAIL(
                r, e,
                "invalid vector clock: must include %s; line %llu has \"%s\" at %llu, this one "
                "at %llu",
                what, (unsigned long long)other->line, log->hosts[other->clock[i].host],
                (unsigned long long)other->clock[i].number,
                (unsigned long long)clock_of(e, other->clock[i].host));
    return true;
}

static struct shiviz_event *event_at(const struct shiviz_log *log, struct shiviz_entry at)
{
    return &log->events[log->by_host[at.host][at.number - 1]];
}

/* Returns the event at a clock value of a host, before or after any restart; NULL: none, or
 * several. */
static struct shiviz_event *named_event(const struct shiviz_log *log, struct shiviz_entry at,
                                        bool *any)
{
    struct shiviz_event *found = NULL;
    uint32_t host = at.host, count = 0;
    do {
        uint64_t low = LOWER_BOUND(i, 0, log->numbers[host],
                                   log->events[log->by_host[host][i]].value < at.number);
        struct shiviz_event *e =
            low < log->numbers[host] ? &log->events[log->by_host[host][low]] : NULL;
        if (e && e->value == at.number) {
            found = e;
            count++;
        }
        host = log->again[host].next;
    } while (host);
    *any = count > 0;
    return count == 1 ? found : NULL;
}

/* Checks an event `other` on another host that the clock of e names. */
static bool check_cause(struct shiviz_reader *r, struct shiviz_event *e, struct shiviz_event *other)
{
    const struct shiviz_log *log = r->log;
    uint32_t own = log->again[e->host].of;
    if (!log->again[own].has && clock_of(other, own) >= e->value)
        return FAIL(r, e, "invalid vector clock: causality cycle with line %llu",
                    (unsigned long long)other->line);
    return shiviz_clock_includes(r, e, other, "the clock of every event it names");
}

/* Keeps the causes that no other cause implies. */
static void keep_causes(struct shiviz_log *log, struct shiviz_event *e, struct shiviz_event **found,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t of = log->again[found[i]->host].of;
        bool implied = false;
        for (uint32_t k = 0; k < count && !implied && !log->again[of].has; k++)
            implied = k != i && clock_of(found[k], of) >= found[i]->value;
        if (implied)
            continue;
        e->causes = xreallocarray(e->causes, e->cause_count + 1, sizeof *e->causes);
        e->causes[e->cause_count++] = (struct shiviz_entry){found[i]->host, found[i]->number};
        found[i]->is_cause = true;
    }
}

/* Finds the events on other hosts that precede e, but not its predecessor on its own host. */
static bool find_causes(struct shiviz_reader *r, struct shiviz_event *e)
{
    struct shiviz_log *log = r->log;
    const struct shiviz_event *before =
        e->number > 1 ? event_at(log, (struct shiviz_entry){e->host, e->number - 1}) : NULL;
    if (before && !shiviz_clock_includes(r, e, before, "the one before it on its host"))
        return false;
    struct shiviz_event **found = xcalloc(e->entries, sizeof *found);
    uint32_t count = 0;
    bool good = true, any;
    for (uint32_t i = 0; i < e->entries && good; i++) {
        struct shiviz_entry at = e->clock[i];
        if (at.host == log->again[e->host].of)
            continue;
        e->doubtful |= log->again[at.host].has;
        if (before && clock_of(before, at.host) >= at.number)
            continue;
        struct shiviz_event *other = named_event(log, at, &any);
        if (!any)
            good = FAIL(
                r, e,
                "invalid vector clock: refers to a missing event; it has \"%s\" at %llu, and the "
                "log has %llu of its events",
                log->hosts[at.host], (unsigned long long)at.number,
                (unsigned long long)log->numbers[at.host]);
        else if (other && (good = check_cause(r, e, other)))
            found[count++] = other;
    }
    if (good)
        keep_causes(log, e, found, count);
    free(found);
    return good;
}

/* ---- executions ---- */

static bool read_events(struct shiviz_reader *r, size_t from, size_t to)
{
    for (size_t at = from; at < to;) {
        int found =
            pcre2_match(r->parser, (PCRE2_SPTR)r->text, to, at, PCRE2_NOTEMPTY, r->match, NULL);
        if (found == PCRE2_ERROR_NOMATCH)
            break;
        if (found < 0)
            return fail(r, line_at(r, at), "matching the expression takes too long");
        if (!read_event(r))
            return false;
        at = pcre2_get_ovector_pointer(r->match)[1];
    }
    return true;
}

static bool check_execution(struct shiviz_reader *r)
{
    struct shiviz_log *log = r->log;
    while (log->untimed < log->event_count && log->events[log->untimed].time.kind)
        log->untimed++;
    if (!log->event_count)
        return true;
    if (!find_restarts(r) || !number_events(r))
        return false;
    for (size_t i = 0; i < log->event_count; i++)
        if (!find_causes(r, &log->events[i]))
            return false;
    return true;
}

static struct shiviz_log *add_log(struct shiviz_reader *r, struct shiviz_log **logs, size_t *count)
{
    *logs = xreallocarray(*logs, *count + 1, sizeof **logs);
    r->log = &(*logs)[(*count)++];
    *r->log = (struct shiviz_log){0};
    r->event_room = r->host_room = 0;
    return r->log;
}

static bool read_split(struct shiviz_reader *r, size_t from, size_t size, const char *split,
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
        add_log(r, logs, count)->name = name;
        name = NULL;
        good = read_events(r, from, to) && check_execution(r);
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

static char *header_line(const struct shiviz_text *text, size_t *at)
{
    const char *line = text->text + *at, *end = memchr(line, '\n', text->size - *at);
    size_t size = end ? (size_t)(end - line) : text->size - *at;
    *at += size + (end != NULL);
    while (size && line[size - 1] == '\r')
        size--;
    return xstrndup(line, size);
}

static struct shiviz_header header_of(const struct shiviz_text *text)
{
    struct shiviz_header h = {0};
    size_t at = 0;
    char *parser = header_line(text, &at);
    if (strstr(parser, "(?<host>") && strstr(parser, "(?<clock>") && strstr(parser, "(?<event>")) {
        h.parser = parser;
        h.split = header_line(text, &at);
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
static bool matches_first(const struct shiviz_text *text, size_t from, const char *expression)
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

static const char *parser_of(const struct shiviz_text *text, const struct shiviz_header *h)
{
    if (text->parser || h->parser)
        return text->parser ? text->parser : h->parser;
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++)
        if (matches_first(text, h->size, parsers[i]))
            return parsers[i];
    return SHIVIZ_PARSER;
}

/* Adds to the error message an expression that matches the first line, if the one in use does
 * not. */
static void shiviz_suggest_parser(struct shiviz_reader *r, const struct shiviz_text *text,
                                  size_t from, const char *parser)
{
    size_t n = strlen(r->error), count = sizeof parsers / sizeof *parsers;
    for (size_t i = 0; i < count && !matches_first(text, from, parser); i++)
        if (matches_first(text, from, parsers[i])) {
            snprintf(r->error + n, r->error_size - n,
                     "; the expression does not match the first line, this one does: %s",
                     parsers[i]);
            return;
        }
}

/* ---- one text ---- */

static bool read_with(struct shiviz_reader *r, const struct shiviz_text *text,
                      const struct shiviz_header *h, struct shiviz_log **logs, size_t *count)
{
    const char *split = text->split ? text->split : h->split;
    if (split && !r->several)
        return read_split(r, h->size, text->size, split, logs, count);
    if (!r->log)
        add_log(r, logs, count);
    return read_events(r, h->size, text->size);
}

static bool read_text(struct shiviz_reader *r, const struct shiviz_text *text,
                      struct shiviz_log **logs, size_t *count)
{
    struct shiviz_header h = header_of(text);
    const char *parser = parser_of(text, &h);
    r->file = text->file;
    r->text = text->text;
    r->line = 1;
    r->line_at = 0;
    r->parser = shiviz_compile_pattern(r, text->parser ? "--parser" : "the expression", parser);
    r->match = r->parser ? pcre2_match_data_create_from_pattern(r->parser, NULL) : NULL;
    bool good = r->parser && check_groups(r);
    if (good) {
        good = read_with(r, text, &h, logs, count);
        if (good && !text->next && (r->several || !(text->split || h.split)))
            good = check_execution(r);
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
        good = read_text(&r, t, logs, count);
    for (size_t i = 0; i < *count; i++)
        events += (*logs)[i].event_count;
    if (good && !events)
        good = fail(&r, 0, "the expression does not match anywhere in it: %s",
                    text->parser ? text->parser : SHIVIZ_PARSER);
    if (!good) {
        shiviz_free(*logs, *count);
        *logs = NULL;
        *count = 0;
    }
    return good;
}

static uint64_t largest_number(const struct shiviz_log *log)
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
    unit = unit ? unit : logtime_unit(largest_number(log));
    for (size_t i = 0; i < log->event_count; i++)
        times[i] = logtime_ns(log->events[i].time, unit);
    return times;
}

void shiviz_free(struct shiviz_log *logs, size_t count)
{
    for (size_t l = 0; l < count; l++) {
        struct shiviz_log *log = &logs[l];
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
    free(logs);
}
