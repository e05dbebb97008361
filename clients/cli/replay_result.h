/* The result of a replay, as text. */
#ifndef CLIENTS_CLI_REPLAY_RESULT_H
#define CLIENTS_CLI_REPLAY_RESULT_H

#include "clients/cli/replay.h"

struct replay_result {
    char *text; /* "divergence: T:work performed enter on M:a, recorded was ..." */
    bool good; /* everything was replayed, or the two events were swapped */
    bool left; /* the replay diverged, */
    struct event_id at; /* at this event of the trace; line 0: unknown */
    uint64_t more; /* events in addition to those of the trace */
};

/* done: number of events replayed; status: of the program, as from waitpid. */
void replay_result_make(struct replay_result *outcome, struct replay_run *replaying, uint64_t done,
                        int status);
void replay_result_free(struct replay_result *outcome);

#endif
