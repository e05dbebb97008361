/* poet key: creates the pre-shared key for connections between hosts. */
#include "clients/cli/command.h"

#include "wire/network_key.h"

#include <limits.h>

static int key_run(const struct command *command, int argc, char **argv)
{
    char path[PATH_MAX];
    struct error error;
    int first, status = command_read(command, argc, argv, NULL, &first);
    if (status != OPTIONS_READ)
        return status;
    if (argc - first > 1)
        return command_usage(command, "extra operand: %s", argv[first + 1]);
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
        "Create the pre-shared key for TLS connections between hosts: 256 random bits in a file "
        "readable only by you.  Default FILE: $POET_KEY_FILE, else ~/.config/poet/key, where all "
        "commands look for it.  Copy it to each host (for example with scp), with mode 0600.  "
        "Every user that has the key can read and extend your runs.  An existing file is not "
        "overwritten.",
    .children = options_children};

const struct command command_key = {
    .name = "key",
    .summary = "create the shared key for remote connections",
    .run = key_run,
    .argp = &argp,
};
