/* The region of a thread: what it measures of itself, in memory that it shares with the server.
 *
 * A thread makes its region when something is first wanted of it (`wanted` in its queue's head,
 * wire/slot.h) and hands it over sealed, with the message REGION.  From then on it writes and the
 * server reads, with nothing between them: each number is one aligned store, so what lies there is
 * right up to the store that is under way, also when the thread was killed in the middle of it.
 * Untouched pages take no memory.
 *
 * What is in it, one behind the other: the head, the open calls (frames), the calling contexts, the
 * cells of meters.  All times are counted by the clock of the head.  Nothing in it is trusted:
 * indices may be wild, numbers may run back, and all of it may change while it is read.
 *
 * A context is a function, the place that it was called from, and the calls that led to it: a node
 * of the thread's calling context tree (Ammons, Ball and Larus, Exploiting Hardware Performance
 * Counters with Flow and Context Sensitive Profiling, PLDI 1997).  Context 0 is the thread itself.
 * A context comes after its parent and keeps its number, its parent and its function for ever.
 *
 * Recursion: a function that is called while it is open in the same path gets a context below its
 * caller like any other, but what it calls in turn is counted below the outer one, where it
 * `lands`.  So the tree is no deeper than the program has functions.  The real time of a call that
 * lands in itself is added where no other such call of the same function was open: so the sum of
 * the real times of those that land in themselves is never double.
 */
#ifndef WIRE_PROFILE_REGION_H
#define WIRE_PROFILE_REGION_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define REGION_MAGIC 0x47525450u /* "PTRG" */
#define REGION_VERSION 2u
#define REGION_OLDEST 1u /* that can be read: there, every site is 0 */
#define REGION_HEAD_BYTES 4096u
/* libFuzzer's word: to look at all of them takes long */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define REGION_FRAMES 32u
#define REGION_CONTEXTS 64u
#else
#define REGION_FRAMES 16384u
#define REGION_CONTEXTS 131072u
#endif
#define REGION_CELLS 1024u

/* What is wanted of a thread: bits of queue_head.wanted. */
#define WANTED_COUNTS 0x01u /* calls, counted */
#define WANTED_REAL 0x02u /* and their real time; implies COUNTS */
#define WANTED_CPU 0x04u /* and the processor time that they took themselves; implies REAL */
#define WANTED_EVERY 0x08u /* and when each began and ended; implies CPU */
#define WANTED_STATES 0x10u /* its processor time at its events */
#define WANTED_MEMORY 0x20u /* what it takes and gives back */
#define WANTED_METERS 0x40u /* meters of the program's own */
#define WANTED_CHOSEN                                                                              \
    0x4000u /* somebody chose what is wanted: who waits for that waits no longer */
#define WANTED_BROKEN 0x8000u /* what was to choose it could not be read */
#define WANTED_THROTTLE                                                                            \
    0x100u /* calls of functions that are called very often, and shortly, are counted only from then on */
#define WANTED_USAGE 0x80u /* what getrusage(2) says of it, and of its process, at their ends */

struct profile_region_head {
    uint32_t magic, version;
    uint32_t thread; /* code of its own line, as in its queue */
    uint32_t clock; /* QUEUE_CLOCK_*: what ticks are */
    uint32_t enter_256,
        /* what measuring takes, in 256ths of a tick: within a call, and within its caller */
        exit_256;
    _Alignas(
        64) _Atomic uint32_t contexts; /* that there are, with context 0: 1 .. REGION_CONTEXTS */
    _Atomic uint32_t
        depth; /* frames that are open, with the thread's own; may be above REGION_FRAMES: calls
                * above are only counted */
    _Atomic uint64_t folded; /* calls that got no context of their own: there was no more room */
    _Atomic uint64_t deep; /* calls that got no frame: too many were open */
    _Atomic uint64_t mismatched; /* ends of calls that were not open */
    /* The last look at the thread's processor clock: when, what it said, and for how long in all
     * the thread had not run by then. */
    _Atomic uint64_t looked_ticks, looked_cpu_ns, off_ticks;
    _Atomic uint32_t cells; /* all cells that it has counted in are below this one; 0: in none */
    uint8_t kinds
        /* of each cell that begins a meter an enum metric_kind, once it counts; else 0 */
        [REGION_CELLS];
    _Atomic uint32_t blind; /* 1: its processor clock, though wanted, is not read any more */
    uint64_t began; /* ticks, since when it counts: no time in it is longer; 0: not known */
    /* Ticks, when the thread ended its process, or made it another program: calls that are open
     * then last until then; 0: it has not. */
    _Atomic uint64_t gone;
};
static_assert(sizeof(struct profile_region_head) <= REGION_HEAD_BYTES, "the head fits its page");

/* An open call; the outermost first: that is the thread itself, and so is one that other calls lie
 * under which are on another stack, of a coroutine that the thread runs. */
struct profile_region_frame {
    _Atomic uint32_t context;
    uint32_t lands; /* of its context */
    _Atomic uint64_t began; /* ticks, 0: its time is not measured */
    uint64_t function;
    uint64_t stack; /* the stack pointer at its begin; of the thread itself ~0 */
    uint64_t ran; /* ticks of the thread's own running, when it went on last */
    _Atomic uint64_t own; /* ticks that it ran itself by then */
};
static_assert(sizeof(struct profile_region_frame) == 48, "a frame is 48 bytes");

enum profile_scope {
    SCOPE_FUNCTION, /* `function` is an address in it */
    /* a part that the program named: `function` is where its name is told, poet_scope */
    SCOPE_NAMED,
    SCOPE_WAITED, /* a call that is recorded: `function` is its event type's code */
    /* Below it, by function, calls on paths that found no room; its own are those that found none
     * there either. */
    SCOPE_OTHER,
    SCOPE_COUNTED /* calls of the function at `function` that are counted, not timed: what they took, and what they
                   * called, is their caller's.  `real` is since when, by the monotonic clock in ns; 0: always */
};

struct profile_region_context {
    uint32_t parent; /* less than its own number; of context 0: 0 */
    uint32_t child, sibling; /* of the thread's own search */
    uint32_t lands; /* itself, or the outer context of the same function */
    uint64_t function;
    uint32_t scope; /* an enum profile_scope */
    uint32_t open; /* how many timed frames are in it, or in any whose first one it is */
    _Atomic uint64_t calls;
    _Atomic uint64_t concurrent; /* of these: began while other threads ran, too */
    _Atomic uint64_t real, real_least,
        real_most; /* ticks, of calls that have ended; least ~0: none has */
    _Atomic uint64_t own, own_least,
        own_most; /* ticks that the thread ran in it, not in what it called */
    _Atomic uint64_t ended; /* calls that have ended */
    _Atomic uint64_t off; /* ticks that the thread did not run while this was its innermost call */
    uint32_t first; /* itself, or of those of its function that land in themselves the first: whose
                     * `open` counts the frames of all of them */
    uint32_t spare_32;
    uint64_t site; /* where its caller goes on after it; 0: not known */
};
static_assert(sizeof(struct profile_region_context) == 128, "a context is two cache lines");

/* A meter of the program's own (wire/metric_messages.h), as far as this thread counted it.  Of one
 * that counts, `least`, `most` and `last` say nothing.  A distribution takes METRIC_CELLS of them,
 * and its buckets begin in the rest of the first. */
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
