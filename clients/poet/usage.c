/* poet usage: what the operating system said of a run's processes and threads. */
#include "clients/poet/tables.h"

static int run(const struct command *command, int argc, char **argv)
{
    return tables_only(command, argc, argv, "usage");
}

static const struct argp argp = {
    .parser = tables_parse_only,
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
