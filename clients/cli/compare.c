/* poet compare: where two runs of a program diverge. */
#include "clients/cli/divergence_diagram.h"
#include "config/options.h"

#include <errno.h>

struct compare_options {
    const char *picture;
    bool quiet;
};

static const struct option_row compare_rows[] = {OPTION_SETS('q', struct compare_options, quiet),
                                                 {0}};

static error_t compare_parse_option(int key, char *value, struct argp_state *state)
{
    struct compare_options *c = state->input;
    switch (key) {
    case 'p':
        c->picture = value;
        return divergence_format_is_supported(&command_compare, value) ? 0 : EINVAL;
    default:
        return option_rows_parse(compare_rows, key, value, state);
    }
}

static int compare_run(const struct command *command, int argc, char **argv)
{
    struct compare_options c = {0};
    int first, status = command_read(command, argc, argv, &c, &first);
    if (status != OPTIONS_READ)
        return status;
    if (argc - first != 2)
        return command_usage(command, "expected two traces");
    struct divergence apart = {.command = command,
                               .recorded = argv[first],
                               .again = argv[first + 1],
                               .words = {"first", "second"}};
    return divergence_compare(&apart, c.picture, c.quiet);
}

static const struct argp_option options[] = {
    {"picture", 'p', "FILE", 0,
     "draw the first divergence, the first run above the second: .pdf, .svg, .png or .txt", 0},
    {"quiet", 'q', NULL, 0, "print nothing; set only the exit status", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = compare_parse_option,
    .args_doc = "TRACE OTHER",
    .doc = "Compare two runs of a program, such as a run and its replay, and show where they "
           "diverge.\vTwo events match if they are the same numbered action of the same thread, at "
           "the same position on the same line, and all events before them match.  Threads are "
           "matched by their creation.  Times are not compared.  Exit status: 0 if all compared "
           "events match, 1 if the runs diverge, 2 if they cannot be compared.",
    .children = options_children};

const struct command command_compare = {.name = "compare",
                                        .summary = "compare two runs and show where they diverge",
                                        .run = compare_run,
                                        .argp = &argp};
