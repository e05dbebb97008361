/* poet path: the critical path and what-if estimates. */
#include "base/alloc.h"
#include "clients/cli/command_source.h"
#include "clients/cli/table_options.h"
#include "config/options.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 25 /* default number of rows */

enum { OPTION_WHAT_IF = 3000, OPTION_NO_LATENCY, OPTION_GAINS, OPTION_CPUS, OPTION_UNLIMITED_CPUS };

struct path_options {
    struct table_settings tables;
    const char **without; /* as on the command line */
    uint32_t without_count;
    struct table_option *options; /* for the server; owned here */
    uint32_t option_count;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What-if analysis:", 1},
    {"what-if", OPTION_WHAT_IF, "CODE[=FACTOR]", 0,
     "scale the time of the segments that start or end in this function or at FILE:LINE by FACTOR "
     "(default 0); lock:NAME: assume this lock never blocks; may be repeated",
     1},
    {"no-latency", OPTION_NO_LATENCY, NULL, 0, "assume zero wake-up latency", 1},
    {"unlimited-cpus", OPTION_UNLIMITED_CPUS, NULL, 0,
     "assume a free CPU for every runnable thread; with --no-latency also zero wake-up latency", 1},
    {"gains", OPTION_GAINS, "N", OPTION_ARG_OPTIONAL,
     "for the N largest segments on the path (default 20, or all): gain if it took no time", 1},
    {"cpus", OPTION_CPUS, "N", 0, "upper bound of the speedup on N CPUs", 1},
    {0}};

/* Takes over the value. */
static void path_set_option(struct path_options *w, const char *key, char *value)
{
    struct table_option option = {xstrdup(key), value};
    ARRAY_PUSH(w->options, w->option_count, option);
}

static error_t path_receive_number(struct path_options *w, const char *key, const char *value,
                                   bool all)
{
    unsigned n = 0;
    bool every = all && strcmp(value, "all") == 0;
    if (!every && !command_number(value, UINT32_MAX, &n)) {
        command_usage(w->tables.command, "--%s %s: invalid number",
                      strcmp(key, "zeros") == 0 ? "gains" : key, value);
        return EINVAL;
    }
    path_set_option(w, key, xasprintf("%u", n));
    return 0;
}

static const struct option_row path_rows[] = {OPTION_CHILD_INPUT(struct path_options, tables), {0}};

static error_t path_parse_option(int key, char *value, struct argp_state *state)
{
    struct path_options *w = state->input;
    switch (key) {
    case OPTION_WHAT_IF:
        ARRAY_PUSH(w->without, w->without_count, (const char *)value);
        return 0;
    case OPTION_NO_LATENCY:
        path_set_option(w, "no-latency", xstrdup("1"));
        return 0;
    case OPTION_UNLIMITED_CPUS:
        path_set_option(w, "min", xstrdup("1"));
        return 0;
    case OPTION_GAINS:
        return path_receive_number(w, "zeros", value ? value : "20", true);
    case OPTION_CPUS:
        return path_receive_number(w, "cpus", value, false);
    default:
        return option_rows_parse(path_rows, key, value, state);
    }
}

/* ---- lookup of code segments ---- */

static bool path_segment_matches(const struct table_names *names, const struct result_table *t,
                                 uint32_t row, uint32_t column, const char *name)
{
    const struct table_cell *cell = &result_table_cells(t, row)[column];
    if (cell->is != CELL_STEP)
        return false;
    if (result_table_place_matches(names, cell->between.from, name) ||
        (cell->step != CELL_STEP_CALLS &&
         result_table_place_matches(names, cell->between.to, name)))
        return true;
    char *all = result_table_cell_text(names, &t->columns[column], cell);
    bool is = fnmatch(name, all, 0) == 0;
    free(all);
    return is;
}

/* Scales the segments of that name to `millionths` of their time; returns false if there is
 * none. */
static bool path_scale_segments(struct path_options *w, const struct table_names *names,
                                const struct result_table *steps, const char *name,
                                unsigned millionths)
{
    uint32_t step = result_table_find_column(steps, "segment"),
             code = result_table_find_column(steps, "code");
    bool any = false;
    for (uint32_t i = 0; i < steps->row_count; i++)
        if (path_segment_matches(names, steps, i, step, name)) {
            long long number = result_table_cells(steps, i)[code].number;
            path_set_option(w, "factor", xasprintf("%lld=%u", number, millionths));
            any = true;
        }
    return any;
}

static bool path_free_line(struct path_options *w, const struct trace_metadata *book,
                           const char *name)
{
    bool several;
    uint32_t line = metadata_find_line(book, name, &several);
    if (line)
        path_set_option(w, "free", xasprintf("%u", line));
    return line != 0;
}

/* Cuts "=0.5" off the end of a word; *factor: 0 without it. Returns false if it is invalid. */
static bool path_split_factor(char *word, double *factor)
{
    char *sign = strrchr(word, '='), *end;
    *factor = 0;
    if (!sign)
        return true;
    *sign = 0;
    *factor = strtod(sign + 1, &end);
    return sign[1] && !*end && *factor >= 0 && *factor <= 1000;
}

static int path_add_change(struct path_options *w, struct command_source *subject,
                           const struct result_table *steps, const char *asked)
{
    struct table_names names = {&subject->source.book, subject->sites};
    const struct command *command = w->tables.command;
    char *word = xstrdup(asked);
    bool lock = strncmp(word, "lock:", 5) == 0;
    double factor;
    int status = EXIT_DONE;
    if (!path_split_factor(word, &factor) || (lock && factor > 0))
        status = command_usage(command, "--what-if %s: %s", asked,
                               lock ? "a lock takes no factor"
                                    : "must be CODE or CODE=FACTOR, FACTOR from 0 to 1000");
    else if (lock && !path_free_line(w, names.book, word + 5))
        status = command_usage(command, "--what-if %s: no such line; see poet dump", asked);
    else if (!lock && !path_scale_segments(w, &names, steps, word, (unsigned)(factor * 1e6 + 0.5)))
        status =
            command_usage(command,
                          "--what-if %s: no segment on the path starts or ends there; see poet "
                          "path",
                          asked);
    free(word);
    return status;
}

/* Translates the names of segments, which only the client knows, to the server's codes. */
static int path_resolve_steps(struct path_options *w, struct command_source *subject)
{
    struct result_table steps = {0};
    struct table_settings plain = {.command = w->tables.command};
    int status =
        table_request_run(&plain, &(struct table_section){.what = "path"}, subject, &steps);
    for (uint32_t i = 0; i < w->without_count && status == EXIT_DONE; i++)
        status = path_add_change(w, subject, &steps, w->without[i]);
    result_table_free(&steps);
    return status;
}

/* ---- the command ---- */

static int path_request_path(struct path_options *w, struct command_source *subject)
{
    int status = w->without_count ? path_resolve_steps(w, subject) : EXIT_DONE;
    if (status != EXIT_DONE)
        return status;
    ARRAY_PUSH(w->options, w->option_count, (struct table_option){0});
    const struct table_settings *t = &w->tables;
    struct table_section section = {.what = "path", .options = w->options};
    if (!t->top && !t->json && !t->csv && !t->file && !t->by)
        section.top = SHOWN;
    return table_output_run(&w->tables, subject, &section, 1);
}

static void path_free_options(struct path_options *w)
{
    for (uint32_t i = 0; i < w->option_count; i++) {
        free(w->options[i].key);
        free(w->options[i].value);
    }
    free(w->options);
    free(w->without);
}

static int path_run(const struct command *command, int argc, char **argv)
{
    struct path_options w = {.tables = {.command = command}};
    struct command_source subject;
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status == OPTIONS_READ) {
        const char *source = command_source_name(argc, argv, &first);
        enum session_lines lines =
            w.without_count ? SESSION_ALL_LINES : table_request_session_lines(&w.tables);
        status = EXIT_FAILED;
        table_progress_begin(command);
        if (argc != first) {
            status = command_usage(command, "extra operand: %s", argv[first]);
        } else if (command_source_open(command, &subject, source, lines,
                                       label_option_selected(LABELS_NAME))) {
            command_source_warn_updated(command, &subject);
            status = path_request_path(&w, &subject);
            command_source_close(&subject);
        }
    }
    path_free_options(&w);
    return status;
}

static const struct argp argp = {
    .options = options,
    .parser = path_parse_option,
    .args_doc = "[SOURCE]",
    .doc =
        "Print the critical path: starting at the last event (or --to) and walking backwards "
        "through running code and, at each wait, into the thread that ended the wait.  Path times "
        "add up to the run time, so only code on the path can shorten the run.  Rows are code "
        "segments, the code from one event to the next; the 25 largest are shown, or --top; --by "
        "thread, piece or category group it otherwise.  Slack: how much longer a segment off the "
        "path could take without delaying the end.",
    .children = tables_children};

const struct command command_path = {.name = "path",
                                     .summary = "show the critical path and what-if estimates",
                                     .run = path_run,
                                     .argp = &argp};
