/* Code segments: what a thread may have executed between two of its events, numbered.
 *
 * Without recorded calls a code segment is the code between two call sites, "from SITE to SITE"
 * (Meira's basic block, delimited by the events of the order).  Places are codes of the run: one
 * call site is one number in all processes. */
#ifndef SERVER_TIMING_CODE_SEGMENTS_H
#define SERVER_TIMING_CODE_SEGMENTS_H

#include "base/map.h"

#include <stdint.h>

enum code_segment_kind {
    STEP_CODE,    /* code from one place to another */
    STEP_LATENCY, /* wake-up latency of a wait at `from` */
    STEP_TIMEOUT,   /* timeout of a wait at `from` */
    STEP_UNKNOWN, /* unattributed wait at `from` */
    STEP_CALLS,   /* in a path of calls: `from` is its number in the run; 0: the thread itself */
    STEP_KINDS
};

#define STEPS_OF_LATE 256u

struct code_segment_key {
    /* For calls they are the path, and the last call that ended in it (0: none), else places; 0 is
     * unknown, or the thread's begin or end. */
    uint32_t from, to;
    uint8_t is; /* an enum code_segment_kind */
    uint8_t category; /* 0: none; else the number of a category of the target descriptions */
    /* for calls: their function, a number of the run that belongs to `from`; 0: unknown */
    uint32_t scope;
};

/* A zero-initialized struct is empty. */
struct code_segments {
    struct code_segment_key *items; /* by code - 1 */
    uint32_t count;
    size_t room;
    struct map codes, scopes;
    /* by code - 1: the first code segment of the same scope; without a scope the segment itself */
    uint32_t *alike;
    size_t alike_room;
    uint32_t of_late[STEPS_OF_LATE]; /* by hash: recently requested codes */
};

/* Returns the place where a segment begins, or 0 for calls. */
static inline uint32_t code_segment_place(struct code_segment_key step)
{
    return step.is == STEP_CALLS ? 0 : step.from;
}

/* Returns the code of a code segment, assigned on first use, from 1. */
uint32_t code_segments_code(struct code_segments *steps, struct code_segment_key step);
struct code_segment_key code_segments_at(const struct code_segments *steps, uint32_t code);
/* Returns one number for all code segments of one scope: the code of one of them. */
static inline uint32_t code_segments_scope(const struct code_segments *steps, uint32_t code)
{
    return steps->alike[code - 1];
}
void code_segments_free(struct code_segments *steps); /* frees the memory; it is empty then */

#endif
