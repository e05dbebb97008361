/* Whether what threads measured of their calls adds up, in every trace: sums of one thing that were taken in different ways
 * are equal, and parts are no more than the whole.  Where that is broken, something was recorded or computed wrongly.
 *
 * Times are ns; those of the hooks' clock and those of events are fitted to one another, so that a life and what was
 * measured in it may differ by ACCOUNTS_SLACK_NS and a thousandth. */
#ifndef SERVER_MEASURE_ACCOUNTS_H
#define SERVER_MEASURE_ACCOUNTS_H

#include "server/measure/calls.h"

enum account {
    ACCOUNT_ENDED, /* no more calls have ended than began */
    ACCOUNT_ARCS, /* who called a function called it as often as it was called */
    ACCOUNT_PATHS, /* what all paths took is what all functions took */
    ACCOUNT_SHARES, /* what a function took is what it took by all who called it */
    ACCOUNT_LIFE, /* what all functions of a thread took themselves is no more than its life */
    ACCOUNT_STEPS, /* the steps of a record took no longer than the time since the record before */
    ACCOUNT_LIVE, /* blocks that were taken, less those that were given back, are those that are left */
    ACCOUNTS
};

#define ACCOUNTS_SLACK_NS 1000000

typedef void accounts_tell(void *context, enum account broken, int64_t is, int64_t should);

const char *accounts_word(enum account account);
bool accounts_counts(enum account account); /* its figures are no times */
/* Of one thread's contexts; all: of the run. */
void accounts_contexts(const struct contexts *all, const struct context_thread *thread,
                       accounts_tell *tell, void *context);
/* Of what was made of them, one or several. */
void accounts_calls(const struct calls *calls, accounts_tell *tell, void *context);
/* What a thread's functions took in a life of so long. */
void accounts_life(const struct calls *calls, int64_t life_ns, accounts_tell *tell, void *context);
/* Steps of a record that came so long after the one before. */
void accounts_steps(int64_t sum_ns, int64_t passed_ns, accounts_tell *tell, void *context);
void accounts_live(uint64_t taken, uint64_t freed, uint64_t left, accounts_tell *tell,
                   void *context);

#endif
