/* poet states: how each thread spent its life. */
#include "clients/poet/colour.h"
#include "clients/poet/labels.h"
#include "clients/poet/tables.h"

struct wanted {
    struct tables tables;
    const char *preset;
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct wanted *w = state->input;
    (void)value;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &w->tables;
    return 0;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct wanted w = {.tables = {.command = command}, .preset = "states"};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    struct tables_section section = {.what = w.preset};
    return tables_command(&w.tables, argc, argv, first, &section, 1);
}

static const struct argp_child children[] = {{&tables_options, 0, NULL, 0},
                                             {&labels_options, 0, NULL, 0},
                                             {&colour_options, 0, NULL, 0},
                                             {&options_common, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .parser = parse,
    .args_doc = "[SOURCE]",
    .doc = "Say how each thread spent its life, as far as the order tells: made and not begun "
           "(start), let go and not going on yet (ready), running, blocked, ended and not gone yet "
           "(terminate).  The states of a life add up to it.  Running is all that no wait accounts "
           "for, an upper bound; of what the system did there is no source, so it is null.",
    .children = children};

const struct command command_states = {
    .name = "states", .summary = "say how each thread spent its life", .run = run, .argp = &argp};
