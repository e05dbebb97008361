/* The calls that a thread is in: a call begins, and ends. */
#ifndef CLIENTS_TRACE_MEASURE_FRAMES_H
#define CLIENTS_TRACE_MEASURE_FRAMES_H

#include "clients/trace/measure/measured.h"
#include "wire/slot.h"

/* How far the stack pointer may move to and fro within one function, between calls that were put into it. */
#define FRAMES_SLACK 128u

#pragma GCC visibility push(hidden)

/* A call of a function begins, or what else an enum region_scope says.  wanted: one of WANTED_CALLS is among it; site: where
 * it was called from, 0 not known; stack: the stack pointer, about. */
void frames_enter(struct measured *m, uint32_t wanted, uint64_t function, uint64_t site,
                  uint32_t scope, uint64_t stack);
/* The innermost call of that function has ended; where none is open, that is counted. */
void frames_exit(struct measured *m, uint32_t wanted, uint64_t function, uint64_t stack);
/* The innermost part of that scope, likewise. */
void frames_exit_scope(struct measured *m, uint32_t wanted, uint32_t scope);
/* All that lie below a place on the stack: a jump to there has ended them. */
void frames_cut(struct measured *m, uint32_t wanted, uint64_t stack);
/* In a child of fork: calls whose frames lie above that place its parent began. */
void frames_forked(uint64_t stack);
/* After jumps out of signal handlers: what began, or ended, and was left half done has ended
 * once. */
void frames_settle(struct measured *m);
/* The calls of a child of vfork (vforked.h) have ended, as of the last look; and in its parent,
 * where the child has become another program. */
void frames_leave_child(struct measured *m);
void frames_rejoin(struct measured *m);
/* The innermost one has ended, whatever it is; `ran` is what frames_now() said with that `now`. */
void frames_drop(struct measured *m, uint64_t now, uint64_t ran);

/* For calls that go on elsewhere, and later here again (strands.h): */
uint64_t frames_now(struct measured *m, const struct queue_head *queue, uint64_t *ran);
/* The innermost one pauses: its time until now is told, but it has not ended; and it goes on, in that context. */
void frames_pause(struct measured *m, uint64_t now, uint64_t ran);
void frames_go_on(struct measured *m, uint32_t wanted, uint32_t context, uint64_t function,
                  uint64_t stack);
/* One more frame of the thread itself, under calls on another stack; false: there is no room.  And without it. */
bool frames_base_enter(struct measured *m, uint32_t wanted);
void frames_base_leave(struct measured *m, uint64_t ran);

/* What is done with the calls of a function, where the user named some; NULL: all are measured.  Asked where a call is
 * not known yet, and wherever it ends and was not measured: also in signal handlers. */
enum pick {
    PICK_NOTHING,
    PICK_MEASURED,
    PICK_IGNORED, /* nor is what it calls: its time is its caller's */
    PICK_SKIPPED, /* but what it calls is */
    PICK_COUNTED /* likewise, and its calls are counted */
};
/* A path to a function was met first; NULL: that is of no interest. */
extern void (*_Atomic frames_meet)(uintptr_t function);
extern enum pick (*_Atomic frames_pick)(uint64_t function);
/* No ignored call is open any more. */
void frames_heed(struct measured *m);

/* The number of a context below another one, made if need be: the same is wanted again and again. */
uint32_t context_find(struct measured *m, uint32_t parent, uint64_t function, uint64_t site,
                      uint32_t scope);

static inline _Atomic uint32_t *context_known(struct measured *m, uint32_t parent,
                                              uint64_t function, uint64_t site)
{
    return &m->known[((function >> 4) + site + parent * 0x9e3779b1u) % KNOWN_CONTEXTS];
}

/* Of calls that are counted only: no straight way looks there for the same function, so that none has a frame. */
static inline _Atomic uint32_t *context_known_counted(struct measured *m, uint32_t parent,
                                                      uint64_t function, uint64_t site)
{
    return &m->known[(context_known(m, parent, function, site) - m->known) ^ 1];
}

/* It is that one; not the thread itself, which has no function; and no two scopes have the same ones. */
static inline bool context_is(const struct region_context *is, uint32_t parent, uint64_t function,
                              uint64_t site)
{
    return is->function == function && is->site == site && is->parent == parent;
}

static inline uint32_t context_of(struct measured *m, uint32_t parent, uint64_t function,
                                  uint64_t site, uint32_t scope)
{
    uint32_t c =
        atomic_load_explicit(context_known(m, parent, function, site), memory_order_relaxed);
    if (LIKELY(context_is(&contexts_of(m)[c], parent, function, site)))
        return c;
    return context_find(m, parent, function, site, scope);
}

/* The gap rule: between two looks at a clock a thread was off its processor for no longer than was between them.
 * Where that is short it is taken to have run; after a gap it looks at its processor clock how long it ran in all,
 * so that what was missed before comes in.  A look takes some hundred times as long as reading the counter. */
#define GAP_NS 4000u
bool gap_look(struct measured *m, const struct region_frame *innermost); /* false: it is at it */
/* Another task goes on in its place on a thread of the system; and it goes on there, where its processor time is wanted. */
void gap_leave(struct measured *m, uint64_t now);
void gap_come(struct measured *m, uint64_t now);

static inline uint32_t frames_depth(const struct measured *m)
{
    return atomic_load_explicit(&m->head->depth, memory_order_relaxed);
}

/* The innermost frame that there is. */
static inline struct region_frame *frames_top(const struct measured *m)
{
    uint32_t depth = frames_depth(m);
    return &frames_of(m)[(depth < REGION_FRAMES ? depth : REGION_FRAMES) - 1];
}

/* The context whose time passes while that frame is the innermost one.  Of a call that a signal
 * handler found half begun, or half ended, no time is counted: it is the time of its caller. */
static inline struct region_context *frames_timed(const struct measured *m,
                                                  const struct region_frame *f)
{
    while (f > frames_of(m) && !sum_of(&f->began))
        f--;
    return &contexts_of(m)[atomic_load_explicit(&f->context, memory_order_relaxed)];
}

#pragma GCC visibility pop
#endif
