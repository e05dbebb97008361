/* What came of a repeated run, in words. */
#ifndef CLIENTS_CLI_REPLAY_RESULT_H
#define CLIENTS_CLI_REPLAY_RESULT_H

#include "clients/cli/replay.h"

struct replay_result {
    char *text; /* "divergence: T:work performed enter on M:a, recorded was ..." */
    bool good; /* all was replayed, or the two were swapped */
    bool left; /* the script was left: something differed, */
    struct event_id at; /*   of the trace, where that is known; line 0: it is not */
    uint64_t more; /* records more than the trace has */
};

/* done: so many events were repeated; status: of the program, as of waitpid. */
void replay_result_make(struct replay_result *outcome, struct replay_run *replaying, uint64_t done,
                        int status);
void replay_result_free(struct replay_result *outcome);

#endif
