/* The option --measure: what is to be measured of a program. */
#ifndef CLIENTS_CLI_MEASUREMENT_OPTION_H
#define CLIENTS_CLI_MEASUREMENT_OPTION_H

#include "clients/cli/command.h"

#include <stdbool.h>

/* Parses a list of words (config/measurement_spec.h), or a file: a word that contains / or ., or
 * names an existing file. *list receives such a list (NULL for NULL), and stays valid; lists of
 * functions become environment variables of this process (POET_PROFILE_EXCLUDE etc.). Returns false
 * after reporting all errors. */
bool measurement_option_read(const struct command *command, const char *words, const char **list,
                             bool *memory);

#endif
