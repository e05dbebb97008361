/* poet states: how each thread spent its life. */
#include "clients/poet/tables.h"

#include <errno.h>
#include <string.h>

enum { OPTION_TASKS = 3000, OPTION_CREATED, OPTION_LIST, OPTION_STAYS, OPTION_SOURCE };

struct states_options {
    struct table_settings tables;
    const char *preset;
    char key[8];
    struct table_option source[2]; /* the second ends it */
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which table:", 1},
    {"tasks", OPTION_TASKS, NULL, 0,
     "tasks by their creation, and how many there were then: created, deleted, started, ended, "
     "executing",
     1},
    {"created", OPTION_CREATED, NULL, 0, "tasks as a tree: who created whom, and when", 1},
    {"list", OPTION_LIST, NULL, 0,
     "each thread's states one after the other: from when, how long, where in the code it began; "
     "of one thread with --lines",
     1},
    {"stays", OPTION_STAYS, NULL, 0,
     "which task of a runtime was on which of the threads of the system that run them, from when, "
     "how long, and from which it came there",
     1},
    {"source", OPTION_SOURCE, "order|samples|clock|switches", 0,
     "tell what is between waits by no better source than this: the order alone, samples of "
     "processor time, processor clocks at events, switch records",
     1},
    {0}};

static error_t states_parse_option(int key, char *value, struct argp_state *state)
{
    struct states_options *w = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &w->tables;
        return 0;
    case OPTION_TASKS:
        w->preset = "tasks";
        return 0;
    case OPTION_CREATED:
        w->preset = "created";
        return 0;
    case OPTION_LIST:
        w->preset = "spells";
        return 0;
    case OPTION_STAYS:
        w->preset = "stays";
        return 0;
    case OPTION_SOURCE:
        if (strcmp(value, "order") != 0 && strcmp(value, "samples") != 0 &&
            strcmp(value, "clock") != 0 && strcmp(value, "switches") != 0) {
            command_usage(w->tables.command,
                          "--source: \"%s\" is none of order, samples, clock, switches", value);
            return EINVAL;
        }
        w->source[0] = (struct table_option){w->key, value};
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Of where threads ran, another table tells. */
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
        "Say how each thread spent its life, as far as is known: made and not begun "
        "(start), let go and not going on yet (ready), running, blocked, ended and not gone yet "
        "(terminate).  The states of a life add up to it.  Of threads on the server's machine "
        "running is on a processor, ready could have run and had none, and system is the rest: "
        "asleep, or waiting for what no event tells of; a note says whether the kernel's records "
        "of switches tell that, or samples.  Else running is all that no wait accounts for, an "
        "upper bound, and system is null.  --by processor, or cluster, tells on which threads of "
        "the system tasks of a runtime ran, and --by cpu on which processors of the machine threads "
        "did: for how long, how many times, and how often they came there from elsewhere.",
    .children = tables_children};

const struct command command_states = {.name = "states",
                                       .summary = "say how each thread spent its life",
                                       .run = states_run,
                                       .argp = &argp};
