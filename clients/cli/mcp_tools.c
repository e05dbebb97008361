#define _GNU_SOURCE
#include "clients/cli/mcp_tools.h"

#include "base/alloc.h"
#include "clients/cli/command.h"
#include "clients/cli/mcp_child.h"
#include "clients/cli/output_format.h"
#include "clients/connection/install_paths.h"
#include "wire/text.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* (NULL in a build without this command) */
extern const struct command command_find __attribute__((weak));

/* ---- the tools ---- */

enum mcp_type { MCP_TEXT, MCP_NUMBER, MCP_WORDS };

/* How an argument reaches the command: as the value of an option, before the operands, or as an
 * operand, in the order of the parameters; words are the operands of recording. */
struct mcp_parameter {
    const char *name;
    enum mcp_type type;
    bool required;
    const char *option; /* "--from"; NULL: an operand; "": not passed on */
    const char *about;
    const char *otherwise; /* its value if it is missing; NULL: none */
};

#define MCP_PARAMETERS 7
#define MCP_COMMANDS 2
#define MCP_WORDS_MOST 256 /* words of one command */

struct mcp_tool {
    const char *name, *title, *about;
    const char *certainty; /* of its answers, beside what the trace says */
    const char *commands[MCP_COMMANDS + 1]; /* words separated by spaces */
    struct mcp_parameter parameters[MCP_PARAMETERS + 1];
    bool runs; /* it runs a program */
    bool lists; /* it is about no trace */
    bool finds; /* it needs poet find */
    bool may_be_none; /* status 1 without a message is an answer: nothing was found */
};

#define MCP_SOURCE                                                                                 \
    {                                                                                              \
        "source", MCP_TEXT, false, NULL,                                                           \
            "the trace: a file, the name of a run (tool runs), or latest (default)", "latest"      \
    }
#define MCP_FROM                                                                                   \
    {                                                                                              \
        "from", MCP_TEXT, false, "--from", "start at an event (2:17) or a time (20ms)", NULL       \
    }
#define MCP_TO                                                                                     \
    {                                                                                              \
        "to", MCP_TEXT, false, "--to", "end at an event or a time", NULL                           \
    }

/* clang-format off */
static const struct mcp_tool mcp_tools[] = {
    {.name = "record", .title = "Run and record a program",
     .about = "Runs a program and records the synchronization of its threads and processes. It is "
              "killed after timeout_s; what was recorded until then remains, and shows the hang.",
     .certainty = "the program was run once: another run can go otherwise",
     .commands = {"record"},
     .parameters = {
         {"program", MCP_WORDS, true, NULL, "the program and its arguments", NULL},
         {"output", MCP_TEXT, true, "--output", "the trace file to write (.poet)", NULL},
         {"timeout_s", MCP_NUMBER, false, "", "kill it after this time (default 30)", "30"},
         {"hang_timeout", MCP_TEXT, false, "--hang-timeout",
          "kill it if no event is recorded for this time (5s), and print what is blocked", NULL},
         {"measure", MCP_TEXT, false, "--measure",
          "what to measure, separated by commas: memory, samples=997, calls=every, ...", NULL}},
     .runs = true},
    {.name = "runs", .title = "List traces",
     .about = "Lists traces and live runs, with their status: completed, killed, deadlock.",
     .certainty = "",
     .commands = {"ls --json"}, .lists = true},
    {.name = "diagnose", .title = "Diagnose a hang",
     .about = "Finds deadlocks and hangs: first the findings with their certainty, then each "
              "blocked thread with the object, the holder, the call stack and, in diagnoses, why "
              "no thread will wake it. Begin here if a program hangs.",
     .certainty = "a finding is certain, likely (with the reason) or possible, as it says; "
                  "outcome never: the thread cannot resume; likely: no traced thread can wake it; "
                  "open: it may resume",
     .commands = {"blocked --format=json", "blocked --json"},
     .parameters = {MCP_SOURCE}},
    {.name = "report", .title = "Summarize a run",
     .about = "Summarizes a run: hangs, key findings, time per thread state, longest waits, "
              "critical path, potential bugs; then all findings with their certainty.",
     .certainty = "a finding is certain, likely or possible, as it says; times are exact unless a "
                  "note says otherwise",
     .commands = {"report", "report --format=json"},
     .parameters = {MCP_SOURCE, MCP_FROM, MCP_TO}},
    {.name = "predict", .title = "Predict bugs",
     .about = "Reports bugs of other interleavings of the recorded run: lock-order inversions, "
              "lost wake-ups, races of messages, with the events that show them.",
     .certainty = "each is possible: it did not happen in this run, and no traced synchronization "
                  "excludes it; poet confirm can try to reproduce it",
     .commands = {"predict --format=json"},
     .parameters = {MCP_SOURCE}},
    {.name = "order", .title = "Order two events",
     .about = "Tells whether event A happened before event B: before, after, concurrent, same or "
              "unknown. Events are LINE:NUMBER, as other tools name them.",
     .certainty = "before, after and same are certain; concurrent and unknown have their reasons "
                  "in \"reasons\" if untraced synchronization may order the two events",
     .commands = {"order --json"},
     .parameters = {MCP_SOURCE,
                    {"a", MCP_TEXT, true, NULL, "an event, as in 2:17", NULL},
                    {"b", MCP_TEXT, true, NULL, "another event", NULL}}},
    {.name = "why", .title = "Explain an order",
     .about = "Explains why one event happened before the other: a shortest chain of events, from "
              "trace line to trace line, with types and call sites.",
     .certainty = "each step of a chain is certain; an empty chain: none was recorded",
     .commands = {"order --why --json"},
     .parameters = {MCP_SOURCE,
                    {"a", MCP_TEXT, true, NULL, "an event, as in 2:17", NULL},
                    {"b", MCP_TEXT, true, NULL, "another event", NULL}}},
    {.name = "waits", .title = "Explain waits",
     .about = "Tells where threads waited and what caused it, the longest first; with why, "
              "explains one wait: what both threads did since they last synchronized.",
     .certainty = "times between traced events are exact; the attribution to code compares paths, "
                  "and \"ambiguous\" counts waits with several candidates for the waker",
     .commands = {"waits --json"},
     .parameters = {MCP_SOURCE, MCP_FROM, MCP_TO,
                    {"why", MCP_TEXT, false, "--why",
                     "an event by which a wait starts or ends, a function or FILE:LINE", NULL},
                    {"by", MCP_TEXT, false, "--by",
                     "a row per place (default), object, thread, wait or pattern", NULL},
                    {"top", MCP_NUMBER, false, "--top", "only the first rows (default 20)", "20"}}},
    {.name = "find", .title = "Find patterns of events",
     .about = "Finds events by their order: 's: signal; w: wait; s || w; s.object = w.object'; "
              "a -> b: a happened before b; a || b: concurrent; a = b: simultaneous; 'a next b': b "
              "is next on the trace line of a; '!c between a b': no c between them; a.text ~ /RE/.",
     .certainty = "matches hold in the recorded order; concurrent events may be ordered by "
                  "synchronization that was not traced",
     .commands = {"find --json"},
     .parameters = {MCP_SOURCE,
                    {"pattern", MCP_TEXT, true, NULL, "clauses, separated by semicolons", NULL},
                    {"limit", MCP_NUMBER, false, "--limit", "at most so many matches", "20"}},
     .finds = true, .may_be_none = true},
    {.name = "tables", .title = "List tables for queries",
     .about = "Lists the tables and columns that the tool query has, for this trace.",
     .certainty = "",
     .commands = {"query"},
     .parameters = {MCP_SOURCE}},
    {.name = "query", .title = "Query a trace with SQL",
     .about = "Runs one statement of SQLite that reads: each table of Poet (events, lines, states, "
              "waits, wait_causes, locks, path, calls, blocked, deadlocks, diagnoses, findings, "
              "predictions, ...) is a table of SQL. Times are in ns. The tool tables lists them. "
              "Use LIMIT.",
     .certainty = "rows are what the tables of Poet say; notes below them tell what is missing or "
                  "estimated; null is unknown, not 0",
     .commands = {"query --json"},
     .parameters = {MCP_SOURCE, {"sql", MCP_TEXT, true, NULL, "the statement", NULL}}},
    {.name = "source", .title = "Annotate source code",
     .about = "Lists the source files of a run, or the lines of one with the time run and waited "
              "there, and the delay that they caused to other threads.",
     .certainty = "times between traced events are exact; the place of code between two events is "
                  "a range of lines",
     .commands = {"source --json"},
     .parameters = {MCP_SOURCE,
                    {"file", MCP_TEXT, false, NULL, "a source file; default: all files", NULL},
                    {"function", MCP_TEXT, false, NULL, "a function of this file", NULL}}},
    {.name = "show", .title = "Show the event diagram",
     .about = "Shows the event diagram of a part of the run as text: a row for each thread and "
              "object, time from left to right.",
     .certainty = "the diagram is the recorded order; positions are not times",
     .commands = {"show --no-notes --ascii --footnotes"},
     .parameters = {MCP_SOURCE, MCP_FROM, MCP_TO,
                    {"around", MCP_TEXT, false, "--around", "60 columns around an event", NULL},
                    {"last", MCP_NUMBER, false, "--last", "the last N columns", NULL},
                    {"lines", MCP_TEXT, false, "--lines",
                     "only these lines: numbers or names, separated by commas", NULL}}},
    {0}};
/* clang-format on */

/* Returns whether the tool is served: those that run programs may be excluded, and a command may
 * not exist. */
static bool mcp_tool_is_there(const struct mcp_settings *settings, const struct mcp_tool *tool)
{
    return !(settings->read_only && tool->runs) && (!tool->finds || &command_find != NULL);
}

/* ---- the list ---- */

static struct json_object *mcp_parameter_json(const struct mcp_parameter *p)
{
    static const char *const types[] = {
        [MCP_TEXT] = "string", [MCP_NUMBER] = "integer", [MCP_WORDS] = "array"};
    struct json_object *o = json_object_new_object(), *items;
    json_add_text(o, "type", types[p->type]);
    json_add_text(o, "description", p->about);
    if (p->type == MCP_NUMBER)
        json_object_object_add(o, "minimum", json_object_new_int(1));
    if (p->type == MCP_WORDS) {
        items = json_object_new_object();
        json_add_text(items, "type", "string");
        json_object_object_add(o, "items", items);
        json_object_object_add(o, "minItems", json_object_new_int(1));
    }
    return o;
}

static struct json_object *mcp_tool_json(const struct mcp_tool *tool)
{
    struct json_object *o = json_object_new_object(), *schema = json_object_new_object(),
                       *properties = json_object_new_object(), *required = json_object_new_array(),
                       *hints = json_object_new_object();
    for (const struct mcp_parameter *p = tool->parameters; p->name; p++) {
        json_object_object_add(properties, p->name, mcp_parameter_json(p));
        if (p->required)
            json_object_array_add(required, json_object_new_string(p->name));
    }
    json_add_text(schema, "type", "object");
    json_object_object_add(schema, "properties", properties);
    json_object_object_add(schema, "required", required);
    json_object_object_add(schema, "additionalProperties", json_object_new_boolean(false));
    json_object_object_add(hints, "readOnlyHint", json_object_new_boolean(!tool->runs));
    json_add_text(o, "name", tool->name);
    json_add_text(o, "title", tool->title);
    json_add_text(o, "description", tool->about);
    json_object_object_add(o, "inputSchema", schema);
    json_object_object_add(o, "annotations", hints);
    return o;
}

struct json_object *mcp_tools_list(const struct mcp_settings *settings)
{
    struct json_object *list = json_object_new_array();
    for (const struct mcp_tool *tool = mcp_tools; tool->name; tool++)
        if (mcp_tool_is_there(settings, tool))
            json_object_array_add(list, mcp_tool_json(tool));
    return list;
}

/* ---- arguments ---- */

/* Words of a command, owned here, ended by NULL. */
struct mcp_words {
    char *words[MCP_WORDS_MOST + 1];
    uint32_t count;
};

/* Takes over the word. */
static void mcp_words_add(struct mcp_words *w, char *word)
{
    if (w->count < MCP_WORDS_MOST)
        w->words[w->count++] = word;
    else
        free(word);
}

static void mcp_words_free(struct mcp_words *w)
{
    for (uint32_t i = 0; i < w->count; i++)
        free(w->words[i]);
    *w = (struct mcp_words){0};
}

static const struct mcp_parameter *mcp_parameter_find(const struct mcp_tool *tool, const char *name)
{
    for (const struct mcp_parameter *p = tool->parameters; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

/* Returns whether a text has no NUL, which would cut it. */
static bool mcp_text_is_whole(struct json_object *value)
{
    return json_object_is_type(value, json_type_string) &&
           strlen(json_object_get_string(value)) == (size_t)json_object_get_string_len(value);
}

static bool mcp_words_match(struct json_object *value)
{
    if (!json_object_is_type(value, json_type_array) || !json_object_array_length(value) ||
        json_object_array_length(value) > MCP_WORDS_MOST / 2)
        return false;
    for (size_t i = 0; i < json_object_array_length(value); i++)
        if (!mcp_text_is_whole(json_object_array_get_idx(value, i)))
            return false;
    return *json_object_get_string(json_object_array_get_idx(value, 0)) != 0;
}

static bool mcp_value_matches(const struct mcp_parameter *p, struct json_object *value)
{
    switch (p->type) {
    case MCP_TEXT:
        return mcp_text_is_whole(value) && json_object_get_string_len(value) > 0;
    case MCP_NUMBER:
        return json_object_is_type(value, json_type_int) && json_object_get_int64(value) > 0 &&
               json_object_get_int64(value) <= INT_MAX;
    default:
        return mcp_words_match(value);
    }
}

static bool mcp_arguments_match(const struct mcp_tool *tool, struct json_object *arguments,
                                struct error *error)
{
    static const char *const types[] = {[MCP_TEXT] = "a text that is not empty",
                                        [MCP_NUMBER] = "a number of at least 1",
                                        [MCP_WORDS] = "a list of texts"};
    json_object_object_foreach(arguments, name, value)
    {
        const struct mcp_parameter *p = mcp_parameter_find(tool, name);
        if (!p)
            error_set(error, "%s: unknown argument \"%.100s\"", tool->name, name);
        else if (!mcp_value_matches(p, value))
            error_set(error, "%s: argument \"%s\" must be %s", tool->name, name, types[p->type]);
        if (!p || !mcp_value_matches(p, value))
            return false;
    }
    for (const struct mcp_parameter *p = tool->parameters; p->name; p++)
        if (p->required && !json_object_object_get(arguments, p->name)) {
            error_set(error, "%s: missing argument \"%s\"", tool->name, p->name);
            return false;
        }
    return true;
}

/* Returns the text of an argument or its default; NULL: none. */
static const char *mcp_argument_text(const struct mcp_parameter *p, struct json_object *arguments)
{
    struct json_object *value = json_object_object_get(arguments, p->name);
    return value ? json_object_get_string(value) : p->otherwise;
}

/* Makes the words of a command: it, its options, "--", and the operands, which cannot be taken for
 * options then. */
static void mcp_words_make(const struct mcp_tool *tool, const char *command,
                           struct json_object *arguments, struct mcp_words *w)
{
    char *copy = xstrdup(command), *rest = copy, *word;
    mcp_words_add(w, xstrdup("poet"));
    while ((word = strsep(&rest, " ")) != NULL)
        mcp_words_add(w, xstrdup(word));
    free(copy);
    for (const struct mcp_parameter *p = tool->parameters; p->name; p++)
        if (p->option && *p->option && mcp_argument_text(p, arguments))
            mcp_words_add(w, xasprintf("%s=%s", p->option, mcp_argument_text(p, arguments)));
    mcp_words_add(w, xstrdup("--"));
    for (const struct mcp_parameter *p = tool->parameters; p->name; p++) {
        struct json_object *value = json_object_object_get(arguments, p->name);
        for (size_t i = 0; p->type == MCP_WORDS && i < json_object_array_length(value); i++)
            mcp_words_add(w, xstrdup(json_object_get_string(json_object_array_get_idx(value, i))));
        if (p->type != MCP_WORDS && !p->option && mcp_argument_text(p, arguments))
            mcp_words_add(w, xstrdup(mcp_argument_text(p, arguments)));
    }
}

/* ---- answers ---- */

static void mcp_answer_add(struct json_object *content, char *text)
{
    struct json_object *part = json_object_new_object();
    json_add_text(part, "type", "text");
    json_object_object_add(part, "text", json_take_text(text));
    json_object_array_add(content, part);
}

/* Returns an output as text, cut at the end of a line, with a note, if it was too long. */
static char *mcp_answer_text(const struct mcp_output *output)
{
    size_t size = output->size;
    bool cut = output->total > output->size;
    while (cut && size && output->text[size - 1] != '\n')
        size--;
    if (cut && !size) /* one long line */
        size = text_cut(output->text, output->size);
    char *text = xcheck(text_readable(output->text, size, true), 1);
    if (!cut)
        return text;
    char *all =
        xasprintf("%s[cut: %zu of %llu bytes; ask for less, with from and to, top, LIMIT, or "
                  "fewer columns]\n",
                  text, size, (unsigned long long)output->total);
    free(text);
    return all;
}

struct mcp_answer {
    const struct mcp_settings *settings;
    const struct mcp_tool *tool;
    struct json_object *arguments, *content;
    bool failed;
};

static unsigned mcp_answer_seconds(const struct mcp_answer *a)
{
    const struct mcp_parameter *p = mcp_parameter_find(a->tool, "timeout_s");
    const char *text = p ? mcp_argument_text(p, a->arguments) : NULL;
    unsigned seconds = text ? (unsigned)strtoul(text, NULL, 10) : a->settings->seconds;
    return p && seconds > a->settings->seconds ? a->settings->seconds : seconds;
}

/* Runs a command of Poet; false with the reason in *error if it could not be started. */
static bool mcp_answer_run(const struct mcp_answer *a, const struct mcp_words *w,
                           struct mcp_child *child, struct error *error)
{
    char path[PATH_MAX];
    const struct mcp_limits limits = {.bytes = a->settings->bytes,
                                      .seconds = mcp_answer_seconds(a),
                                      .input = &a->settings->input,
                                      .receive = a->settings->receive,
                                      .user = a->settings->user};
    if (!install_path_find("bin/poet", X_OK, path, sizeof path)) {
        error_set(error, "bin/poet: not installed");
        return false;
    }
    return mcp_child_run(path, w->words, &limits, child, error);
}

/* Adds what a recorded program did: its status and its outputs. */
static void mcp_answer_add_program(struct mcp_answer *a, struct mcp_child *child)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "exit_status",
                           child->timed_out ? NULL : json_object_new_int(child->status));
    json_object_object_add(o, "timed_out", json_object_new_boolean(child->timed_out));
    json_object_object_add(o, "output", json_take_text(mcp_answer_text(&child->out)));
    json_object_object_add(o, "errors", json_take_text(mcp_answer_text(&child->errors)));
    json_object_object_add(o, "source",
                           json_object_get(json_object_object_get(a->arguments, "output")));
    mcp_answer_add(a->content, xstrdup(json_object_to_json_string_ext(
                                   o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)));
    json_object_put(o);
}

static void mcp_answer_add_output(struct mcp_answer *a, struct mcp_child *child)
{
    if (child->timed_out)
        mcp_answer_add(a->content, xasprintf("%s: not answered within %u s", a->tool->name,
                                             mcp_answer_seconds(a)));
    if (child->out.total)
        mcp_answer_add(a->content, mcp_answer_text(&child->out));
    if (child->errors.total)
        mcp_answer_add(a->content, mcp_answer_text(&child->errors));
    bool none = a->tool->may_be_none && child->status == EXIT_FAILED && !child->errors.total;
    a->failed |= child->timed_out || child->cancelled || (child->status != EXIT_DONE && !none);
}

static void mcp_answer_run_command(struct mcp_answer *a, const char *command)
{
    struct mcp_words words = {0};
    struct mcp_child child;
    struct error error = {""};
    mcp_words_make(a->tool, command, a->arguments, &words);
    bool started = mcp_answer_run(a, &words, &child, &error);
    if (!started) {
        mcp_answer_add(a->content, xstrdup(error.text));
        a->failed = true;
    } else if (a->tool->runs) {
        mcp_answer_add_program(a, &child);
        a->failed |= child.cancelled;
    } else {
        mcp_answer_add_output(a, &child);
    }
    mcp_child_free(&child);
    mcp_words_free(&words);
}

/* ---- certainty ---- */

static const char *mcp_source_of(const struct mcp_answer *a)
{
    struct json_object *value =
        json_object_object_get(a->arguments, a->tool->runs ? "output" : "source");
    return value ? json_object_get_string(value) : "latest";
}

/* Returns the statistics of the trace, which the caller frees; NULL: unknown. */
static struct json_object *mcp_certainty_statistics(const struct mcp_answer *a)
{
    struct mcp_words words = {0};
    struct mcp_child child;
    struct error error = {""};
    struct json_object *statistics = NULL;
    const char *const begin[] = {"poet", "stat", "--json", "--", mcp_source_of(a)};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        mcp_words_add(&words, xstrdup(begin[i]));
    if (mcp_answer_run(a, &words, &child, &error) && !child.timed_out)
        statistics = json_tokener_parse(child.out.text);
    mcp_child_free(&child);
    mcp_words_free(&words);
    if (!json_object_is_type(statistics, json_type_object)) {
        json_object_put(statistics);
        return NULL;
    }
    return statistics;
}

/* Returns one sentence about a trace. */
static const char *mcp_certainty_text(struct json_object *certainty, bool known, bool live)
{
    static const char *const figures[] = {"lost", "pending", "inconsistent", "discarded"};
    bool whole = true;
    if (!known)
        return "unknown: the statistics of the trace could not be read";
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        whole &= json_object_get_int64(json_object_object_get(certainty, figures[i])) == 0;
    if (!whole)
        return "events are missing from the trace: what follows from their absence is uncertain";
    if (json_object_array_length(json_object_object_get(certainty, "not_traced")))
        return "no event is missing, but some synchronization was not traced (not_traced): threads "
               "that it wakes are not known";
    return live ? "no event is missing so far; the run continues"
                : "no event is missing, and no untraced synchronization is known";
}

static void mcp_answer_add_certainty(struct mcp_answer *a)
{
    static const char *const figures[] = {"lost", "pending", "inconsistent", "discarded",
                                          "uncertain"};
    struct json_object *all = json_object_new_object(), *o = json_object_new_object(),
                       *statistics = mcp_certainty_statistics(a), *reasons = NULL;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        json_object_object_add(o, figures[i],
                               json_object_get(json_object_object_get(statistics, figures[i])));
    if (statistics)
        reasons = json_object_object_get(statistics, "untraced_reasons");
    json_object_object_add(o, "not_traced",
                           reasons ? json_object_get(reasons) : json_object_new_array());
    bool finished = json_object_get_boolean(json_object_object_get(statistics, "finished"));
    json_object_object_add(o, "live", json_object_new_boolean(statistics && !finished));
    json_add_text(o, "trace", mcp_certainty_text(o, statistics != NULL, !finished));
    json_add_text(o, "answer", *a->tool->certainty ? a->tool->certainty : NULL);
    json_object_object_add(all, "certainty", o);
    mcp_answer_add(a->content, xstrdup(json_object_to_json_string_ext(
                                   all, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)));
    json_object_put(all);
    json_object_put(statistics);
}

/* ---- calls ---- */

struct json_object *mcp_tools_call(const struct mcp_settings *settings, const char *name,
                                   struct json_object *arguments, struct error *error)
{
    const struct mcp_tool *tool = mcp_tools;
    while (tool->name && strcmp(tool->name, name) != 0)
        tool++;
    if (!tool->name || !mcp_tool_is_there(settings, tool)) {
        error_set(error, "unknown tool \"%.100s\"", name);
        return NULL;
    }
    if (!mcp_arguments_match(tool, arguments, error))
        return NULL;
    struct json_object *result = json_object_new_object();
    struct mcp_answer a = {settings, tool, arguments, json_object_new_array(), false};
    for (size_t i = 0; tool->commands[i] && !a.failed; i++)
        mcp_answer_run_command(&a, tool->commands[i]);
    if (!tool->lists && !a.failed)
        mcp_answer_add_certainty(&a);
    json_object_object_add(result, "content", a.content);
    json_object_object_add(result, "isError", json_object_new_boolean(a.failed));
    return result;
}
