/* poet report: one page about a run.  A section is a table that is asked for. */
#include "clients/poet/colour.h"
#include "clients/poet/labels.h"
#include "clients/poet/tables.h"

/* What stands on the page, from top to bottom. */
static const struct tables_section sections[] = {
    {.what = "hints",
     .title = "what to look at first",
     .columns = "hint,thread,about,by,ns,share,where",
     .top = 8},
    {.what = "states",
     .title = "where the time went",
     .columns = "thread,ready_ns,running_ns,blocked_ns,life_ns",
     .top = 12},
    {.what = "waits", .title = "the longest waits, and why", .top = 5},
    {.what = "path",
     .title = "what decided how long it took",
     .columns = "step,path_ns,share,slack_ns",
     .top = 5},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    (void)value;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct tables tables = {.command = command};
    int first, status = command_read(command, argc, argv, &tables, &first);
    if (status != OPTIONS_READ)
        return status;
    return tables_command(&tables, argc, argv, first, sections, sizeof sections / sizeof *sections);
}

static const struct argp_child children[] = {{&tables_options, 0, NULL, 0},
                                             {&labels_options, 0, NULL, 0},
                                             {&colour_options, 0, NULL, 0},
                                             {&options_common, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .parser = parse,
    .args_doc = "[SOURCE]",
    .doc =
        "Print one page about a run: what to look at first, where the time went, the longest waits and why, and what decided how long it took.",
    .children = children};

const struct command command_report = {
    .name = "report", .summary = "print one page: where the time went", .run = run, .argp = &argp};
