/* poet key: makes the key that lets machines speak with each other. */
#include "clients/poet/command.h"

#include "wire/key.h"

#include <limits.h>

static int key_run(const struct command *command, int argc, char **argv)
{
    char path[PATH_MAX];
    struct error error;
    int first, status = command_read(command, argc, argv, NULL, &first);
    if (status != OPTIONS_READ)
        return status;
    if (argc - first > 1)
        return command_usage(command, "%s: one FILE is enough", argv[first + 1]);
    if (first == argc && !network_key_path(path, sizeof path, &error))
        return command_fail(command, "%s", error.text);
    const char *file = first < argc ? argv[first] : path;
    if (!network_key_make(file, &error))
        return command_fail(command, "%s", error.text);
    printf("%s\n", file);
    return EXIT_DONE;
}

static const struct argp argp = {
    .args_doc = "[FILE]",
    .doc =
        "Make the key that lets machines speak with each other: 256 random bits, in a file that only you "
        "can read.  Without FILE it is where all commands look for it: $POET_KEY_FILE, else "
        "~/.config/poet/key.  Copy that file to each machine, by scp for instance, with mode 0600; who has it "
        "can read and add to your runs.  A file that is there is not overwritten.",
    .children = options_children};

const struct command command_key = {.name = "key",
                                    .summary = "create the shared key for remote connections",
                                    .run = key_run,
                                    .argp = &argp};
