/* Two traces of one program: where they come apart, as a picture of both. */
#ifndef CLIENTS_CLI_DIVERGENCE_DIAGRAM_H
#define CLIENTS_CLI_DIVERGENCE_DIAGRAM_H

#include "clients/cli/command_source.h"

#include <stdbool.h>

struct divergence {
    const struct command *command;
    const char *recorded,
        *again; /* the traces; both are opened, whatever became of who has read them before */
    /* what the recorded run has there, where that is known; line 0: it is looked for */
    struct event_id named;
    const char *caption; /* NULL: there is nothing to be said first */
    const char *words[2]; /* what the two are called; NULL: recorded, again */
};

/* Can the picture be written: by the ending of its name?  False: it is said why not. */
bool divergence_format_is_supported(const struct command *command, const char *file);
/* Writes it, or says why there is none.  An exit status. */
int divergence_draw(const struct divergence *apart, const char *file);
/* Says on standard output where they come apart, unless quiet, and writes the picture unless file
 * is NULL.  0: all is equal, 1: it is not, 2: they cannot be compared, or the picture cannot be
 * written. */
int divergence_compare(const struct divergence *apart, const char *file, bool quiet);

#endif
