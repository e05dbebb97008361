/* What is to be measured of a program, as --measure says it. */
#ifndef CLIENTS_CLI_MEASUREMENT_OPTION_H
#define CLIENTS_CLI_MEASUREMENT_OPTION_H

#include "clients/cli/command.h"

#include <stdbool.h>

/* A list of words (config/measurement_spec.h), or a file: a word with a / or a . in it, or one that
 * is there.  *list is then such a list, NULL of NULL, and stays; lists of functions become
 * variables (POET_PROFILE_EXCLUDE and so on) of this process.  False: everything wrong was said. */
bool measurement_option_read(const struct command *command, const char *words, const char **list,
                             bool *memory);

#endif
