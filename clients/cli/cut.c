/* poet cut: a part of a run as a trace of its own. */
#define _GNU_SOURCE
#include "clients/cli/cut_finding.h"

#include "base/alloc.h"
#include "clients/cli/output_format.h"
#include "clients/cli/table_options.h"
#include "clients/cli/terminal.h"
#include "clients/metadata/event_text.h"
#include "config/options.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_PAST = 3000,
    OPTION_FUTURE,
    OPTION_BETWEEN,
    OPTION_FROM,
    OPTION_TO,
    OPTION_LINES,
    OPTION_FINDING
};

struct cut_options {
    const struct command *command;
    struct cut_request request;
    const char *file, *lines, *finding, *selected; /* selected: the option that selects events */
    bool json;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which events:", 1},
    {"past-of", OPTION_PAST, "EVENT", 0,
     "EVENT and all that happened before it; may be repeated for the past of several", 1},
    {"future-of", OPTION_FUTURE, "EVENT", 0, "EVENT and all that happened after it", 1},
    {"between", OPTION_BETWEEN, "A", 0,
     "what happened after event A and before event B, the last operand, with both", 1},
    {"from", OPTION_FROM, "TIME", 0, "events from a time since the start of the run on (20ms)", 1},
    {"to", OPTION_TO, "TIME", 0, "events up to a time", 1},
    {"lines", OPTION_LINES, "LIST", 0,
     "of these only the events on the lines in LIST and of their threads: numbers, or names with * "
     "and ?, separated by commas",
     1},
    {"for-finding", OPTION_FINDING, "N", 0,
     "the smallest part found that still has finding N, by its number in --for-finding list, or "
     "its identity in poet report --format json",
     1},
    {NULL, 0, NULL, 0, "Output:", 2},
    {"output", 'o', "FILE", 0, "the trace file to write", 2},
    {"json", 'j', NULL, 0,
     "print what was written as JSON: {\"file\": FILE, \"bytes\": N, \"events\": N, \"left_out\": "
     "N, ..., \"lines\": [LINE, ...]}; lines: numbers in the run, if they differ",
     2},
    {0}};

static const struct option_row cut_rows[] = {OPTION_STORES('o', struct cut_options, file),
                                             OPTION_STORES(OPTION_LINES, struct cut_options, lines),
                                             OPTION_SETS('j', struct cut_options, json),
                                             {0}};

/* ---- options ---- */

/* Notes which option selects the events; returns false, after reporting, if another one did. */
static bool cut_select(struct cut_options *o, const char *option, enum cut_kind kind)
{
    if (o->selected && strcmp(o->selected, option) != 0) {
        command_usage(o->command, "%s and %s exclude each other", o->selected, option);
        return false;
    }
    o->selected = option;
    o->request.kind = (uint8_t)kind;
    return true;
}

static bool cut_add_event(struct cut_options *o, const char *option, const char *text)
{
    struct event_id at;
    if (!event_id_parse(text, &at) || !at.line || at.line & HIDDEN_LINE) {
        command_usage(o->command, "%s %s: not an event (LINE:NUMBER, as in 2:17)", option, text);
        return false;
    }
    if (o->request.event_count >= CUT_EVENTS_MOST) {
        command_usage(o->command, "%s: too many events", option);
        return false;
    }
    ARRAY_PUSH(o->request.events, o->request.event_count, at);
    return true;
}

static bool cut_set_time(struct cut_options *o, const char *option, const char *text, int64_t *ns)
{
    if (duration_read(text, ns))
        return true;
    command_usage(o->command, "%s %s: not a time (20ms)", option, text);
    return false;
}

static error_t cut_parse_option(int key, char *value, struct argp_state *state)
{
    struct cut_options *o = state->input;
    bool good = true;
    switch (key) {
    case OPTION_PAST:
        good = cut_select(o, "--past-of", CUT_OF_PAST) && cut_add_event(o, "--past-of", value);
        break;
    case OPTION_FUTURE:
        good =
            cut_select(o, "--future-of", CUT_OF_FUTURE) && cut_add_event(o, "--future-of", value);
        break;
    case OPTION_BETWEEN:
        good = cut_select(o, "--between", CUT_OF_BETWEEN) && cut_add_event(o, "--between", value);
        break;
    case OPTION_FROM:
        good = cut_select(o, "--from or --to", CUT_OF_RANGE) &&
               cut_set_time(o, "--from", value, &o->request.from_ns);
        break;
    case OPTION_TO:
        good = cut_select(o, "--from or --to", CUT_OF_RANGE) &&
               cut_set_time(o, "--to", value, &o->request.to_ns);
        break;
    case OPTION_FINDING:
        good = cut_select(o, "--for-finding", CUT_OF_PAST);
        o->finding = value;
        break;
    default:
        return option_rows_parse(cut_rows, key, value, state);
    }
    return good ? 0 : EINVAL;
}

/* Checks that events and a file are selected; returns false after reporting an error. */
static bool cut_check(const struct cut_options *o)
{
    bool list = o->finding && strcmp(o->finding, "list") == 0;
    if (!o->selected && !o->lines)
        command_usage(o->command, "which events? use --past-of, --future-of, --between, --from, "
                                  "--to, --lines or --for-finding");
    else if (!o->file && !list)
        command_usage(o->command, "no file named; use -o FILE");
    else if (o->finding && o->lines)
        command_usage(o->command, "--for-finding selects the lines itself; omit --lines");
    else
        return true;
    return false;
}

/* Adds the lines of a name or number; returns false if there is none. */
static bool cut_add_lines(struct cut_request *r, struct command_source *subject, const char *word)
{
    const struct trace_metadata *book = &subject->source.book;
    char *end;
    unsigned long number = strtoul(word, &end, 10);
    bool any = false;
    for (uint32_t i = 1; i <= book->line_count; i++) {
        bool matches =
            *word && !*end ? number == i : line_label_matches(book, subject->sites, i, word);
        if (matches)
            ARRAY_PUSH(r->lines, r->line_count, i);
        any |= matches;
    }
    return any;
}

static bool cut_find_lines(struct cut_options *o, struct command_source *subject)
{
    char *copy = xstrdup(o->lines), *rest = copy;
    bool good = true;
    for (char *word; good && (word = strsep(&rest, ",")) != NULL;) {
        good = cut_add_lines(&o->request, subject, word);
        if (!good)
            command_usage(o->command, "--lines: no line \"%s\"; see poet dump", word);
    }
    free(copy);
    return good;
}

/* ---- what was written ---- */

static void cut_print_json(const struct cut_options *o, const struct cut_output *output)
{
    const struct cut_result *r = &output->result;
    struct json_object *object = json_object_new_object(), *lines = json_object_new_array();
    json_add_text(object, "file", o->file);
    json_object_object_add(object, "bytes", json_object_new_int64((int64_t)output->bytes));
    json_object_object_add(object, "events", json_object_new_int64((int64_t)r->events));
    json_object_object_add(object, "left_out", json_object_new_int64((int64_t)r->left_out));
    json_object_object_add(object, "threads_continuing",
                           json_object_new_int64((int64_t)r->threads_continuing));
    json_object_object_add(object, "threads_left_out",
                           json_object_new_int64((int64_t)r->threads_left_out));
    for (uint32_t i = 0; i < r->renumbered_count; i++)
        json_object_array_add(lines, json_object_new_int64((int64_t)r->renumbered[i]));
    json_object_object_add(object, "lines", lines);
    json_print(object);
}

static void cut_print(const struct cut_options *o, const struct cut_output *output,
                      const char *text)
{
    const struct cut_result *r = &output->result;
    printf("%s: %" PRIu64 " of %" PRIu64 " events, %" PRIu64 " bytes%s%s\n", o->file, r->events,
           r->events + r->left_out, output->bytes, text ? "\n" : "", text ? text : "");
    if (r->threads_continuing || r->threads_left_out)
        printf("%" PRIu32 " thread%s continued after the cut, %" PRIu32 " %s not in it\n",
               r->threads_continuing, plural_suffix(r->threads_continuing), r->threads_left_out,
               r->threads_left_out == 1 ? "is" : "are");
    if (r->renumbered_count)
        printf("lines have new numbers (--json lists the old ones)\n");
}

/* ---- the command ---- */

static int cut_write(struct cut_options *o, struct command_source *subject)
{
    struct cut_output output = {.command = o->command, .file = o->file};
    char *text = NULL;
    if (o->lines && !cut_find_lines(o, subject))
        return EXIT_USAGE;
    int status = o->finding ? cut_finding_write(&output, subject, o->finding, &text)
                            : cut_output_write(&output, subject, &o->request);
    if (status == EXIT_DONE && output.bytes && o->json)
        cut_print_json(o, &output);
    else if (status == EXIT_DONE && output.bytes)
        cut_print(o, &output, text);
    cut_result_free(&output.result);
    free(text);
    return status;
}

static int cut_open_and_write(struct cut_options *o, int argc, char **argv, int first)
{
    struct command_source subject;
    const char *source = command_source_name(argc, argv, &first);
    if (o->request.kind == CUT_OF_BETWEEN && argc - first != 1)
        return command_usage(o->command, "--between A: expected one event B after it");
    if (o->request.kind == CUT_OF_BETWEEN && !cut_add_event(o, "--between A", argv[first++]))
        return EXIT_USAGE;
    if (argc != first)
        return command_usage(o->command, "extra operand: %s", argv[first]);
    if (!cut_check(o))
        return EXIT_USAGE;
    table_progress_begin(o->command);
    enum session_lines lines = o->lines || o->finding ? SESSION_ALL_LINES : SESSION_NAMED_LINES;
    if (!command_source_open(o->command, &subject, source, lines,
                             label_option_selected(LABELS_NAME)))
        return EXIT_FAILED;
    int status = cut_write(o, &subject);
    command_source_close(&subject);
    return status;
}

static int cut_run(const struct command *command, int argc, char **argv)
{
    struct cut_options o = {
        .command = command,
        .request = {.kind = CUT_OF_RANGE, .from_ns = INT64_MIN, .to_ns = INT64_MAX}};
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status == OPTIONS_READ)
        status = cut_open_and_write(&o, argc, argv, first);
    cut_request_free(&o.request);
    return status;
}

static const struct argp_child children[] = {{&labels_options, 0, NULL, 0},
                                             {&color_options, 0, NULL, 0},
                                             {&options_common, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .options = options,
    .parser = cut_parse_option,
    .args_doc = "[SOURCE] -o FILE\n[SOURCE] --between A B -o FILE",
    .doc =
        "Write a part of a run as a trace file of its own, such as the causal past of an event "
        "for a bug report.  Its events are ordered as in the run: every pair that is ordered "
        "there is ordered in the cut, and no other.  All commands and the viewer open it, and "
        "poet stat says of which run it is and what was left out; it can be replayed as far as it "
        "goes.  Threads that continued after the cut are not taken for blocked ones.  Profiles, "
        "allocations, context switches and resource usage of the run are left out.",
    .children = children};

const struct command command_cut = {.name = "cut",
                                    .summary = "write a part of a run as a small trace",
                                    .run = cut_run,
                                    .argp = &argp,
                                    .opens_cuts = true};
