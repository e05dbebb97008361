/* poet waits: where threads waited and what caused it. */
#include "base/alloc.h"
#include "clients/cli/calls.h"
#include "clients/cli/command_source.h"
#include "clients/cli/table_options.h"
#include "config/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_WHY = 3000,
    OPTION_WHILE,
    OPTION_KNOTS,
    OPTION_OBJECT,
    OPTION_DIRECT,
    OPTION_SINCE,
    OPTION_STACKS
};

struct waits_options {
    struct table_settings tables;
    const char *preset;
    const struct profile_format *format; /* of another tool; NULL: as a table */
    struct table_option options[7];
    char *place, *object; /* to be looked up; NULL: none */
    char *event, *line, *note; /* what was found; owned here */
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which table:", 1},
    {"why", OPTION_WHY, "EVENT|PLACE", 0,
     "explain one wait, which starts or ends with EVENT, or the longest that starts in a "
     "function or at FILE:LINE: both execution paths since the last synchronization, side by "
     "side; below them the waits on the awaited thread's path",
     1},
    {"while", OPTION_WHILE, NULL, 0,
     "attribute waits to what ran meanwhile instead of to the cause of the delay", 1},
    {"knots", OPTION_KNOTS, NULL, 0, "find bottleneck groups (wPerf knots)", 1},
    {"stacks", OPTION_STACKS, "WHAT", OPTION_ARG_OPTIONAL,
     "wait time by call stack: of the waiters (waiter, the default), or of the calls that ended "
     "the waits (waker); with -o FILE.svg as an icicle graph, FILE.html with a search box",
     1},
    {"object", OPTION_OBJECT, "LINE", 0, "only waits for this object, by its name or line number",
     1},
    {"direct", OPTION_DIRECT, NULL, 0,
     "attribute only to the awaited thread, not to what delayed it in turn", 1},
    {"since", OPTION_SINCE, "WHEN", 0,
     "compare paths since the last synchronization (rendezvous) or since the wait began (wait)", 1},
    {"format", 'f', "FORMAT", 0,
     "--stacks for other tools: callgrind (KCachegrind), folded (flame graphs) or pprof; with -o "
     "into a file",
     4},
    {0}};

/* Adds or replaces an option; the array has space for each key, and a terminator. */
static error_t waits_add_option(struct waits_options *w, const char *key, char *value)
{
    static char yes[] = "yes";
    size_t i = 0;
    while (w->options[i].key && strcmp(w->options[i].key, key) != 0)
        i++;
    w->options[i] = (struct table_option){(char *)(uintptr_t)key, value ? value : yes};
    return 0;
}

static error_t add_why(struct waits_options *w, char *value)
{
    struct event_id at;
    bool event = event_id_parse(value, &at) && at.line;
    w->preset = "explanation";
    w->place = event ? NULL : value;
    return event ? waits_add_option(w, "event", value) : 0;
}

/* what: "waiter" or "waker"; NULL: "waiter". */
static error_t waits_set_stacks(struct waits_options *w, const char *what)
{
    w->preset = "stacks";
    w->tables.by = what ? what : "waiter";
    w->tables.tree = true;
    return 0;
}

static const struct option_row waits_rows[] = {
    OPTION_CHILD_INPUT(struct waits_options, tables),
    OPTION_STORES_CONSTANT(OPTION_KNOTS, struct waits_options, preset, "knots"),
    {0}};

static error_t waits_parse_option(int key, char *value, struct argp_state *state)
{
    struct waits_options *w = state->input;
    switch (key) {
    case OPTION_WHY:
        return add_why(w, value);
    case OPTION_WHILE:
        return waits_add_option(w, "while", NULL);
    case OPTION_OBJECT:
        w->object = value;
        return 0;
    case OPTION_DIRECT:
        return waits_add_option(w, "direct", NULL);
    case OPTION_SINCE:
        return waits_add_option(w, "since", value);
    case OPTION_STACKS:
        return waits_set_stacks(w, value);
    case 'f':
        return profile_format_parse(w->tables.command, value, &w->format);
    default:
        return option_rows_parse(waits_rows, key, value, state);
    }
}

/* ---- names ---- */

/* Returns the row of the longest wait among the places with that name; *waits: their number of
 * waits. */
static uint32_t find_longest(const struct waits_options *w, const struct table_names *names,
                             const struct result_table *t, long long *waits)
{
    uint32_t where = result_table_find_column(t, "location"),
             most = result_table_find_column(t, "max_ns"),
             count = result_table_find_column(t, "count"),
             share = result_table_find_column(t, "share"), found = t->row_count;
    *waits = 0;
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cells = result_table_cells(t, i);
        bool ended = cells[share].is != CELL_NULL; /* the cause is known only then */
        if (t->rows[i].depth || !ended || cells[where].is != CELL_PLACE ||
            !result_table_place_matches(names, cells[where].place, w->place))
            continue;
        *waits += cells[count].number;
        if (found == t->row_count || cells[most].number > result_table_cells(t, found)[most].number)
            found = i;
    }
    return found;
}

/* Translates the name of a place to a wait: requests the waits by place first, since only the
 * client knows the names. */
static int find_place(struct waits_options *w, struct command_source *subject)
{
    struct table_settings plain = w->tables;
    struct table_names names = {&subject->source.book, subject->sites};
    struct result_table t = {0};
    long long waits;
    char at[48];
    plain.by = "site";
    plain.sort = NULL;
    plain.top = 0;
    int status = table_request_run(
        &plain, &(struct table_section){.what = "waits", .options = w->options}, subject, &t);
    uint32_t row = status == EXIT_DONE ? find_longest(w, &names, &t, &waits) : 0;
    if (status == EXIT_DONE && row == t.row_count) {
        status = command_usage(w->tables.command, "--why %s: no wait starts there", w->place);
    } else if (status == EXIT_DONE) {
        event_id_print(at, sizeof at, t.rows[row].event);
        w->event = xstrdup(at);
        w->note = xasprintf("longest of %lld waits at %s", waits, w->place);
        waits_add_option(w, "event", w->event);
    }
    result_table_free(&t);
    return status;
}

static int waits_request_waits(struct waits_options *w, struct command_source *subject)
{
    int status = EXIT_DONE;
    if (w->object &&
        (w->line = table_request_object(&w->tables, subject, "--object", w->object, &status)))
        waits_add_option(w, "object", w->line);
    if (status == EXIT_DONE && w->place)
        status = find_place(w, subject);
    struct table_section section = {.what = w->preset, .options = w->options, .note = w->note};
    if (status == EXIT_DONE && w->format)
        return profile_format_convert(&w->tables, w->preset, w->format, subject);
    return status == EXIT_DONE ? table_output_run(&w->tables, subject, &section, 1) : status;
}

static int waits_open_and_request(struct waits_options *w, int argc, char **argv, int first)
{
    const struct command *command = w->tables.command;
    struct command_source subject;
    const char *source = command_source_name(argc, argv, &first);
    enum session_lines lines =
        w->object ? SESSION_ALL_LINES : table_request_session_lines(&w->tables);
    if (argc != first)
        return command_usage(command, "extra operand: %s", argv[first]);
    if (w->format && strcmp(w->preset, "stacks") != 0)
        return command_usage(command, "-f %s: needs --stacks", w->format->name);
    table_progress_begin(command);
    if (!command_source_open(command, &subject, source, lines, label_option_selected(LABELS_NAME)))
        return EXIT_FAILED;
    command_source_warn_updated(command, &subject);
    int status = waits_request_waits(w, &subject);
    command_source_close(&subject);
    return status;
}

static int waits_run(const struct command *command, int argc, char **argv)
{
    struct waits_options w = {.tables = {.command = command}, .preset = "waits"};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status == OPTIONS_READ)
        status = waits_open_and_request(&w, argc, argv, first);
    free(w.event);
    free(w.line);
    free(w.note);
    return status;
}

static const struct argp argp = {
    .options = options,
    .parser = waits_parse_option,
    .args_doc = "[SOURCE]",
    .doc =
        "Show where threads waited and attribute each wait to the code that caused it: for a "
        "rendezvous, why the awaited thread arrived later, compared with the waiter since their "
        "last synchronization; for a lock, what the holders executed while holding it.  Each "
        "row groups similar waits (--by place, pattern, object, site, thread or wait); sub-rows "
        "list the responsible code segments.  Attributed times add up to the wait time.  --stacks "
        "shows the functions that led to the waits.",
    .children = tables_children};

const struct command command_waits = {.name = "waits",
                                      .summary = "show where threads waited and what caused it",
                                      .run = waits_run,
                                      .argp = &argp};
