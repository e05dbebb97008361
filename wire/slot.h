/* Slots: the encoding of events, both in a shared queue and in a SLOTS message.
 *
 * A slot has 64 bytes. It is a record (one event, or several under a compound shape) or, with shape
 * 0, a control: a message body of the type in `flags`. `payload_bytes` bytes follow in the next
 * slots, padded to whole slots.
 *
 * The slots of one thread are in that thread's order: the server puts every event after the
 * thread's previous one.
 *
 * Lines, types and shapes are session-local codes that LINE, TYPE and SHAPE declare. A slot may
 * arrive before another thread's declaration of its line: the server keeps it until then. */
#ifndef WIRE_SLOT_H
#define WIRE_SLOT_H

#include "wire/event_types.h"
#include "wire/limits.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOT_BYTES 64u
#define SHAPE_COMPOUND 0x8000u /* from here on a shape is compound; below, it is a type */
#define SHAPE_CONTROL 0u

/* flags of a record; the low bits are an enum relation */
#define SLOT_RELATION 0x0007u
/* the payload begins, after an activity record, with a struct slot_stack */
#define SLOT_STACK 0x0008u
#define SLOT_KEYED 0x0010u    /* partner by key: (key, number_b); a GROUP is always keyed */
#define SLOT_CLOSES 0x0020u   /* line_a ends with this record's last event on it */
#define SLOT_TEXT 0x0040u     /* the payload is a text for the last event on line_a */
/* the payload is more partners: {u32 line, u32 0, u64 number}; for a KEYED receive, line is 0 and
 * number is the second half of another key */
#define SLOT_PARTNERS 0x0080u
#define SLOT_SENDS 0x0100u    /* a RECEIVE that is itself received by others */
/* KEYED: key is a stream, number_b an offset in it (or STREAM_CLOSINGS), count the number of
 * bytes */
#define SLOT_STREAM 0x0200u
/* the payload begins with an activity record */
#define SLOT_MEASURED 0x0400u
/* neither KEYED nor a GROUP: count is the context (wire/profile_region.h) */
#define SLOT_CONTEXT 0x0800u
/* An enum untraced_reason: the reason why the events of this record may have more predecessors than
 * are recorded; 0: none. */
#define SLOT_DOUBT_SHIFT 12
#define SLOT_DOUBT(reason) ((uint16_t)((reason) << SLOT_DOUBT_SHIFT))
#define SLOT_DOUBT_OF(flags) ((unsigned)(flags) >> SLOT_DOUBT_SHIFT)

struct ring_slot {
    uint16_t shape;
    uint16_t flags;
    uint32_t payload_bytes;
    uint64_t time_ns; /* the program's monotonic clock */
    uint64_t site; /* address of the call, 0: none */
    uint32_t line_a; /* line of the (first) event */
    uint32_t line_b; /* line of the partner, or of the other side of a compound; 0: none */
    uint64_t number_a;
    uint64_t number_b;
    uint32_t about; /* line that the single events are about, 0: none */
    uint32_t count; /* members of a GROUP */
    uint64_t key;
};
static_assert(sizeof(struct ring_slot) == SLOT_BYTES, "a slot is 64 bytes");

/* One step of a compound shape. With both types: a sync pair. With one: an event of that side,
 * which is about the slot's `about`, or the line of the other side. */
#define STEP_ABOUT_B 1u
#define STEP_ABOUT_A 2u
struct shape_step {
    uint16_t type_a, type_b;
    uint32_t flags;
};

/* Returns whether `count` is a context; otherwise it has another meaning. */
static inline bool slot_has_context(const struct ring_slot *slot)
{
    return slot->flags & SLOT_CONTEXT && !(slot->flags & SLOT_KEYED) &&
           (slot->shape >= SHAPE_COMPOUND || (slot->flags & SLOT_RELATION) != RELATION_GROUP);
}

static inline uint64_t slot_follow(uint32_t payload_bytes)
{
    return ((uint64_t)payload_bytes + SLOT_BYTES - 1) / SLOT_BYTES;
}

/* Returns the number of slots of the first record, including its payload; 0 if there is none, or if
 * it claims a payload that is longer than allowed or extends beyond `count` slots. All code that
 * walks over untrusted slots uses only this. */
static inline size_t slot_next_record(const struct ring_slot *slots, size_t count)
{
    uint64_t size = count ? 1 + slot_follow(slots->payload_bytes) : 0;
    return size <= count && size && slots->payload_bytes <= LIMIT_PAYLOAD_BYTES ? (size_t)size : 0;
}

/* ---- activity records ---- */

/* An activity record is what a thread did since its previous record. It is the first part of the
 * payload of a slot with SLOT_MEASURED.
 *
 * It has a head, followed by the steps that the thread executed. A step is a calling context
 * (wire/profile_region.h) and the call that ended last in it: Meira's basic block. A context before
 * its first call is step 2 * context; after a call of context c has ended, its caller executes step
 * 2 * c + 1, which has the parent of c as context. The last step in the record is the one that the
 * thread is still in: as long as no calls begin or end, later records need not repeat it. Without
 * any step, the activity of the thread since the previous record is unknown.
 *
 * Ticks are those of the queue's clock; in messages and files they are ns. */
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

/* Returns the size of the activity record in its payload; SIZE_MAX if it is invalid. */
static inline size_t activity_record_bytes(const struct ring_slot *slot)
{
    const struct activity_record *head = (const void *)(slot + 1);
    if (!(slot->flags & SLOT_MEASURED) || slot->shape == SHAPE_CONTROL)
        return 0;
    if (slot->payload_bytes < sizeof *head || head->count > ACTIVITY_AT_ONCE)
        return SIZE_MAX;
    size_t bytes = sizeof *head + head->count * sizeof(struct code_segment);
    return bytes <= slot->payload_bytes ? bytes : SIZE_MAX;
}

/* ---- call stacks ---- */

/* The calls that led to the call in which a record was made, which `site` is in. */
#define STACK_CALLERS 7u

/* Reasons why a call stack ends above the last caller. */
enum stack_end {
    STACK_WHOLE, /* nothing: the thread began there */
    STACK_CUT, /* more callers */
    STACK_UNKNOWN, /* there are no unwind tables */
    STACK_ENDS
};

struct slot_stack {
    uint64_t callers[STACK_CALLERS]; /* addresses within calls, the innermost first */
    uint32_t count;
    uint32_t end; /* an enum stack_end */
};
static_assert(sizeof(struct slot_stack) == SLOT_BYTES, "a call stack is as large as a slot");

/* Returns the call stack in a record's payload; NULL: it has none, or its activity record is
 * invalid. */
static inline const struct slot_stack *slot_stack_of(const struct ring_slot *slot)
{
    size_t before = activity_record_bytes(slot);
    bool has = slot->flags & SLOT_STACK && slot->shape != SHAPE_CONTROL && before != SIZE_MAX &&
               slot->payload_bytes - before >= sizeof(struct slot_stack);
    return has ? (const void *)((const char *)(slot + 1) + before) : NULL;
}

/* Returns the number of bytes before the texts and partners in a record's payload; SIZE_MAX if what
 * is there is invalid. */
static inline size_t slot_prefix_bytes(const struct ring_slot *slot)
{
    size_t before = activity_record_bytes(slot);
    if (before == SIZE_MAX || !(slot->flags & SLOT_STACK) || slot->shape == SHAPE_CONTROL)
        return before;
    const struct slot_stack *stack = slot_stack_of(slot);
    bool valid = stack && stack->count <= STACK_CALLERS && stack->end < STACK_ENDS;
    return valid ? before + sizeof *stack : SIZE_MAX;
}

/* ---- queues ---- */

/* The shared queue of one thread: a page with this head, then `slots` slots. One producer, one
 * reader. The producer writes slots and then stores head with release; the reader reads up to head
 * and stores tail. Both count slots without wrapping; index = count & (slots - 1). The server
 * trusts nothing in it. */
#define QUEUE_MAGIC 0x51544f50u /* "POTQ" */
#define QUEUE_HEAD_BYTES 4096u
#define QUEUE_DONE 1u /* the thread has ended */
#define QUEUE_CONTINUED 2u /* another queue follows this one; its message may arrive later */
#define QUEUE_CLOCK_NS 0u /* nanoseconds of the monotonic clock */
#define QUEUE_CLOCK_TICKS 1u /* the time-stamp counter; the reader, on the same host, converts */

#define QUEUE_FUTEX_BYTES 64u /* size of an object that contains a futex, at most */
struct queue_head {
    uint32_t magic, version, slots, thread;
    uint32_t clock; /* unit of time_ns */
    uint32_t follows; /* 1: follows another queue of the thread, with contents that come first */
    _Alignas(64) _Atomic uint64_t head;
    _Atomic uint32_t done; /* QUEUE_DONE, QUEUE_CONTINUED: nothing follows head */
    _Atomic uint64_t waited_ns; /* how long the thread had to wait */
    _Atomic uint64_t dropped; /* events that did not fit */
    _Atomic uint32_t waiting; /* the thread waits on `moved` (futex(2)) */
    _Atomic uint64_t unfollowed; /* synchronizing calls that were observed but cannot be traced */
    _Alignas(64) _Atomic uint64_t tail;
    _Atomic uint32_t asleep; /* the reader wants a WAKE when the queue is half full */
    _Atomic uint32_t moved; /* counts how often tail was stored */
    /* WANTED_ bits (wire/profile_region.h); initially what the thread begins with */
    _Atomic uint32_t wanted;
    uint32_t tid; /* TID of the thread, as the program sees it; 0: unknown */
    _Atomic uint32_t no_room; /* 1: the reader currently has no space for its contents */
    /* The futex at which the thread waits by syscall(2), or the object that contains it, 0 none;
     * the call in the program; an address in the outermost function of the library that it is in, 0
     * none; and the once flag of the future that it waits for, which is that of the thread that
     * sets the value, 0 none */
    _Atomic uint64_t futex_word, futex_site, futex_library, futex_once;
};
static_assert(sizeof(struct queue_head) <= QUEUE_HEAD_BYTES, "the head fits its page");

#endif
