/* A program that is started again, and recorded into a file, as a trace says that it was run. */
#ifndef CLIENTS_CLI_RERUN_H
#define CLIENTS_CLI_RERUN_H

#include "clients/metadata/trace_metadata.h"
#include "clients/cli/command.h"
#include "clients/cli/preload_check.h"

struct rerun {
    const char *output; /* the new trace */
    bool libraries; /* calls of libraries are recorded, too */
    bool starts; /* it is not recorded itself: it starts those that are, as mpirun */
};

/* The words of the first program, of which the book owns all but the list (the caller's); NULL:
 * they are not known, or not whole.  By its path where it is not here as it was called then. */
char **rerun_arguments(const struct trace_metadata *book);
/* Says what the trace has to be run; false: it is another user's, and this one does not want
 * that. */
bool rerun_may_run(const struct command *command, const char *trace, char *const *words,
                   bool quiet);
/* The words with which it runs under `poet record`, as it was (the caller frees the list alone). */
char **rerun_recorded(const struct rerun *again, char **argv);
/* In the place of this process, which is a child; comes back with an exit status where that
 * failed. */
int rerun_start(const struct command *command, const struct rerun *again,
                const struct preload_check *loadable, char **argv);
/* A trace's name with another ending: "DIR/x.poet" gives "x.again.poet". */
void rerun_output_name(char *name, size_t size, const char *trace, const char *ending);

#endif
