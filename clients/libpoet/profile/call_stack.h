/* Call stack of a thread: function calls that have begun and not ended. */
#ifndef CLIENTS_LIBPOET_PROFILE_CALL_STACK_H
#define CLIENTS_LIBPOET_PROFILE_CALL_STACK_H

#include "clients/libpoet/profile/thread_profile.h"
#include "wire/slot.h"

/* Largest difference of the stack pointer between the instrumented places of one function. */
#define CALL_STACK_SLACK 128u

#pragma GCC visibility push(hidden)

/* Begins a call of a function, or another scope (enum profile_scope). wanted: includes one of
 * WANTED_CALLS; site: the call site, 0 if not known; stack: the approximate stack pointer. */
void call_stack_function_enter(struct thread_profile *m, uint32_t wanted, uint64_t function,
                               uint64_t site, uint32_t scope, uint64_t stack);
/* Ends the innermost call of that function; if none is open, that is counted. */
void call_stack_function_exit(struct thread_profile *m, uint32_t wanted, uint64_t function,
                              uint64_t stack);
/* Ends the innermost part of that scope; if none is open, that is counted. */
void call_stack_scope_exit(struct thread_profile *m, uint32_t wanted, uint32_t scope);
/* Ends all calls with frames below a place on the stack, to which the program has jumped. */
void call_stack_cut(struct thread_profile *m, uint32_t wanted, uint64_t stack);
/* Called in a child of fork: calls with frames above that address were begun by its parent. */
void frames_forked(uint64_t stack);
/* Called after jumps out of signal handlers: calls with an interrupted begin or end have ended
 * once. */
void frames_settle(struct thread_profile *m);
/* Ends the calls of a child of vfork (vforked.h) at the time of the last look; also called in its
 * parent, when the child has executed another program. */
void frames_leave_child(struct thread_profile *m);
void frames_rejoin(struct thread_profile *m);
/* Ends the innermost call, of whatever kind; `ran` is what call_stack_now() returned for that
 * `now`. */
void call_stack_drop(struct thread_profile *m, uint64_t now, uint64_t ran);

/* For calls that are paused and resumed later (coroutine_stacks.h): */
uint64_t call_stack_now(struct thread_profile *m, const struct queue_head *queue, uint64_t *ran);

/* The intervals in which a call ran before it was resumed last. */
struct call_intervals {
    uint64_t began; /* of its frame since then; 0: its time is not measured */
    uint64_t real, own; /* ticks */
};

/* Calls on the stack of a coroutine. Written by coroutine_stacks.c. */
struct coroutine_calls {
    uint32_t count, room;
    uint32_t serial; /* of the region in which they were, */
    uint32_t clock; /* its clock, */
    uint64_t since; /* and when it, or an earlier one in which they were, began; 0: unknown */
    /* while a thread is in it: the number of the first frame; those of the coroutine around it */
    uint32_t base;
    struct coroutine_calls *outer;
    struct kept_call {
        uint64_t function, site, stack;
        uint32_t context, scope;
        struct call_intervals earlier;
    } calls[];
};

/* Pauses the innermost call, and counts its time until `now` though it has not ended, and returns
 * its intervals; none if they are to be those of a whole call (`ends`). */
struct call_intervals call_stack_pause(struct thread_profile *m, uint64_t now, uint64_t ran,
                                       bool ends);
/* Resumes a call, in that context. */
void call_stack_resume(struct thread_profile *m, uint32_t wanted, uint32_t context,
                       uint64_t function, uint64_t stack);
/* Add one more frame of the thread itself, under calls on another stack, and remove it. Adding
 * returns false if there is no room. */
bool call_stack_base_enter(struct thread_profile *m, uint32_t wanted);
void call_stack_base_leave(struct thread_profile *m, uint64_t ran);

/* Ends all ignored calls. */
void call_stack_end_ignored(struct thread_profile *m);

/* Returns the number of a context below another one, and creates it if needed. Repeated calls of
 * one path are fast. */
uint32_t context_tree_find(struct thread_profile *m, uint32_t parent, uint64_t function,
                           uint64_t site, uint32_t scope);

/* Makes the context of an edge between two basic blocks, outside of the tree. Returns 0 if there is
 * no room. */
uint32_t context_tree_add_edge(struct thread_profile *m, uint64_t from, uint64_t to);

static inline _Atomic uint32_t *context_tree_cached(struct thread_profile *m, uint32_t parent,
                                                    uint64_t function, uint64_t site)
{
    return &m->known[((function >> 4) + site + parent * 0x9e3779b1u) % KNOWN_CONTEXTS];
}

/* Cache for calls that are only counted: the fast path of other calls does not look for functions
 * there, so none of them has a frame. */
static inline _Atomic uint32_t *context_tree_cached_counted(struct thread_profile *m,
                                                            uint32_t parent, uint64_t function,
                                                            uint64_t site)
{
    return &m->known[(context_tree_cached(m, parent, function, site) - m->known) ^ 1];
}

/* Returns whether the context is that of the function. Not for the thread itself, which has no
 * function; no two scopes share a function. */
static inline bool context_tree_is(const struct profile_region_context *is, uint32_t parent,
                                   uint64_t function, uint64_t site)
{
    return is->function == function && is->site == site && is->parent == parent;
}

static inline uint32_t context_tree_find_cached(struct thread_profile *m, uint32_t parent,
                                                uint64_t function, uint64_t site, uint32_t scope)
{
    uint32_t c =
        atomic_load_explicit(context_tree_cached(m, parent, function, site), memory_order_relaxed);
    if (LIKELY(context_tree_is(&contexts_of(m)[c], parent, function, site)))
        return c;
    return context_tree_find(m, parent, function, site, scope);
}

/* The gap rule: between two readings of a clock, a thread was off-CPU for no longer than the time
 * between them. If that is short, the thread counts as running; after a gap its CPU clock is read,
 * which corrects earlier errors. Reading the CPU clock takes about a hundred times as long as
 * reading the counter. */
#define GAP_NS 4000u
/* Returns false, and sets nothing, if it interrupts the update after another reading. */
bool cpu_gap_check(struct thread_profile *m, const struct profile_region_frame *innermost);
/* Returns the time now, up to which the thread's off-CPU time is known if that is wanted. */
uint64_t cpu_gap_now(struct thread_profile *m);
/* Called when another task replaces this one on a thread of the system, and when it resumes there,
 * if CPU time is wanted. Returning gives the time since which it runs, `now` or a moment later. */
void cpu_gap_leave(struct thread_profile *m, uint64_t now);
uint64_t cpu_gap_return(struct thread_profile *m, uint64_t now);

static inline uint32_t call_stack_depth(const struct thread_profile *m)
{
    return atomic_load_explicit(&m->head->depth, memory_order_relaxed);
}

/* Returns the innermost frame. */
static inline struct profile_region_frame *call_stack_top(const struct thread_profile *m)
{
    uint32_t depth = call_stack_depth(m);
    return &frames_of(m)[(depth < REGION_FRAMES ? depth : REGION_FRAMES) - 1];
}

/* Returns the frame that the time belongs to while that one is the innermost. A call of which the
 * begin or end a signal handler interrupted gets no time: it counts for its caller. */
static inline struct profile_region_frame *frames_live(const struct thread_profile *m,
                                                       struct profile_region_frame *f)
{
    while (f > frames_of(m) && !sum_of(&f->began))
        f--;
    return f;
}

/* Returns the context of that frame. */
static inline struct profile_region_context *frames_timed(const struct thread_profile *m,
                                                          const struct profile_region_frame *f)
{
    f = frames_live(m, (struct profile_region_frame *)(uintptr_t)f);
    return &contexts_of(m)[atomic_load_explicit(&f->context, memory_order_relaxed)];
}

/* While a timed call begins or ends: stores where its frame is, so that a jump out of a handler
 * that interrupts it is known to have left it half done (mend), and that no runtime switches tasks
 * then (poet_busy): from before a clock is read until its time has been added, since what passes in
 * between must not count for a second call. */
struct call_change {
    uint64_t outer; /* the frame that was being changed before */
    uint32_t count; /* m->changes, before the clock is read */
};

static inline struct call_change call_stack_change_begin(struct thread_profile *m,
                                                         const struct profile_region_frame *f)
{
    struct call_change change = {.outer = m->changing_stack};
    m->changing_stack = f->stack;
    change.count = ++m->changes;
    atomic_signal_fence(memory_order_seq_cst);
    return change;
}

static inline void call_stack_change_end(struct thread_profile *m, struct call_change change)
{
    atomic_signal_fence(memory_order_seq_cst);
    m->changing_stack = change.outer;
}

/* Returns whether calls of a signal handler have begun or ended since there were `*changes`; sets
 * it, and reads the clock again: what the handler took is not to count once more. */
static inline bool frames_overtaken(struct thread_profile *m, uint32_t *changes, uint64_t *now,
                                    uint64_t *ran)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (LIKELY(m->changes == *changes))
        return false;
    *changes = m->changes;
    atomic_signal_fence(memory_order_seq_cst);
    *now = cpu_gap_now(m);
    *ran = *now - m->off;
    return true;
}

#pragma GCC visibility pop
#endif
