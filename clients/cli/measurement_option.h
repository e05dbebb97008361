/* The option --measure of poet record, and the function lists that libpoet will read
 * (POET_PROFILE_EXCLUDE, POET_PROFILE_COUNT_ONLY and POET_PROFILE_INCLUDE). */
#ifndef CLIENTS_CLI_MEASUREMENT_OPTION_H
#define CLIENTS_CLI_MEASUREMENT_OPTION_H

#include "clients/cli/command.h"

#include <stdbool.h>

/* Parses a list of words (config/measurement_spec.h), or a file: a word that contains / or ., or
 * names an existing file. *list receives such a list (NULL for NULL), and stays valid; lists of
 * functions become environment variables of this process (POET_PROFILE_EXCLUDE etc.), the name of a
 * file with metrics too (POET_METRICS). Returns false after reporting all errors. */
bool measurement_option_read(const struct command *command, const char *words, const char **list,
                             bool *memory);
/* Checks the function lists before a program starts. Returns false after reporting every error with
 * its file and line. */
bool measurement_option_check_lists(const struct command *command);

#endif
