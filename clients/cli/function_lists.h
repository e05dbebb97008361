/* Checks of the function lists that libpoet will read (POET_PROFILE_EXCLUDE,
 * POET_PROFILE_COUNT_ONLY, POET_PROFILE_INCLUDE), before a program starts. */
#ifndef CLIENTS_CLI_FUNCTION_LISTS_H
#define CLIENTS_CLI_FUNCTION_LISTS_H

#include "clients/cli/command.h"

#include <stdbool.h>

/* Returns false after reporting every error with its file and line. */
bool function_lists_check(const struct command *command);

#endif
