/* poet usage: operating-system statistics of a run's processes and threads. */
#include "clients/cli/table_options.h"

static int usage_run(const struct command *command, int argc, char **argv)
{
    return table_output_only(command, argc, argv, "usage");
}

static const struct argp argp = {
    .parser = table_output_parse_only,
    .args_doc = "[SOURCE]",
    .doc = "Show OS metrics per process and thread: CPU time, run-queue wait (runnable), memory, "
           "page faults, I/O.  Local processes are sampled 10 times per second at first, later "
           "less often; final values come from getrusage() and are exact.",
    .children = tables_children};

const struct command command_resources = {.name = "usage",
                                          .summary =
                                              "show OS resource usage: CPU time, memory, I/O",
                                          .run = usage_run,
                                          .argp = &argp};
