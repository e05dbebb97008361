/* Consistency check of measured times and of their attribution.  The rules follow from the
 * definitions and hold in every trace, so a violation means that something was recorded or computed
 * wrongly.
 *
 * Works in steps.  The intervals may grow meanwhile; those that existed at the begin are checked.
 */
#ifndef SERVER_ANALYSIS_TIMING_CONSISTENCY_H
#define SERVER_ANALYSIS_TIMING_CONSISTENCY_H

#include "server/analysis/critical_path.h"
#include "server/analysis/wait_attribution.h"

enum timing_rule {
    TIMING_RULE_COURSE, /* the intervals of a thread are in ascending order */
    /* the states of a thread fill its lifetime (reported by the caller: timing_violation_add()) */
    TIMING_RULE_LIFE,
    TIMING_RULE_RELEASE, /* a waiter is unblocked after it began to wait and before it resumed */
    TIMING_RULE_ORDER, /* the release happened before the wait's end */
    TIMING_RULE_OVERLAP, /* the overlap of a wait adds up to its length */
    TIMING_RULE_REASONS, /* so do its reasons */
    TIMING_RULE_CHARGES, /* and so do the times attributed to its causes */
    /* the pieces of the critical path are in ascending order and reach the last end */
    TIMING_RULE_PATH,
    /* a task runs on one worker thread at a time (reported by the caller) */
    TIMING_RULE_TASK,
    TIMING_RULE_CARRIER, /* a worker thread runs one task at a time (reported by the caller) */
    TIMING_RULE_RULES
};

struct violation {
    uint8_t rule; /* an enum timing_rule */
    uint32_t thread; /* line */
    uint64_t position; /* position of an event, or NO_POSITION */
    int64_t is_ns, should_ns;
};

#define TIMING_VIOLATIONS_MAX 1000u /* maximum number of violations kept */

struct timing_consistency {
    const struct wait_attribution *why; /* attribution of the waits known so far; not owned */
    const struct intervals *all;
    struct violation *breaches;
    size_t count, room;
    uint64_t broken; /* all violations, including those not kept */
    /* private */
    uint32_t thread;
    size_t interval, wait, waits;
    struct critical_path path;
    bool begun;
    struct attribution charges;
};

/* Begins a check of all that is known now; `sound` must be zero-initialized. */
void timing_consistency_begin(struct timing_consistency *sound, const struct intervals *all,
                              const struct wait_attribution *why);
/* Checks about `budget` items; returns true when all are checked.  The waits must be explained
 * already. */
bool timing_consistency_step(struct timing_consistency *sound, uint64_t budget);
void timing_violation_add(struct timing_consistency *sound, struct violation breach);
const char *timing_rule_name(unsigned rule); /* "wait causes do not sum to the wait time" */
void timing_consistency_free(struct timing_consistency *sound);

#endif
