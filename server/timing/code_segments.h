/* Steps: what a thread may have been doing between two of its events, as small numbers.
 *
 * Without calls a step is the code between two places, "from SITE to SITE" (Meira's basic block,
 * with the events of the order as its ends).  Places are codes of the run: one place of the code is
 * one number, in whatever process it ran. */
#ifndef SERVER_TIMING_CODE_SEGMENTS_H
#define SERVER_TIMING_CODE_SEGMENTS_H

#include "base/map.h"

#include <stdint.h>

enum code_segment_kind {
    STEP_CODE,    /* from one place to another */
    STEP_LATENCY, /* from the release of a wait at `from` until its thread went on */
    STEP_TIMEOUT,   /* a wait at `from` that only the clock could end */
    STEP_UNKNOWN, /* a wait at `from` that nothing recorded explains */
    STEP_CALLS,   /* within a path of calls: from, as a number of the run; 0: the thread itself */
    STEP_KINDS
};

#define STEPS_OF_LATE 256u

struct code_segment_key {
    uint32_t from,
        /* of calls: the path, and the one that ended last in it, 0 none; else places; 0: none is
         * known, or the thread's begin or end */
        to;
    uint8_t is; /* an enum code_segment_kind */
    uint8_t category; /* 0: of no particular one; else as the descriptions number them */
    /* of calls: their function, a number of the run that goes with `from`; 0: none is known */
    uint32_t scope;
};

/* Zero-initialised: there are none. */
struct code_segments {
    struct code_segment_key *items; /* by code - 1 */
    uint32_t count;
    size_t room;
    struct map codes, scopes;
    uint32_t *alike; /* by code - 1: the first step of the same scope; of no scope, itself */
    size_t alike_room;
    uint32_t of_late[STEPS_OF_LATE]; /* by a hash: codes that were asked for */
};

/* Where it begins, or 0: of calls that is not told. */
static inline uint32_t code_segment_place(struct code_segment_key step)
{
    return step.is == STEP_CALLS ? 0 : step.from;
}

/* The code of a step, made on first use, from 1. */
uint32_t code_segments_code(struct code_segments *steps, struct code_segment_key step);
struct code_segment_key code_segments_at(const struct code_segments *steps, uint32_t code);
/* One number for all steps of one scope: the code of one of them. */
static inline uint32_t code_segments_scope(const struct code_segments *steps, uint32_t code)
{
    return steps->alike[code - 1];
}
void code_segments_free(struct code_segments *steps); /* empties it */

#endif
