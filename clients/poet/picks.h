/* The lists of functions that libpoet will read (POET_CALLS_IGNORE, POET_CALLS_COUNT,
 * POET_CALLS_ONLY), checked before a program starts. */
#ifndef CLIENTS_POET_PICKS_H
#define CLIENTS_POET_PICKS_H

#include "clients/poet/command.h"

#include <stdbool.h>

/* False: everything wrong was said, with its file and line. */
bool function_lists_check(const struct command *command);

#endif
