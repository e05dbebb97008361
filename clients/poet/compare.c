/* poet compare: where two runs of a program come apart. */
#include "clients/poet/apart.h"

#include <errno.h>

struct compare_options {
    const char *picture;
    bool quiet;
};

static error_t compare_parse_option(int key, char *value, struct argp_state *state)
{
    struct compare_options *c = state->input;
    switch (key) {
    case 'p':
        c->picture = value;
        return divergence_format_is_supported(&command_compare, value) ? 0 : EINVAL;
    case 'q':
        c->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int compare_run(const struct command *command, int argc, char **argv)
{
    struct compare_options c = {0};
    int first, status = command_read(command, argc, argv, &c, &first);
    if (status != OPTIONS_READ)
        return status;
    if (argc - first != 2)
        return command_usage(command, "two traces are needed");
    struct divergence apart = {.command = command,
                               .recorded = argv[first],
                               .again = argv[first + 1],
                               .words = {"first", "second"}};
    return divergence_compare(&apart, c.picture, c.quiet);
}

static const struct argp_option options[] = {
    {"picture", 'p', "FILE", 0,
     "draw the place where they part, the first above the second: .pdf, .svg, .png or .txt", 0},
    {"quiet", 'q', NULL, 0, "say nothing: the exit status tells", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = compare_parse_option,
    .args_doc = "TRACE OTHER",
    .doc =
        "Compare two runs of a program, as a run and its replay: which events are equal, and where the runs part.\vEqual are "
        "events that the same thread did as the same of its acts, on the same line at the same place, where all that is "
        "before them is equal, too; threads are matched by who made them.  Times are not compared.  The exit status is 0 if "
        "all is equal, 1 if not, 2 if they cannot be compared.",
    .children = options_children};

const struct command command_compare = {.name = "compare",
                                        .summary = "two runs of a program: where they part",
                                        .run = compare_run,
                                        .argp = &argp};
