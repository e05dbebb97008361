/* What came of a repeated run, in words. */
#ifndef CLIENTS_POET_OUTCOME_H
#define CLIENTS_POET_OUTCOME_H

#include "clients/poet/replay.h"

struct outcome {
    char *text; /* "differs: T:work did enter of M:a, where ..." */
    bool good; /* all was repeated, or the two were flipped */
    bool left; /* the script was left: something differed, */
    struct ref at; /*   of the trace, where that is known; line 0: it is not */
    uint64_t more; /* records more than the trace has */
};

/* done: so many events were repeated; status: of the program, as of waitpid. */
void outcome_make(struct outcome *outcome, struct replaying *replaying, uint64_t done, int status);
void outcome_free(struct outcome *outcome);

#endif
