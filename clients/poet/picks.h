/* The lists of functions that libpoet will read (POET_PROFILE_EXCLUDE, POET_PROFILE_COUNT_ONLY,
 * POET_PROFILE_INCLUDE), checked before a program starts. */
#ifndef CLIENTS_POET_PICKS_H
#define CLIENTS_POET_PICKS_H

#include "clients/poet/command.h"

#include <stdbool.h>

/* False: everything wrong was said, with its file and line. */
bool function_lists_check(const struct command *command);

#endif
