/* Running a program again under `poet record`, as a trace says that it was run: its arguments,
 * and its environment. */
#ifndef CLIENTS_CLI_RERUN_H
#define CLIENTS_CLI_RERUN_H

#include "clients/cli/command.h"
#include "clients/cli/preload.h"
#include "clients/metadata/trace_metadata.h"

#include <stdbool.h>

/* ---- its environment ---- */

/* Sets the variables of this process to their recorded values, if any, and unsets those of the same
 * descriptions that were not set; prints which changed, unless quiet. */
void variables_restore(const struct command *command, const struct trace_metadata *book,
                       bool quiet);
/* Returns how the environment of this process differs from the recorded one: "A has another value;
 * B is not set", in new memory; NULL: no recorded variable differs. Variables that a shell or a
 * terminal changes by itself are ignored. */
char *variables_differ(const struct trace_metadata *book);

/* ---- the program ---- */

struct rerun {
    const char *output; /* the new trace */
    bool libraries; /* record calls in libraries, too */
    bool starts; /* it is not recorded itself, but starts the programs that are, like mpirun */
};

/* Returns the arguments of the first program, owned by the metadata except the list (the caller's);
 * NULL if they are unknown or incomplete. Uses its path if its name at that time is not found
 * here. */
char **rerun_arguments(const struct trace_metadata *book);
/* Prints the command of the trace; returns false if the trace belongs to another user, and this
 * user declines. */
bool rerun_may_run(const struct command *command, const char *trace, char *const *words,
                   bool quiet);
/* Returns the arguments for running it under `poet record` as before (the caller frees only the
 * list). */
char **rerun_recorded(const struct rerun *again, char **argv);
/* Replaces this process, which is a child; returns an exit status on failure. */
int rerun_start(const struct command *command, const struct rerun *again,
                const struct preload_check *loadable, char **argv);
/* Makes a trace name with another ending: "DIR/x.poet" gives "x.again.poet". */
void rerun_output_name(char *name, size_t size, const char *trace, const char *ending);

#endif
