/* poet usage: what the operating system said of a run's processes and threads. */
#include "clients/poet/tables.h"

static int usage_run(const struct command *command, int argc, char **argv)
{
    return table_output_only(command, argc, argv, "usage");
}

static const struct argp argp = {
    .parser = table_output_parse_only,
    .args_doc = "[SOURCE]",
    .doc = "Say what the operating system said of processes and threads while they ran: processor "
           "time, time that a thread could run and had no processor (ready), memory, page faults, "
           "what was read and written.  The server looks at programs on its own machine ten times "
           "a second, later more rarely; a program that ends says its last figures itself "
           "(getrusage): these are exact.",
    .children = tables_children};

const struct command command_resources = {.name = "usage",
                                          .summary =
                                              "show OS resource usage: CPU time, memory, I/O",
                                          .run = usage_run,
                                          .argp = &argp};
