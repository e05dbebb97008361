/* poet compare: where two runs of a program part. */
#include "clients/poet/both.h"
#include "clients/poet/output.h"

#include <errno.h>

#define EXIT_TROUBLE 2 /* as cmp and diff have it */

struct comparing {
    const char *picture;
    bool quiet;
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct comparing *c = state->input;
    switch (key) {
    case 'o':
        c->picture = value;
        if (output_can_hold(value))
            return 0;
        command_usage(&command_compare, "%s: the name must end in .pdf, .svg, .png or .txt", value);
        return EINVAL;
    case 'q':
        c->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int run(const struct command *command, int argc, char **argv)
{
    struct comparing c = {0};
    struct both both = {0};
    int first, status = command_read(command, argc, argv, &c, &first);
    if (status != OPTIONS_READ)
        return status;
    if (argc - first != 2)
        return command_usage(command, "two traces are needed");
    status = EXIT_TROUBLE;
    if (both_read(command, &both, argv[first], argv[first + 1])) {
        status = both_differ(&both) ? EXIT_FAILED : EXIT_DONE;
        if (!c.quiet)
            both_say(&both, stdout);
        if (c.picture && both_draw(command, &both, c.picture) != EXIT_DONE)
            status = EXIT_TROUBLE;
    }
    both_free(&both);
    return status;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0,
     "draw the place where they part, one above the other: .pdf, .svg, .png or .txt", 0},
    {"quiet", 'q', NULL, 0, "say nothing: the exit status tells", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACE OTHER",
    .doc =
        "Compare two runs of a program, as a run and its replay: which events are equal, and where the runs part.\vEqual are "
        "events that the same thread did as the same of its acts, on the same line at the same place, where all that is "
        "before them is equal, too; threads are matched by who made them.  Times are not compared.  The exit status is 0 if "
        "all is equal, 1 if not, 2 if they cannot be read.",
    .children = options_children};

const struct command command_compare = {.name = "compare",
                                        .summary = "two runs of a program: where they part",
                                        .run = run,
                                        .argp = &argp};
