/* Whether what was measured and explained keeps its own rules, in every trace: they follow from the
 * definitions, so where one is broken, something was recorded or computed wrongly.
 *
 * Computed in steps.  The intervals may grow meanwhile; what is looked at is what there was at the
 * begin. */
#ifndef SERVER_ANALYSIS_TIMING_CONSISTENCY_H
#define SERVER_ANALYSIS_TIMING_CONSISTENCY_H

#include "server/analysis/attribution.h"
#include "server/analysis/critical_path.h"

enum timing_rule {
    TIMING_RULE_COURSE, /* a thread's intervals come one after the other */
    TIMING_RULE_LIFE, /* its states fill its life (told by who knows lives: timing_violation_add) */
    TIMING_RULE_RELEASE, /* who waits is let go after it began to wait, and not after it went on */
    TIMING_RULE_ORDER, /* and in the order, too: the release is before the wait's end */
    TIMING_RULE_OVERLAP, /* what ran while it waited adds up to the wait */
    TIMING_RULE_REASONS, /* so do the reasons why it came so late */
    TIMING_RULE_CHARGES, /* and what is charged with it */
    TIMING_RULE_PATH, /* pieces of the critical path come one after the other, up to the last end */
    /* a task of a runtime is on one carrier at a time (told, as TIMING_RULE_LIFE) */
    TIMING_RULE_TASK,
    TIMING_RULE_CARRIER, /* one task is on a carrier at a time (likewise) */
    TIMING_RULE_RULES
};

struct violation {
    uint8_t rule; /* an enum timing_rule */
    uint32_t thread; /* line */
    uint64_t position; /* of an event, or NO_POSITION */
    int64_t is_ns, should_ns;
};

#define TIMING_VIOLATIONS_MAX 1000u /* breaches that are kept */

struct timing_consistency {
    const struct wait_attribution *why; /* of all.waits, as far as it goes; not owned */
    const struct intervals *all;
    struct violation *breaches;
    size_t count, room;
    uint64_t broken; /* kept or not */
    /* private */
    uint32_t thread;
    size_t interval, wait, waits;
    struct critical_path path;
    bool begun;
    struct attribution charges;
};

/* Zero-initialised `sound` becomes one of all that is known now. */
void timing_consistency_begin(struct timing_consistency *sound, const struct intervals *all,
                              const struct wait_attribution *why);
/* Goes on for about `budget` things; true when all was looked at.  The waits must have been
 * explained. */
bool timing_consistency_step(struct timing_consistency *sound, uint64_t budget);
void timing_violation_add(struct timing_consistency *sound, struct violation breach);
const char *timing_rule_name(unsigned rule); /* "wait causes do not sum to the wait time" */
void timing_consistency_free(struct timing_consistency *sound);

#endif
