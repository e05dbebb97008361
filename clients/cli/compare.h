/* poet compare: the divergence of two traces of one program: comparison, and a diagram of both. */
#ifndef CLIENTS_CLI_COMPARE_H
#define CLIENTS_CLI_COMPARE_H

#include "clients/cli/command_source.h"

#include <stdbool.h>

struct divergence {
    const struct command *command;
    /* the traces; both are opened again, even if they were read before */
    const char *recorded, *again;
    /* the event of the recorded run at the divergence, if known; line 0: it is searched */
    struct event_id named;
    const char *caption; /* NULL: no introduction */
    const char *words[2]; /* names of the two runs; NULL: recorded, again */
};

/* Returns whether the suffix of the file name is a supported format; if not, the error was
 * reported. */
bool divergence_format_is_supported(const struct command *command, const char *file);
/* Writes the diagram, or reports why there is none. Returns an exit status. */
int divergence_draw(const struct divergence *apart, const char *file);

#endif
