/* Walk up the stack of the calling thread by unwind rules: where the stack ends, and one step to
 * the caller. Async-signal-safe; reads only memory of the stack. */
#ifndef CLIENTS_LIBPOET_UNWIND_STACK_WALK_H
#define CLIENTS_LIBPOET_UNWIND_STACK_WALK_H

#include "base/likely.h"
#include "clients/libpoet/unwind/unwind_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The registers of a caller at the time of the call. */
struct unwind_position {
    uintptr_t site, stack, frame;
};

/* ---- where the stack ends ---- */

/* The thread's own data are above its stack, in the same mapping. The first thread's are not: the
 * end of its stack is known, and nothing else is below it within its maximum size. */
#define OTHERS_MOST (16u << 20)
#define FIRST_MOST (96u << 20)

struct first_stack {
    uintptr_t thread, end; /* the first thread's pointer, and the end of its stack; 0: not known */
};

static inline uintptr_t stack_walk_thread_pointer(void)
{
#if defined(__x86_64__)
    return (uintptr_t)__builtin_thread_pointer();
#else
    return 0;
#endif
}

#pragma weak __libc_stack_end
extern void *__libc_stack_end;

/* Returns the stack of the first thread, which calls it. */
static inline struct first_stack stack_walk_first(void)
{
    return (struct first_stack){stack_walk_thread_pointer(),
                                &__libc_stack_end ? (uintptr_t)__libc_stack_end : 0};
}

/* Returns the end of the thread's stack; 0: the address is in a stack of another kind. */
static inline uintptr_t stack_walk_end(const struct first_stack *first, uintptr_t stack)
{
    uintptr_t me = stack_walk_thread_pointer(), end = me == first->thread ? first->end : me;
    uintptr_t most = me == first->thread ? FIRST_MOST : OTHERS_MOST;
    return stack < end && end - stack < most ? end : 0;
}

/* ---- up the stack ---- */

/* Above the frame of a stack's first function is at most this: a return address, which is not
 * within a call. */
#define BEGINNING_MOST 128u

/* If the runtime has not registered the end of the stack, only the tables say which function is its
 * first one. */
static inline bool stack_walk_is_first_function(const struct unwind_position *at,
                                                uintptr_t known_end)
{
    return known_end && known_end - at->stack <= BEGINNING_MOST &&
           unwind_rule_get(at->site).is != UNWIND_CALLED;
}

/* Continues with the caller. Returns false if there is none (*whole) or if it is not known. end: of
 * the stack; known_end: the same if a runtime registered it, else 0. *saved: where the caller's
 * frame pointer is saved, NULL: it is unchanged. */
static inline bool stack_walk_step(struct unwind_position *at, const uintptr_t **saved,
                                   uintptr_t end, uintptr_t known_end, bool *whole)
{
    struct unwind_rule rule = unwind_rule_get(at->site);
    uintptr_t above = (rule.by_frame ? at->frame : at->stack) + rule.up;
    *saved = NULL;
    *whole = rule.is == UNWIND_OUTERMOST;
    if (UNLIKELY(rule.is != UNWIND_CALLED || above <= at->stack || above > end || above % 8 != 0) ||
        (rule.saved && above - rule.saved < at->stack))
        return false;
    uintptr_t back = unwind_true_return(((const uintptr_t *)above)[-1]);
    if (rule.saved) {
        *saved = (const uintptr_t *)(above - rule.saved);
        at->frame = **saved;
    }
    at->stack = above;
    at->site = back - 1;
    *whole = true;
    return back != 0 && LIKELY(!stack_walk_is_first_function(at, known_end));
}

#endif
