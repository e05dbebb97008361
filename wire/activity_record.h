/* Activity record: what a thread did since its previous record. It is the first part of the payload
 * of a slot with SLOT_MEASURED.
 *
 * It has a head, followed by the steps that the thread executed. A step is a calling context
 * (wire/profile_region.h) and the call that ended last in it: Meira's basic block. A context before
 * its first call is step 2 * context; after a call of context c has ended, its caller executes step
 * 2 * c + 1, whose context is the parent of c. The last step in the record is the one that the
 * thread is still in: as long as no calls begin or end, later records need not repeat it. Without
 * any step, the activity of the thread since the previous record is unknown.
 *
 * Ticks are those of the queue's clock; in messages and files they are ns. */
#ifndef WIRE_ACTIVITY_RECORD_H
#define WIRE_ACTIVITY_RECORD_H

#include <assert.h>
#include <stdint.h>

#define ACTIVITY_CPU 1u /* cpu_ns is valid */
#define ACTIVITY_STEPS 2u /* steps are present */
#define ACTIVITY_CPU_ANEW 4u /* cpu_ns starts again at this record: earlier CPU time is unknown */
#define ACTIVITY_AT_ONCE 256u /* maximum steps of one record */
#define ACTIVITY_REST UINT32_MAX /* as a step: everything for which there was no space */

struct activity_record {
    uint32_t context; /* in which the record was made; 0: the thread itself */
    uint16_t what; /* bits ACTIVITY_CPU, ACTIVITY_STEPS, ACTIVITY_CPU_ANEW */
    uint16_t count; /* number of steps */
    uint64_t cpu_ns; /* CPU time of the thread, or task, since its start */
};
static_assert(sizeof(struct activity_record) == 16, "the head is 16 bytes");

struct code_segment {
    uint32_t step;
    /* how often it was entered; not counting a step that continues from the previous record */
    uint32_t calls;
    uint64_t ticks;
};
static_assert(sizeof(struct code_segment) == 16, "a step is 16 bytes");

#endif
