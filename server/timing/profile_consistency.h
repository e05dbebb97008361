/* Consistency check of call profiles.  In every trace sums of one quantity that were measured in
 * different ways are equal, and parts do not exceed the whole; a violation means that something was
 * recorded or computed wrongly.
 *
 * Times are ns.  The clock of the hooks and that of the events are fitted to each other, so a
 * thread's lifetime and the times measured in it may differ by PROFILE_ACCOUNTS_SLACK_NS and a
 * thousandth. */
#ifndef SERVER_TIMING_PROFILE_CONSISTENCY_H
#define SERVER_TIMING_PROFILE_CONSISTENCY_H

#include "server/timing/call_profile.h"

enum account {
    PROFILE_ACCOUNT_ENDED, /* no more calls have ended than began */
    PROFILE_ACCOUNT_ARCS, /* the callers of a function called it as often as it was called */
    PROFILE_ACCOUNT_PATHS, /* the time of all paths is the time of all functions */
    PROFILE_ACCOUNT_SHARES, /* the time of a function is the sum over its callers */
    /* the self time of all functions of a thread is at most its lifetime */
    PROFILE_ACCOUNT_LIFE,
    /* the code segments of a record took at most the time since the previous record */
    PROFILE_ACCOUNT_STEPS,
    /* allocated blocks minus freed ones are the remaining ones */
    PROFILE_ACCOUNT_LIVE,
    PROFILE_ACCOUNTS
};

#define PROFILE_ACCOUNTS_SLACK_NS 1000000

typedef void accounts_tell(void *context, enum account broken, int64_t is, int64_t should);

const char *profile_account_name(enum account account);
/* Returns whether its values are counts, not times. */
bool profile_consistency_check_counts(enum account account);
/* Checks the contexts of one thread. all: those of the run. */
void profile_consistency_contexts(const struct call_contexts *all,
                                  const struct call_context_thread *thread, accounts_tell *tell,
                                  void *context);
/* Checks the profile of one or several threads. */
void profile_consistency_calls(const struct call_profile *calls, accounts_tell *tell,
                               void *context);
/* Checks the functions of a thread against its lifetime. */
void profile_consistency_life(const struct call_profile *calls, int64_t life_ns,
                              accounts_tell *tell, void *context);
/* Checks the code segments of a record that came passed_ns after the previous one. */
void profile_consistency_steps(int64_t sum_ns, int64_t passed_ns, accounts_tell *tell,
                               void *context);
void profile_consistency_live(uint64_t taken, uint64_t freed, uint64_t left, accounts_tell *tell,
                              void *context);

#endif
