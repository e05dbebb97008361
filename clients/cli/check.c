/* poet check: validates a target description; or a trace, against its description and the rules of
 * time. */
#define _GNU_SOURCE
#include "clients/cli/command.h"
#include "clients/cli/command_source.h"
#include "clients/cli/json_output.h"
#include "clients/cli/consistency_check.h"
#include "clients/connection/run_discovery.h"
#include "config/measurement_spec.h"
#include "config/description_path.h"
#include "config/description_read.h"
#include "base/alloc.h"
#include "wire/event_id.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool json; /* --json */

/* Prints one problem; line: label, or NULL if it is on no line. */
static void check_print_problem(const char *file, struct event_id at, const char *line,
                                const char *what)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "file", json_object_new_string(file));
    json_object_object_add(o, "event", json_event_id(at));
    json_object_object_add(o, "line", line ? json_object_new_string(line) : NULL);
    json_object_object_add(o, "problem", json_object_new_string(what));
    json_print(o);
}

static void check_print_ok(const char *file, const char *counted, uint64_t count)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "file", json_object_new_string(file));
    json_object_object_add(o, counted, json_object_new_uint64(count));
    json_object_object_add(o, "ok", json_object_new_boolean(true));
    json_print(o);
}

/* Checks measurement settings and user-defined metrics. */
static int check_measure(const char *text, const char *file)
{
    struct measurement_spec measure;
    if (!measurement_spec_read(text, file, stderr, &measure))
        return EXIT_USAGE;
    char *list = measurement_spec_list(&measure);
    measurement_spec_free(&measure);
    if (json)
        check_print_ok(file, "rate", measure.rate);
    else
        printf("%s: %s: OK\n", file, list);
    free(list);
    return EXIT_DONE;
}

static bool is_description_name(const char *file)
{
    size_t n = strlen(file);
    return !strchr(file, '.') || (n > 5 && strcmp(file + n - 5, ".conf") == 0);
}

static int check_description(const struct command *command, const char *file)
{
    char *path, *text = target_load(file, &path);
    if (!text && !strchr(file, '/') && access(file, R_OK) == 0) { /* in the working directory */
        char *here = xasprintf("./%s", file);
        text = target_load(here, &path);
        free(here);
    }
    if (!text)
        return command_fail(command, "%s: %s", file, strerror(errno));
    if (measurement_spec_is_set(text)) {
        int status = check_measure(text, file);
        free(text);
        free(path);
        return status;
    }
    struct target *target = target_read(text, file, stderr);
    if (target && json)
        check_print_ok(file, "event_types", target->event_count);
    else if (target)
        printf("%s: %zu line type%s, %zu event type%s: OK\n", file, target->kind_count,
               plural_suffix(target->kind_count), target->event_count,
               plural_suffix(target->event_count));
    else if (!is_description_name(file))
        command_fail(command, "%s: not a trace (FILE.poet) or a target description (FILE.conf)",
                     file);
    int status = target ? EXIT_DONE : EXIT_FAILED;
    target_free(target);
    free(text);
    free(path);
    return status;
}

#define OPEN_WAITS 16

struct check_last_event { /* of a line, or of a thread */
    struct event_id at;
    uint32_t type;
    uint32_t other; /* of a thread: the type of the other end of its sync pair; 0: none */
    const struct target_event *look;
    struct open_wait {
        uint32_t type, count;
    } *waits; /* of a thread: nested, since a signal handler may wait within a wait */
    bool broken; /* a violation was reported; the following ones are not */
};

struct checker {
    const char *file;
    struct trace_metadata *book;
    struct check_last_event *lines, *threads; /* by line - 1 */
    struct check_last_event before; /* of the previous event's thread, before that event */
    uint32_t room;
    const struct target_event *look; /* of the event that is checked */
    struct event_info previous;
    uint64_t events, breaks;
};

static void check_report_problem(struct checker *c, struct event_id at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void check_report_problem(struct checker *c, struct event_id at, const char *format, ...)
{
    char s[48], *what;
    va_list ap;
    c->breaks++;
    va_start(ap, format);
    if (vasprintf(&what, format, ap) < 0)
        out_of_memory(0);
    va_end(ap);
    event_id_print(s, sizeof s, at);
    if (json)
        check_print_problem(c->file, at, at.line ? metadata_label(c->book, at.line) : NULL, what);
    else
        printf("%s: %s: %s: %s\n", c->file, metadata_label(c->book, at.line), s, what);
    free(what);
}

static void check_reserve_lines(struct checker *c)
{
    uint32_t need = c->book->line_count;
    if (need <= c->room)
        return;
    c->lines = xreallocarray(c->lines, need, sizeof *c->lines);
    c->threads = xreallocarray(c->threads, need, sizeof *c->threads);
    memset(c->lines + c->room, 0, (need - c->room) * sizeof *c->lines);
    memset(c->threads + c->room, 0, (need - c->room) * sizeof *c->threads);
    c->room = need;
}

static void check_begin_wait(struct check_last_event *thread, uint32_t type)
{
    struct open_wait *place = NULL;
    if (!thread->waits)
        thread->waits = xcalloc(OPEN_WAITS, sizeof *thread->waits);
    for (size_t i = 0; i < OPEN_WAITS && (!place || place->type != type); i++)
        if (thread->waits[i].type == type || (!place && !thread->waits[i].count))
            place = &thread->waits[i];
    if (place)
        *place = (struct open_wait){type, (place->type == type ? place->count : 0) + 1};
}

/* Ends an open wait of one of the types, and returns whether there was one. */
static bool check_end_wait(const struct checker *c, struct check_last_event *thread,
                           const struct target_names *allowed)
{
    for (size_t i = 0; thread->waits && i < OPEN_WAITS; i++)
        if (thread->waits[i].count &&
            target_has_line_type(allowed, metadata_type_name(c->book, thread->waits[i].type))) {
            thread->waits[i].count--;
            return true;
        }
    return false;
}

/* Returns whether the previous event is of another description, such as a read of
 * libpoet-process: rules are about events of one. */
static bool check_crosses_descriptions(const struct checker *c, const struct check_last_event *last)
{
    return last->look &&
           metadata_description(c->book, last->look) != metadata_description(c->book, c->look);
}

/* handlers: the event may also end an earlier wait of the thread, with events of signal handlers
 * in between. */
static bool check_may_follow(const struct checker *c, struct check_last_event *last,
                             const struct target_names *allowed, bool handlers)
{
    bool waited = handlers && check_end_wait(c, last, allowed);
    return waited || check_crosses_descriptions(c, last) ||
           target_has_line_type(allowed, metadata_type_name(c->book, last->type)) ||
           (last->other && target_has_line_type(allowed, metadata_type_name(c->book, last->other)));
}

static void check_succession(struct checker *c, const struct event_info *e,
                             struct check_last_event *last, const struct target_names *allowed,
                             bool first, bool handlers, const char *owner)
{
    const char *type = metadata_type_name(c->book, e->type),
               *before = metadata_type_name(c->book, last->type);
    const struct line_metadata *own =
        metadata_line(c->book, last == &c->lines[e->at.line - 1] ? e->at.line : e->thread);
    bool begin = !own || own->is.first <= 1; /* else its first events were discarded */
    if (last->broken ||
        (last->at.line ? check_may_follow(c, last, allowed, handlers) : first || !begin))
        return;
    char s[48];
    event_id_print(s, sizeof s, last->at);
    last->broken = true;
    if (last->at.line)
        check_report_problem(c, e->at, "%s must not follow %s (%s) %s", type, before, s, owner);
    else
        check_report_problem(c, e->at, "%s must not be the first event %s", type, owner);
}

static void check_numbers(struct checker *c, const struct event_info *e,
                          const struct check_last_event *last)
{
    if (last->at.line && e->at.number != last->at.number + 1 && !last->broken) {
        char s[48];
        event_id_print(s, sizeof s, last->at);
        c->lines[e->at.line - 1].broken = true;
        check_report_problem(c, e->at, "follows %s: gap in event numbers", s);
    }
}

/* Returns whether an event and the previous one are a sync pair: a dump has both in sequence. */
static bool check_ends_pair(const struct checker *c, const struct event_info *e)
{
    return e->relation == RELATION_SYNC && e->partner_count == 1 &&
           event_id_equal(e->partners[0], c->previous.at);
}

static void check_pair(struct checker *c, const struct event_info *e,
                       const struct target_event *look)
{
    const struct event_info *p = &c->previous;
    if (!check_ends_pair(c, e))
        return;
    const char *other = metadata_type_name(c->book, p->type);
    if (p->partner_count != 1 || !event_id_equal(p->partners[0], e->at))
        check_report_problem(c, e->at, "the partner event does not refer to it");
    else if (look->partners.count && !target_has_line_type(&look->partners, other))
        check_report_problem(c, e->at, "%s is paired with %s, not with %s",
                             metadata_type_name(c->book, e->type), other, look->partners.items[0]);
}

static void check_event(struct checker *c, struct event_info *e)
{
    if (e->at.line & HIDDEN_LINE)
        return;
    check_reserve_lines(c);
    c->events++;
    if (e->at.line > c->room) {
        check_report_problem(c, e->at, "is on a nonexistent line");
        return;
    }
    struct check_last_event *line = &c->lines[e->at.line - 1];
    struct check_last_event *thread =
        e->thread && e->thread <= c->room ? &c->threads[e->thread - 1] : NULL;
    bool second = check_ends_pair(c, e);
    if (thread && second) /* both ends are one action of the thread, after the same event */
        thread->at = c->before.at, thread->type = c->before.type, thread->other = c->before.other,
        thread->look = c->before.look;
    else if (thread)
        c->before = *thread;
    const struct target_event *look = c->look = event_style(c->book, e);
    check_numbers(c, e, line);
    if (e->state != EVENT_ORDERED)
        check_report_problem(c, e->at, "is %s",
                             e->state == EVENT_PENDING ? "pending" : "inconsistent");
    if (!look) {
        if (!line->broken)
            check_report_problem(c, e->at, "%s is not in the description",
                                 metadata_type_name(c->book, e->type));
        line->broken = true;
    } else {
        if (look->relation != RELATION_COUNT && look->relation != (enum relation)e->relation &&
            (look->relation != RELATION_NONE || e->relation != RELATION_ORDER))
            check_report_problem(c, e->at, "%s has a different relation than in the description",
                                 metadata_type_name(c->book, e->type));
        if (!look->line_any)
            check_succession(c, e, line, &look->line_after, look->line_first, false, "on its line");
        if (!look->thread_any && thread)
            check_succession(c, e, thread, &look->thread_after, look->thread_first, look->handlers,
                             "in its thread");
        check_pair(c, e, look);
    }
    line->at = e->at;
    line->type = e->type;
    line->look = look;
    if (thread) {
        thread->at = e->at;
        thread->type = e->type;
        thread->look = look;
        thread->other = second ? c->previous.type : 0;
        if (look && look->waits_checked && look->interrupted)
            check_begin_wait(thread, e->type);
    }
    event_info_free(&c->previous);
    c->previous = *e;
    *e = (struct event_info){0};
}

static void check_receive_chunk(void *user, const struct response_chunk *answer)
{
    struct checker *c = user;
    if (answer->part == RESPONSE_LOST) {
        struct event_id at = decode_event_id(answer->in);
        unsigned long long lost = decode_u64(answer->in);
        check_report_problem(c, at, "%llu event%s lost%s", lost, lost == 1 ? " was" : "s were",
                             at.line ? "" : " on unknown lines");
    } else if (answer->part == RESPONSE_EVENT) {
        struct event_info event;
        decode_event_info(answer->in, &event);
        check_event(c, &event);
        event_info_free(&event);
    }
}

/* Reports a broken rule of time at its event, else at its thread. */
static void check_report_timing(void *user, struct event_id at, uint32_t thread, const char *what)
{
    struct checker *c = user;
    if (at.line)
        check_report_problem(c, at, "%s", what);
    else
        check_report_problem(c, (struct event_id){thread, 0}, "%s", what);
}

/* Returns whether a file was cut short before its first complete event; then reports that there is
 * nothing to check. */
static bool check_is_empty(const struct command *command, const struct checker *c,
                           const struct session *source)
{
    if (c->events || !source->book.run.unfinished)
        return false;
    command_fail(command, "%s: contains no complete event; nothing to check", c->file);
    return true;
}

static int check_trace(const struct command *command, const char *file)
{
    struct command_source subject;
    if (!command_source_open(command, &subject, file, SESSION_ALL_LINES, LABELS_ADDRESS))
        return EXIT_FAILED;
    struct checker c = {.file = file ? file : subject.source.name, .book = &subject.source.book};
    bool ok =
        command_source_request(command, &subject, REQUEST_STAT, NULL, NULL,
                               NULL) && /* reads all of the file */
        command_source_request(command, &subject, REQUEST_DUMP, NULL, check_receive_chunk, &c) &&
        consistency_check_request(command, &subject, check_report_timing, &c);
    if (ok && check_is_empty(command, &c, &subject.source))
        ok = false;
    if (ok && !c.breaks && !c.book->damage && json)
        check_print_ok(c.file, "events", c.events);
    else if (ok && !c.breaks && !c.book->damage)
        printf("%s: %llu event%s: OK\n", c.file, (unsigned long long)c.events,
               plural_suffix(c.events));
    event_info_free(&c.previous);
    free(c.lines);
    for (uint32_t i = 0; i < c.room; i++)
        free(c.threads[i].waits);
    free(c.threads);
    command_source_close(&subject);
    return ok && !c.breaks ? EXIT_DONE : EXIT_FAILED;
}

static bool ends_in(const char *s, const char *ending)
{
    size_t n = strlen(s), m = strlen(ending);
    return n > m && strcmp(s + n - m, ending) == 0;
}

/* Returns whether the operand is a trace; else it is a description, by path or by name. */
static bool is_trace_name(const char *file)
{
    char path[PATH_MAX];
    return endpoint_is(file) || strcmp(file, "latest") == 0 || strncmp(file, "ssh:", 4) == 0 ||
           (run_discovery_find(file, path, sizeof path) && ends_in(path, ".poet")) ||
           ends_in(file, ".poet");
}

static int check_run(const struct command *command, int argc, char **argv)
{
    int first, status = command_read(command, argc, argv, &json, &first);
    if (status != OPTIONS_READ)
        return status;
    if (argc - first > 1)
        return command_usage(command, "extra operand: %s", argv[first + 1]);
    const char *file = argc > first ? argv[first] : NULL;
    bool trace = !file || is_trace_name(file);
    return trace ? check_trace(command, file) : check_description(command, file);
}

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0,
     "for a trace: print one JSON object per problem: file, event, line, problem; without problems "
     "one with ok and the number of events",
     0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = command_parse_json,
    .args_doc = "[SOURCE]\nFILE.conf",
    .doc =
        "Validate a target description (FILE:LINE: error), or a trace: conformance to its "
        "description, with the first violation on each line and both events; and consistency of "
        "its timing data: states fill lifetimes, attributed times equal waits, the critical path "
        "is as long as the time it covers, and "
        "sums of calls, segments and memory blocks agree.  Exit status 1 if there is any problem.",
    .children = options_children};

const struct command command_check = {.name = "check",
                                      .summary = "validate a target description or a trace",
                                      .run = check_run,
                                      .argp = &argp};
