/* The environment of a recorded program, for running it again. */
#ifndef CLIENTS_CLI_VARIABLES_H
#define CLIENTS_CLI_VARIABLES_H

#include "clients/metadata/trace_metadata.h"
#include "clients/cli/command.h"

#include <stdbool.h>

/* Sets the variables of this process whose values are recorded, and unsets those of the same
 * descriptions that were not set; prints which changed, unless quiet. */
void variables_restore(const struct command *command, const struct trace_metadata *book,
                       bool quiet);
/* Returns how the environment of this process differs from the recorded one: "A has another value;
 * B is not set", in new memory; NULL: no recorded variable differs. Variables that a shell or a
 * terminal changes by itself are ignored. */
char *variables_differ(const struct trace_metadata *book);

#endif
