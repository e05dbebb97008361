/* poet memory: what a program took from its heap and never gave back. */
#include "clients/poet/tables.h"

static int run(const struct command *command, int argc, char **argv)
{
    return tables_only(command, argc, argv, "memory");
}

static const struct argp argp = {
    .parser = tables_parse_only,
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
