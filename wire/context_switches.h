/* Context switches of a program's threads, as reported by the kernel and stored in the journal
 * (SWITCHES).
 *
 * The body: u64 number lost; u64 time (CLOCK_MONOTONIC, ns); u32 count; then for each switch: a
 * varint, the thread's code; a varint, 4 times the ns since the previous switch, plus an enum
 * context_switch_to. Varints have seven bits per byte, the lowest first, with the eighth bit set in
 * all bytes but the last. Then a string: why there are no switches at all, or empty. Then a varint
 * for each switch: 1 + the CPU that the thread runs on from then, or ran on until then; 0: if
 * unknown. */
#ifndef WIRE_CONTEXT_SWITCHES_H
#define WIRE_CONTEXT_SWITCHES_H

#include "wire/message.h"

enum context_switch_to {
    CONTEXT_SWITCH_TO_RUN,
    CONTEXT_SWITCH_TO_READY, /* preempted */
    CONTEXT_SWITCH_TO_SLEEP, /* blocked or yielded */
    CONTEXT_SWITCH_TO_UNKNOWN /* its switches from here until the next one were lost */
};

struct context_switch_record {
    uint32_t thread; /* code of the thread line */
    uint64_t at_ns; /* CLOCK_MONOTONIC */
    uint8_t to; /* an enum context_switch_to */
};

#define CONTEXT_SWITCH_RECORD_BYTES 3u /* minimum size of one in a body */

#endif
