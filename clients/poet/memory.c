/* poet memory: what a program took from its heap and never gave back. */
#include "clients/poet/tables.h"

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
    struct tables_section section = {.what = "memory"};
    return tables_command(&tables, argc, argv, first, &section, 1);
}

static const struct argp argp = {
    .parser = parse,
    .args_doc = "[SOURCE]",
    .doc =
        "Say what a program that was started with poet record -m memory took from its heap and "
        "never freed, by the place of the call and the thread (or --by thread, library); which "
        "blocks another thread freed; where free got NULL; what was freed twice.  Blocks that the "
        "C library and the loader keep for themselves are left out, but for --by library.",
    .children = tables_children};

const struct command command_memory = {.name = "memory",
                                       .summary =
                                           "say what was taken from the heap and never freed",
                                       .run = run,
                                       .argp = &argp};
