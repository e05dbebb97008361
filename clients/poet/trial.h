/* One run of a program that is tried: it goes until it ends, hangs for certain, or has had its time. */
#ifndef CLIENTS_POET_TRIAL_H
#define CLIENTS_POET_TRIAL_H

#include "clients/poet/again.h"
#include "clients/poet/aim.h"

#include <stdbool.h>

struct trial {
    const struct command *command;
    const struct loadable *loadable;
    char **words;
    struct again again;
    unsigned patience_s; /* so long at most */
    const struct aim *aim; /* which hang it is to come to */
};

struct trial_end {
    int status; /* as waitpid says */
    bool hangs; /* for certain: a cycle, or who waits can never be woken, */
    bool otherwise; /* but it is not the hang that is wanted */
    bool slow; /* it was ended because its time was over */
    char *output, *errors; /* what it wrote */
    size_t output_bytes, error_bytes;
};

/* False: it could not be started, said why, with an exit status in end->status. */
bool trial_run(const struct trial *trial, struct trial_end *end);
void trial_end_free(struct trial_end *end); /* what it wrote */

#endif
