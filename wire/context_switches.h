/* What the kernel said of a program's threads: who went on a processor, and off it; as the journal
 * has it (SWITCHES).
 *
 * The body: u64 how many were lost, u64 a time (CLOCK_MONOTONIC, ns), u32 how many there are; each
 * then: a number, which is the thread's code; a number, which is 4 times the ns since the one
 * before it, plus an enum context_switch_to.  Numbers are written seven bits at a time, the lowest
 * first, with the eighth bit set in all bytes but the last.  Then a string: why there are none at
 * all; empty.  Then, which older files do not have, for each of them a number: 1 + the processor
 * that it is on from then, or was on until then; 0 not known. */
#ifndef WIRE_CONTEXT_SWITCHES_H
#define WIRE_CONTEXT_SWITCHES_H

#include "wire/varint.h"

enum context_switch_to {
    CONTEXT_SWITCH_TO_RUN,
    CONTEXT_SWITCH_TO_READY, /* its processor was taken from it */
    CONTEXT_SWITCH_TO_SLEEP, /* it gave the processor up */
    CONTEXT_SWITCH_TO_UNKNOWN /* what it did from here on until it is told of next was lost */
};

struct context_switch_record {
    uint32_t thread; /* code of its own line */
    uint64_t at_ns; /* CLOCK_MONOTONIC */
    uint8_t to; /* an enum context_switch_to */
};

#define CONTEXT_SWITCH_RECORD_BYTES 2u /* at least, of one in a body */

#endif
