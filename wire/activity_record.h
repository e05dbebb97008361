/* What a record tells of the time since its thread's record before: the first part of its payload,
 * with SLOT_MEASURED.
 *
 * It has a head, and then the steps that its thread ran since.  A step is a calling context
 * (wire/profile_region.h), and the call that ended last in it: Meira's basic block.  A context
 * before its first call is step 2 * context; where it goes on after a call of context c has ended,
 * it is step 2 * c + 1, whose context is the parent of c.  The last one told is the one in which
 * the thread still is: so long as no calls begin or end, records need not tell it again.  Without
 * any step nothing is known of what the thread does from the record before on.
 *
 * Ticks are those of the queue's clock; in messages and files ns. */
#ifndef WIRE_ACTIVITY_RECORD_H
#define WIRE_ACTIVITY_RECORD_H

#include <assert.h>
#include <stdint.h>

#define ACTIVITY_CPU 1u /* cpu_ns is told */
#define ACTIVITY_STEPS 2u /* so are steps */
#define ACTIVITY_CPU_ANEW                                                                          \
    4u /* which counts from this record on: how long it ran before is not known */
#define ACTIVITY_AT_ONCE 256u /* steps of one record */
#define ACTIVITY_REST UINT32_MAX /* as a step: in all that found no room */

struct activity_record {
    uint32_t context; /* of the record; 0: the thread itself */
    uint16_t what; /* MEASURED_ */
    uint16_t count; /* of steps */
    uint64_t cpu_ns; /* processor time of the thread, or task, since it began */
};
static_assert(sizeof(struct activity_record) == 16, "the head is 16 bytes");

struct code_segment {
    uint32_t step;
    uint32_t calls; /* how often it was come to; in the step of the record before it went on */
    uint64_t ticks;
};
static_assert(sizeof(struct code_segment) == 16, "a step is 16 bytes");

#endif
