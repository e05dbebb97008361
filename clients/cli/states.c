/* poet states: time per thread state. */
#include "clients/cli/table_options.h"
#include "config/options.h"

#include <errno.h>
#include <string.h>

enum { OPTION_TASKS = 3000, OPTION_CREATED, OPTION_LIST, OPTION_PLACEMENT, OPTION_SOURCE };

struct states_options {
    struct table_settings tables;
    const char *preset;
    char key[8];
    struct table_option source[2]; /* terminated by an empty one */
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which table:", 1},
    {"tasks", OPTION_TASKS, NULL, 0,
     "task counts over time: created, deleted, started, ended, executing", 1},
    {"created", OPTION_CREATED, NULL, 0,
     "task creation tree, with times, and the state of each task at the end", 1},
    {"list", OPTION_LIST, NULL, 0,
     "list the state intervals of each thread (start, duration, call site); of one thread with "
     "--threads",
     1},
    {"placement", OPTION_PLACEMENT, NULL, 0,
     "list which worker thread ran each task of a runtime, from when, how long, and migrations", 1},
    {"source", OPTION_SOURCE, "order|samples|clock|switches", 0,
     "limit the source of CPU states: order (traced events alone), samples of CPU time, clock "
     "(thread CPU clocks at events), switches (context-switch records)",
     1},
    {0}};

static const struct option_row states_rows[] = {
    OPTION_CHILD_INPUT(struct states_options, tables),
    OPTION_STORES_CONSTANT(OPTION_TASKS, struct states_options, preset, "tasks"),
    OPTION_STORES_CONSTANT(OPTION_CREATED, struct states_options, preset, "created"),
    OPTION_STORES_CONSTANT(OPTION_LIST, struct states_options, preset, "intervals"),
    OPTION_STORES_CONSTANT(OPTION_PLACEMENT, struct states_options, preset, "placement"),
    {0}};

static error_t states_parse_option(int key, char *value, struct argp_state *state)
{
    struct states_options *w = state->input;
    switch (key) {
    case OPTION_SOURCE:
        if (strcmp(value, "order") != 0 && strcmp(value, "samples") != 0 &&
            strcmp(value, "clock") != 0 && strcmp(value, "switches") != 0) {
            command_usage(
                w->tables.command,
                "--source: invalid source \"%s\": must be order, samples, clock or switches",
                value);
            return EINVAL;
        }
        w->source[0] = (struct table_option){w->key, value};
        return 0;
    default:
        return option_rows_parse(states_rows, key, value, state);
    }
}

/* Returns the preset: --by with a place where threads ran selects another table. */
static const char *preset_by(const struct states_options *w)
{
    static const char *const places[] = {"processor", "cluster", "cpu"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (w->tables.by && strcmp(w->preset, "states") == 0 &&
            strcmp(w->tables.by, places[i]) == 0)
            return "processors";
    return w->preset;
}

static int states_run(const struct command *command, int argc, char **argv)
{
    struct states_options w = {.tables = {.command = command}, .preset = "states", .key = "source"};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    struct table_section section = {.what = preset_by(&w), .options = w.source};
    return table_output_command(&w.tables, argc, argv, first, &section, 1);
}

static const struct argp argp = {
    .options = options,
    .parser = states_parse_option,
    .args_doc = "[SOURCE]",
    .doc =
        "Show how much time each thread spent created (not yet started), runnable (without a "
        "CPU), running, blocked (in a traced wait), off-CPU (other: asleep or in a call that is "
        "not traced) and exited (not yet joined).  The states of a thread add up to its "
        "lifetime.  For threads on the server's machine a note names the source of the CPU "
        "states: context-switch records of the kernel, thread CPU clocks or samples.  Without one, "
        "running is all time outside traced waits, an upper bound, and off-CPU is null.  --by "
        "state has a row for each state of a thread: its total, its number of intervals, the "
        "shortest and the longest.  --by processor or cluster shows on which worker threads the "
        "tasks of a runtime ran, --by cpu on which CPUs threads ran: for how long, in how many "
        "intervals, and with how many migrations.",
    .children = tables_children};

const struct command command_states = {
    .name = "states",
    .summary = "show time per thread state (running, runnable, blocked)",
    .run = states_run,
    .argp = &argp};
