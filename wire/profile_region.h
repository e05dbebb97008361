/* Profile region of a thread: what it measures of itself, in memory that it shares with the server.
 *
 * A thread creates its region when a measurement is first requested of it (`wanted` in its queue's
 * head, wire/slot.h), seals it and passes it with the message REGION. From then on the thread
 * writes and the server reads without messages: each number is one aligned store, so the contents
 * are valid up to the store in progress, even if the thread was killed in the middle of it.
 * Untouched pages take no memory.
 *
 * Layout, in this order: the head, the open calls (frames), the call contexts, the cells of
 * metrics. All times are counted by the clock of the head. The server trusts nothing in it: indices
 * can be out of range, numbers can decrease, and all of it may change while it is read.
 *
 * A context is a function, its call site, and the calls that led to it: a node of the thread's
 * calling context tree (Ammons, Ball and Larus, Exploiting Hardware Performance Counters with Flow
 * and Context Sensitive Profiling, PLDI 1997). Context 0 is the thread itself. A context comes
 * after its parent; its number, its parent and its function never change.
 *
 * Recursion: a function that is called while it is open in the same path gets a context below its
 * caller like any other, but its own calls are counted below the outer context, where it `lands`.
 * Therefore the tree is no deeper than the number of functions. The real time of a call that lands
 * in itself is added only if no other such call of the same function was open, so the sum of the
 * real times of those that land in themselves counts no time twice. */
#ifndef WIRE_PROFILE_REGION_H
#define WIRE_PROFILE_REGION_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define REGION_MAGIC 0x47525450u /* "PTRG" */
#define REGION_VERSION 1u
#define REGION_HEAD_BYTES 4096u
/* libFuzzer: examining full-size tables takes too long */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define REGION_FRAMES 32u
#define REGION_CONTEXTS 64u
#else
#define REGION_FRAMES 16384u
#define REGION_CONTEXTS 131072u
#endif
#define REGION_CELLS 1024u

/* Measurements of a thread: bits of queue_head.wanted. */
#define WANTED_COUNTS 0x01u /* numbers of calls */
#define WANTED_REAL 0x02u /* real time of calls; implies COUNTS */
#define WANTED_CPU 0x04u /* CPU time of calls, without their callees; implies REAL */
#define WANTED_EVERY 0x08u /* begin and end of each call (wire/call_records.h); implies CPU */
#define WANTED_STATES 0x10u /* the CPU time at each event */
#define WANTED_MEMORY 0x20u /* allocations and frees */
#define WANTED_METERS 0x40u /* user-defined metrics */
#define WANTED_COUNTERS 0x200u /* counters of the processor; the server opens them */
#define WANTED_COUNTING 0x400u /* it has done so, or knows that there are none */
/* also calls of functions of libraries by measured code; from the start of the program on */
#define WANTED_LIBRARIES 0x800u
#define WANTED_CHOSEN 0x4000u /* the measurements were chosen: no thread waits for that any more */
#define WANTED_BROKEN 0x8000u /* the specification could not be read */
/* functions that are called very often, and briefly, are only counted from then on */
#define WANTED_THROTTLE 0x100u
/* samples per second of CPU time, in the upper half: the thread samples its stack instead of
 * measuring calls */
#define WANTED_SAMPLES(rate) ((uint32_t)(rate) << 16)
#define WANTED_RATE(wanted) ((uint32_t)(wanted) >> 16)
#define SAMPLES_MOST 10000u
#define WANTED_USAGE 0x80u /* getrusage(2) of the thread, and of its process, at their ends */

struct profile_region_head {
    uint32_t magic, version;
    uint32_t thread; /* code of the thread line, as in its queue */
    uint32_t clock; /* QUEUE_CLOCK_*: the unit of ticks */
    /* the overhead of measuring, in 256ths of a tick: within a call, and within its caller */
    uint32_t enter_256, exit_256;
    /* number of contexts, including context 0: 1 .. REGION_CONTEXTS */
    _Alignas(64) _Atomic uint32_t contexts;
    /* open frames, including the thread's own; above REGION_FRAMES, calls are only counted */
    _Atomic uint32_t depth;
    _Atomic uint64_t folded; /* calls without a context of their own, for lack of space */
    _Atomic uint64_t deep; /* calls without a frame: too many were open */
    _Atomic uint64_t mismatched; /* ends of calls that were not open */
    /* The last reading of the thread's CPU clock: its time, its value, and the total time that the
     * thread had not run by then. */
    _Atomic uint64_t looked_ticks, looked_cpu_ns, off_ticks;
    _Atomic uint32_t cells; /* 1 + the last cell in use; 0: none */
    /* an enum metric_kind for each cell that begins a metric, once it counts; else 0 */
    uint8_t kinds[REGION_CELLS];
    /* 1: the CPU clock is not read, though requested, since that is a system call */
    _Atomic uint32_t blind;
    uint64_t began; /* ticks; counting began then, so no time in it is longer; 0: unknown */
    /* Ticks when the thread ended its process, or executed another program; calls that are open end
     * then. 0: it has not. */
    _Atomic uint64_t gone;
    /* Samples per second of CPU time; 0: calls are measured. Then of each context `calls` is the
     * number of samples in it or in what it called, `concurrent` those in itself, `own` their CPU
     * time; `deep` is the number of stacks of which the outermost functions are not known. Calls
     * that wait are measured as ever. */
    uint32_t sampled;
};
static_assert(sizeof(struct profile_region_head) <= REGION_HEAD_BYTES, "the head fits its page");

/* An open call, the outermost first. The first frame is the thread itself; such a frame also lies
 * below calls that are on another stack, of a coroutine that the thread runs. */
struct profile_region_frame {
    _Atomic uint32_t context;
    uint32_t lands; /* of its context */
    _Atomic uint64_t began; /* ticks; 0: its time is not measured */
    uint64_t function;
    uint64_t stack; /* the stack pointer at its begin; for the thread itself ~0 */
    uint64_t ran; /* ticks for which the thread had run, when the call last began or resumed */
    _Atomic uint64_t own; /* ticks of its own running time by then */
};
static_assert(sizeof(struct profile_region_frame) == 48, "a frame is 48 bytes");

enum profile_scope {
    SCOPE_FUNCTION, /* `function` is an address in it */
    /* a scope named by the program: `function` is where its name is recorded, poet_scope */
    SCOPE_NAMED,
    SCOPE_WAITED, /* a recorded call: `function` is the code of its event type */
    /* The contexts below it count calls by function, on paths for which there was no space; it
     * counts those for which there was no such context either. */
    SCOPE_OTHER,
    /* calls of `function` that are counted, not timed: their times belong to their caller. `real`
     * is the start, monotonic clock, ns; 0: always */
    SCOPE_COUNTED,
    /* samples at an instruction, of which `function` is the address, of the function above it */
    SCOPE_POINT,
    /* an edge between two basic blocks, outside of the tree: `function` is an address in the block
     * that is reached, and `site` one in the block before it in the same activation of its
     * function, 0: there is none, since the function begins, or it is not known. `calls` is how
     * often it was taken, `concurrent` how often another activation was open then (of edges from
     * none), `own` the ticks in the block after it without calls that have edges, `real` those in
     * such calls. Both 0: `calls` is how often edges were taken that did not fit, and
     * `own` what BLOCK_COST_TIMES executions of the hook take, which is part of the time in
     * blocks; 0: that is not known. `function` BLOCK_NONE: how this was measured. */
    SCOPE_EDGE
};
#define BLOCK_COST_TIMES 1024u
#define BLOCK_NONE 1u

/* Added to the address of a function of a library that measured code calls: it is named by its
 * symbol and its library. */
#define FUNCTION_OF_LIBRARY (UINT64_C(1) << 63)

struct profile_region_context {
    uint32_t parent; /* less than its own number; of context 0: 0 */
    uint32_t child, sibling; /* used by the thread to find contexts */
    uint32_t lands; /* itself, or the outer context of the same function */
    uint64_t function;
    uint32_t scope; /* an enum profile_scope */
    uint32_t open; /* number of timed frames in it, or in any context with it as `first` */
    _Atomic uint64_t calls;
    _Atomic uint64_t concurrent; /* of these: began while other threads ran, too */
    /* ticks, of calls that have ended; least ~0: none */
    _Atomic uint64_t real, real_least, real_most;
    /* ticks that the thread ran in it, excluding its callees */
    _Atomic uint64_t own, own_least, own_most;
    _Atomic uint64_t ended; /* calls that have ended */
    _Atomic uint64_t off; /* ticks that the thread did not run while this was its innermost call */
    /* itself, or the first context of its function that lands in itself; the `open` of that counts
     * the frames of all of them */
    uint32_t first;
    uint32_t spare_32;
    uint64_t site; /* return address in its caller; 0: unknown */
};
static_assert(sizeof(struct profile_region_context) == 128, "a context is two cache lines");

/* A user-defined metric (wire/metric_messages.h), as counted by this thread. For a counter,
 * `least`, `most` and `last` are meaningless. A distribution takes METRIC_CELLS cells, and its
 * buckets begin in the rest of the first. */
struct profile_region_cell {
    _Atomic uint64_t count;
    _Atomic int64_t sum, least, most, last;
    _Atomic uint64_t rest[3];
};
static_assert(sizeof(struct profile_region_cell) == 64, "a cell is 64 bytes");

#define REGION_FRAMES_AT REGION_HEAD_BYTES
#define REGION_CONTEXTS_AT (REGION_FRAMES_AT + REGION_FRAMES * sizeof(struct profile_region_frame))
#define REGION_CELLS_AT                                                                            \
    (REGION_CONTEXTS_AT + REGION_CONTEXTS * sizeof(struct profile_region_context))
#define REGION_MAP_BYTES (REGION_CELLS_AT + REGION_CELLS * sizeof(struct profile_region_cell))

#endif
