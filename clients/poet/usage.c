/* poet usage: what the operating system said of a run's processes and threads. */
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
    struct tables_section section = {.what = "usage"};
    return tables_command(&tables, argc, argv, first, &section, 1);
}

static const struct argp argp = {
    .parser = parse,
    .args_doc = "[SOURCE]",
    .doc = "Say what the operating system said of processes and threads while they ran: processor "
           "time, time that a thread could run and had no processor (ready), memory, page faults, "
           "what was read and written.  The server looks at programs on its own machine ten times "
           "a second, later more rarely; a program that ends says its last figures itself "
           "(getrusage): these are exact.",
    .children = tables_children};

const struct command command_resources = {
    .name = "usage",
    .summary = "say what the operating system said: processor time, memory, input and output",
    .run = run,
    .argp = &argp};
