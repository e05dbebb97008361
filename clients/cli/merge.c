/* poet merge: orders the journals of agents on several hosts as one run, by a private server. */
#include "clients/cli/command.h"

#include "clients/connection/install_paths.h"
#include "base/alloc.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static error_t merge_parse_option(int key, char *value, struct argp_state *state)
{
    const char **output = state->input;
    if (key != 'o')
        return ARGP_ERR_UNKNOWN;
    *output = value;
    return 0;
}

static int merge_run(const struct command *command, int argc, char **argv)
{
    const char *output = NULL;
    char path[PATH_MAX];
    int first, status = command_read(command, argc, argv, &output, &first);
    if (status != OPTIONS_READ)
        return status;
    if (first == argc || !output)
        return command_usage(command, "missing operand: FILE... -o ALL.poet");
    if (!install_path_program("poet-server", path, sizeof path))
        return command_fail(command, "poet-server is not installed");
    const char **arguments = xcalloc((size_t)(argc - first) + 6, sizeof *arguments);
    size_t n = 0;
    arguments[n++] = "poet-server";
    arguments[n++] = "--merge";
    arguments[n++] = "-o";
    arguments[n++] = output;
    arguments[n++] = "--";
    for (int i = first; i < argc; i++)
        arguments[n++] = argv[i];
    execv(path, (char **)(uintptr_t)arguments);
    free(arguments);
    return command_fail(command, "%s: %s", path, strerror(errno));
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "write the run to FILE; an existing trace is overwritten", 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = merge_parse_option,
    .args_doc = "FILE... -o ALL.poet",
    .doc = "Merge agent journals (poet server --to) offline into one run, as if the agents had "
           "forwarded them to a server.  Runs ordered by a server can be merged only if they are "
           "short: in longer ones the server has overwritten parts of the journal.",
    .children = options_children};

const struct command command_merge = {.name = "merge",
                                      .summary = "merge agent journals from several hosts "
                                                 "into one trace",
                                      .run = merge_run,
                                      .argp = &argp};
