/* Whether what threads measured of their calls adds up, in every trace: sums of one thing that were
 * taken in different ways are equal, and parts are no more than the whole.  Where that is broken,
 * something was recorded or computed wrongly.
 *
 * Times are ns; those of the hooks' clock and those of events are fitted to one another, so that a
 * life and what was measured in it may differ by PROFILE_ACCOUNTS_SLACK_NS and a thousandth. */
#ifndef SERVER_TIMING_PROFILE_CONSISTENCY_H
#define SERVER_TIMING_PROFILE_CONSISTENCY_H

#include "server/timing/call_profile.h"

enum account {
    PROFILE_ACCOUNT_ENDED, /* no more calls have ended than began */
    PROFILE_ACCOUNT_ARCS, /* who called a function called it as often as it was called */
    PROFILE_ACCOUNT_PATHS, /* what all paths took is what all functions took */
    PROFILE_ACCOUNT_SHARES, /* what a function took is what it took by all who called it */
    /* what all functions of a thread took themselves is no more than its life */
    PROFILE_ACCOUNT_LIFE,
    /* the steps of a record took no longer than the time since the record before */
    PROFILE_ACCOUNT_STEPS,
    /* blocks that were taken, less those that were given back, are those that are left */
    PROFILE_ACCOUNT_LIVE,
    PROFILE_ACCOUNTS
};

#define PROFILE_ACCOUNTS_SLACK_NS 1000000

typedef void accounts_tell(void *context, enum account broken, int64_t is, int64_t should);

const char *profile_account_name(enum account account);
bool profile_consistency_check_counts(enum account account); /* its figures are no times */
/* Of one thread's contexts; all: of the run. */
void profile_consistency_contexts(const struct call_contexts *all,
                                  const struct call_context_thread *thread, accounts_tell *tell,
                                  void *context);
/* Of what was made of them, one or several. */
void profile_consistency_calls(const struct call_profile *calls, accounts_tell *tell,
                               void *context);
/* What a thread's functions took in a life of so long. */
void profile_consistency_life(const struct call_profile *calls, int64_t life_ns,
                              accounts_tell *tell, void *context);
/* Steps of a record that came so long after the one before. */
void profile_consistency_steps(int64_t sum_ns, int64_t passed_ns, accounts_tell *tell,
                               void *context);
void profile_consistency_live(uint64_t taken, uint64_t freed, uint64_t left, accounts_tell *tell,
                              void *context);

#endif
