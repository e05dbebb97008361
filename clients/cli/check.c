/* poet check: validates a target description; or a trace, against its description and the rules of
 * time. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/assertion_check.h"
#include "clients/cli/command.h"
#include "clients/cli/command_source.h"
#include "clients/cli/finding_options.h"
#include "clients/cli/output_format.h"
#include "clients/connection/result_table.h"
#include "clients/connection/session.h"
#include "config/description_path.h"
#include "config/description_read.h"
#include "config/measurement_spec.h"
#include "config/options.h"
#include "wire/event_types.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_NS 1000000000 /* progress is shown after this time */

static struct check_options {
    bool json;
    const char *assertions; /* a file of assertions */
} wanted;
static struct run_findings findings;

/* ---- consistency of times ----
 * The rules that follow from the definitions of times: states fill lifetimes, reasons and
 * attributed times add up to waits, the critical path is as long as what it explains. */

struct consistency_request {
    const struct command *command;
    struct result_table table;
    struct timespec begun;
    bool printed; /* progress was shown */
};

static bool consistency_check_is_long(const struct consistency_request *a)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - a->begun.tv_sec) * 1000000000LL + now.tv_nsec - a->begun.tv_nsec >
           TIMEOUT_NS;
}

static void consistency_check_receive_table(void *user, const struct response_chunk *answer)
{
    struct consistency_request *a = user;
    const struct result_table *t = &a->table;
    result_table_receive(&a->table, answer);
    if (answer->last || !t->count || !isatty(STDERR_FILENO) || !consistency_check_is_long(a))
        return;
    fprintf(stderr, "\rpoet %s: timing data: %3.0f %%", a->command->name,
            100 * (double)t->known / (double)t->count);
    a->printed = true;
}

/* Returns "ACTUAL, not EXPECTED" of two columns, in new memory; NULL if the row lacks a value. */
static char *consistency_check_figures_text(const struct result_table *t,
                                            const struct table_cell *cells, const char *actual,
                                            const char *expected, const char *unit)
{
    uint32_t column = result_table_find_column(t, actual),
             other = result_table_find_column(t, expected);
    if (column == t->column_count || other == t->column_count || cells[column].is != CELL_NUMBER ||
        cells[other].is != CELL_NUMBER)
        return NULL;
    return xasprintf("%lld%s, not %lld%s", (long long)cells[column].number, unit,
                     (long long)cells[other].number, unit);
}

static void consistency_check_report_row(const struct result_table *t, uint32_t row,
                                         void (*report)(void *user, struct event_id at,
                                                        uint32_t thread, const char *what),
                                         void *user)
{
    uint32_t rule = result_table_find_column(t, "rule"),
             thread = result_table_find_column(t, "thread");
    const struct table_cell *cells = result_table_cells(t, row);
    if (rule == t->column_count || thread == t->column_count)
        return;
    char *figures = consistency_check_figures_text(t, cells, "actual_ns", "expected_ns", " ns");
    if (!figures)
        figures = consistency_check_figures_text(t, cells, "actual_count", "expected_count", "");
    char *what = xasprintf("%s: %s", cells[rule].is == CELL_TEXT ? cells[rule].text : "",
                           figures ? figures : "?");
    report(user, t->rows[row].event, cells[thread].is == CELL_LINE ? cells[thread].line : 0, what);
    free(what);
    free(figures);
}

/* Calls `report` for each broken rule, with the event (line 0: none) and the thread; on a terminal
 * it shows the progress of long checks. Returns false, after reporting the error, if there is no
 * response. */
static bool consistency_check_request(const struct command *command, struct command_source *subject,
                                      void (*report)(void *user, struct event_id at,
                                                     uint32_t thread, const char *what),
                                      void *user)
{
    struct consistency_request a = {.command = command};
    struct table_request request = {
        .what = (char[]){"consistency"}, .by = (char[]){""}, .sort = (char[]){""}};
    struct encoder body = {0};
    clock_gettime(CLOCK_MONOTONIC, &a.begun);
    encode_table_request(&body, &request);
    bool ok = command_source_request(command, subject, REQUEST_TABLE, &body,
                                     consistency_check_receive_table, &a);
    if (a.printed)
        fputs("\r\033[K", stderr);
    for (uint32_t i = 0; ok && i < a.table.row_count; i++)
        consistency_check_report_row(&a.table, i, report, user);
    if (ok && a.table.problem) /* an older server */
        fprintf(stderr, "poet %s: timing data not checked: %s\n", command->name, a.table.problem);
    result_table_free(&a.table);
    return ok;
}

/* ---- problems ---- */

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

/* ---- descriptions ---- */

/* Checks measurement settings and user-defined metrics. */
static int check_measure(const char *text, const char *file)
{
    struct measurement_spec measure;
    if (!measurement_spec_read(text, file, stderr, &measure))
        return EXIT_USAGE;
    char *list = measurement_spec_list(&measure);
    measurement_spec_free(&measure);
    if (wanted.json)
        check_print_ok(file, "rate", measure.rate);
    else
        printf("%s: %s: OK\n", file, list);
    free(list);
    return EXIT_DONE;
}

static bool check_is_description(const char *file)
{
    size_t n = strlen(file);
    return !strchr(file, '.') || (n > 5 && strcmp(file + n - 5, ".conf") == 0);
}

/* Adds the errors of a description, a line "FILE:LINE: MESSAGE" each, to the findings. */
static void check_add_errors(const char *text, const char *path)
{
    size_t n = strlen(path);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char *one = xstrndup(line, strcspn(line, "\n")), *message = one;
        long number = 0;
        if (strncmp(one, path, n) == 0 && one[n] == ':')
            number = strtol(one + n + 1, &message, 10);
        message += strspn(message, ": ");
        run_findings_add(&findings, FINDING_INVALID_DESCRIPTION, FINDING_CERTAIN, message,
                         number ? path : "", (int)number);
        free(one);
    }
}

/* Reads a description; prints its errors. */
static struct target *check_read_description(const char *text, const char *file)
{
    char *errors = NULL;
    size_t size;
    FILE *f = open_memstream(&errors, &size);
    struct target *target = f ? target_read(text, file, f) : NULL;
    if (f)
        fclose(f);
    if (errors && !finding_options_replace_text())
        fputs(errors, stderr);
    if (errors && !target)
        check_add_errors(errors, file);
    free(errors);
    return target;
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
    struct target *target = check_read_description(text, file);
    bool quiet = finding_options_replace_text();
    if (target && !quiet && wanted.json)
        check_print_ok(file, "event_types", target->event_count);
    else if (target && !quiet)
        printf("%s: %zu line type%s, %zu event type%s: OK\n", file, target->kind_count,
               plural_suffix(target->kind_count), target->event_count,
               plural_suffix(target->event_count));
    else if (!target && !check_is_description(file))
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
    bool cut; /* events between others may be left out: rules of succession do not apply */
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
    char *text = xasprintf("%s: %s: %s", metadata_label(c->book, at.line), s, what);
    run_findings_add(&findings, FINDING_INCONSISTENT_TRACE, FINDING_CERTAIN, text, "", 0);
    free(text);
    if (finding_options_replace_text())
        ;
    else if (wanted.json)
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
    if (last->broken || c->cut ||
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
    if (last->at.line && e->at.number != last->at.number + 1 && !last->broken && !c->cut) {
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
            (look->relation != RELATION_NONE || e->relation != RELATION_ORDER) &&
            !(c->cut && e->relation == RELATION_NONE))
            check_report_problem(c, e->at, "%s has a different relation than in the description",
                                 metadata_type_name(c->book, e->type));
        if (!look->on_line.any)
            check_succession(c, e, line, &look->on_line.types, look->on_line.first, false,
                             "on its line");
        if (!look->in_thread.any && thread)
            check_succession(c, e, thread, &look->in_thread.types, look->in_thread.first,
                             look->handlers, "in its thread");
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

static int check_trace(const struct command *command, const char *file)
{
    struct command_source subject;
    if (!command_source_open(command, &subject, file, SESSION_ALL_LINES, LABELS_ADDRESS))
        return EXIT_FAILED;
    struct checker c = {.file = file ? file : subject.source.name,
                        .book = &subject.source.book,
                        .cut = session_cut(&subject.source) != NULL};
    bool ok =
        command_source_request(command, &subject, REQUEST_STAT, NULL, NULL,
                               NULL) && /* reads all of the file */
        command_source_request(command, &subject, REQUEST_DUMP, NULL, check_receive_chunk, &c) &&
        consistency_check_request(command, &subject, check_report_timing, &c);
    if (ok && !c.events && c.book->run.unfinished) { /* cut short before the first event's end */
        command_fail(command, "%s: contains no complete event; nothing to check", c.file);
        ok = false;
    }
    int asserted = ok ? assertion_check_described(command, &subject, c.file, wanted.json, &findings)
                      : EXIT_DONE;
    ok &= asserted != EXIT_USAGE;
    c.breaks += asserted == EXIT_FAILED;
    bool sound = ok && !c.breaks && !c.book->damage && !finding_options_replace_text();
    if (sound && wanted.json)
        check_print_ok(c.file, "events", c.events);
    else if (sound)
        printf("%s: %llu event%s: OK\n", c.file, (unsigned long long)c.events,
               plural_suffix(c.events));
    event_info_free(&c.previous);
    free(c.lines);
    for (uint32_t i = 0; i < c.room; i++)
        free(c.threads[i].waits);
    free(c.threads);
    command_source_close(&subject);
    if (!ok)
        run_findings_free(&findings);
    return ok && !c.breaks ? EXIT_DONE : EXIT_FAILED;
}

static bool check_ends_in(const char *s, const char *ending)
{
    size_t n = strlen(s), m = strlen(ending);
    return n > m && strcmp(s + n - m, ending) == 0;
}

/* Returns whether the operand is a trace; else it is a description, by path or by name. */
static bool check_is_trace(const char *file)
{
    char path[PATH_MAX];
    return endpoint_is(file) || strcmp(file, "latest") == 0 || strncmp(file, "ssh:", 4) == 0 ||
           (run_discovery_find(file, path, sizeof path) && check_ends_in(path, ".poet")) ||
           check_ends_in(file, ".poet");
}

static int check_run(const struct command *command, int argc, char **argv)
{
    int first, status = command_read(command, argc, argv, &wanted, &first);
    if (status != OPTIONS_READ)
        return status;
    if (argc - first > 1)
        return command_usage(command, "extra operand: %s", argv[first + 1]);
    const char *file = argc > first ? argv[first] : NULL;
    unsigned groups = wanted.assertions ? FINDINGS_OF_ASSERTIONS : FINDINGS_OF_CHECK;
    status = finding_options_check(command, groups);
    if (status != EXIT_DONE)
        return status;
    bool trace = !file || check_is_trace(file);
    status = wanted.assertions
                 ? assertion_check_source(command, file, wanted.assertions, wanted.json, &findings)

             : trace ? check_trace(command, file)
                     : check_description(command, file);
    if (!finding_options_given())
        return status;
    /* problems are findings, no errors of the command */
    bool problems = findings.count && status == EXIT_FAILED;
    int judged =
        finding_options_judge_all(command, &findings, groups, file, problems ? EXIT_DONE : status);
    return problems && !finding_options_fail() ? status : judged;
}

enum { OPTION_ASSERT = 3200 };

static const struct option_row check_rows[] = {
    OPTION_SETS('j', struct check_options, json),
    OPTION_STORES(OPTION_ASSERT, struct check_options, assertions),
    {0}};

static error_t check_parse_option(int key, char *value, struct argp_state *state)
{
    return option_rows_parse(check_rows, key, value, state);
}

static const struct argp_option options[] = {
    {"assert", OPTION_ASSERT, "FILE", 0,
     "check instead that the run violates no assertion of FILE (docs/find.md): patterns of events "
     "that never match, or that each event of a kind is in",
     0},
    {"json", 'j', NULL, 0,
     "for a trace: print one JSON object per problem: file, event, line, problem; without problems "
     "one with ok and the number of events",
     0},
    {0}};
static const struct argp_child children[] = {
    {&finding_options, 0, NULL, 0}, {&options_common, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = check_parse_option,
    .args_doc = "[SOURCE]\nFILE.conf\n--assert FILE [SOURCE]",
    .doc =
        "Validate a target description (FILE:LINE: error), or a trace: conformance to its "
        "description, with the first violation on each line and both events; and consistency of "
        "its timing data: states fill lifetimes, attributed times equal waits, the critical path "
        "is as long as the time it covers, and sums of calls, segments and memory blocks agree.  "
        "Exit status 1 if there is any problem.",
    .children = children};

const struct command command_check = {.name = "check",
                                      .summary = "validate a target description or a trace",
                                      .run = check_run,
                                      .argp = &argp};
