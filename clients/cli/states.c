/* poet states: time per thread state. */
#include "clients/cli/table_options.h"
#include "config/options.h"

#include <errno.h>
#include <string.h>

#define PARTS_MOST 100000u

enum {
    OPTION_TASKS = 3000,
    OPTION_CREATED,
    OPTION_LIST,
    OPTION_PLACEMENT,
    OPTION_CONCURRENCY,
    OPTION_PARTS,
    OPTION_SOURCE
};

struct states_options {
    struct table_settings tables;
    const char *preset;
    char source[8], parts[8]; /* keys of options */
    struct table_option options[3]; /* terminated by an empty one */
    unsigned option_count;
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
    {"concurrency", OPTION_CONCURRENCY, NULL, 0,
     "the level of concurrency: how many threads ran, were runnable, and were blocked by class; "
     "work, span and parallelism.  --by level: how long how many threads were in each state; --by "
     "time: over time (--chart curves draws it)",
     1},
    {"parts", OPTION_PARTS, "N", 0,
     "with --concurrency --by time: rows, each an equal part of the time (default 20)", 1},
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
    OPTION_STORES_CONSTANT(OPTION_CONCURRENCY, struct states_options, preset, "concurrency"),
    {0}};

/* Sets an option of the server, once: the last value counts. */
static void states_set_option(struct states_options *w, char *key, char *value)
{
    unsigned i = 0;
    while (i < w->option_count && w->options[i].key != key)
        i++;
    w->option_count += i == w->option_count;
    w->options[i] = (struct table_option){key, value};
}

static error_t states_parse_option(int key, char *value, struct argp_state *state)
{
    struct states_options *w = state->input;
    unsigned parts;
    switch (key) {
    case OPTION_PARTS:
        if (!command_number(value, PARTS_MOST, &parts) || !parts) {
            command_usage(w->tables.command, "--parts %s: must be a number from 1 to %u", value,
                          PARTS_MOST);
            return EINVAL;
        }
        states_set_option(w, w->parts, value);
        return 0;
    case OPTION_SOURCE:
        if (strcmp(value, "order") != 0 && strcmp(value, "samples") != 0 &&
            strcmp(value, "clock") != 0 && strcmp(value, "switches") != 0) {
            command_usage(
                w->tables.command,
                "--source: invalid source \"%s\": must be order, samples, clock or switches",
                value);
            return EINVAL;
        }
        states_set_option(w, w->source, value);
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
    struct states_options w = {
        .tables = {.command = command}, .preset = "states", .source = "source", .parts = "parts"};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    struct table_section section = {.what = preset_by(&w), .options = w.options};
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
        "intervals, and with how many migrations.  --concurrency counts threads instead: the "
        "mean, minimum and maximum number of threads in each state, and the parallelism of the "
        "range (--from, --to): its work, the running time of all threads, divided by its span, "
        "the running time on the critical path.",
    .children = tables_children};

const struct command command_states = {
    .name = "states",
    .summary = "show time per thread state (running, runnable, blocked)",
    .run = states_run,
    .argp = &argp};
