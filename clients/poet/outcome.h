/* What came of a repeated run, in words. */
#ifndef CLIENTS_POET_OUTCOME_H
#define CLIENTS_POET_OUTCOME_H

#include "clients/poet/replay.h"

struct replay_result {
    char *text; /* "differs: T:work did enter of M:a, where ..." */
    bool good; /* all was repeated, or the two were flipped */
    bool left; /* the script was left: something differed, */
    struct event_id at; /*   of the trace, where that is known; line 0: it is not */
    uint64_t more; /* records more than the trace has */
};

/* done: so many events were repeated; status: of the program, as of waitpid. */
void replay_result_make(struct replay_result *outcome, struct replay_run *replaying, uint64_t done,
                        int status);
void replay_result_free(struct replay_result *outcome);

#endif
