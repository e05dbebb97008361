#define _GNU_SOURCE
#include "clients/libpoet/profile/excluded_functions.h"

#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/profile/throttle.h"

#include <sys/syscall.h>
#include <unistd.h>

enum function_measurement excluded_function_measurement(const struct thread_profile *m,
                                                        uint64_t function)
{
    enum function_measurement (*pick)(
        uint64_t) = atomic_load_explicit(&tracer.profile.filter, memory_order_relaxed),
        is = pick && !m->all_functions ? pick(function & ~FUNCTION_OF_LIBRARY) : MEASUREMENT_FULL;
    return is == MEASUREMENT_FULL && throttle_is_throttled(m, function) ? MEASUREMENT_COUNTED : is;
}

void call_stack_end_ignored(struct thread_profile *m)
{
    m->ignored = 0;
    atomic_signal_fence(memory_order_seq_cst);
    m->room = REGION_FRAMES;
}

stack_t excluded_function_signal_stack(void)
{
    stack_t other = {.ss_flags = SS_DISABLE};
    if (seccomp_allows(ALLOWED_STACKS))
        syscall(SYS_sigaltstack, NULL, &other);
    return other;
}

/* In a signal handler addresses cannot be compared. */
bool excluded_function_is_other_stack(const struct thread_profile *m, uint64_t stack)
{
    stack_t other = excluded_function_signal_stack();
    return excluded_function_is_on_stack(&other, stack) !=
           excluded_function_is_on_stack(&other, m->ignored_stack);
}

/* Otherwise it is no longer open: a jump has ended it. */
bool excluded_function_is_within(struct thread_profile *m, uint64_t stack)
{
    if (LIKELY(stack <= m->ignored_stack + CALL_STACK_SLACK) ||
        excluded_function_is_other_stack(m, stack))
        return true;
    call_stack_end_ignored(m);
    return false;
}

/* No call takes the fast path until this one ends. Checked twice, as a handler in between may have
 * ignored one of its own. */
static void excluded_function_ignore(struct thread_profile *m, uint64_t function, uint64_t stack)
{
    for (int i = 0; i < 2; i++) {
        m->ignored_stack = stack;
        m->ignored_open = 1;
        atomic_signal_fence(memory_order_seq_cst);
        m->ignored = function;
        atomic_signal_fence(memory_order_seq_cst);
        m->room = 0;
        atomic_signal_fence(memory_order_seq_cst);
    }
}

void excluded_function_count(struct thread_profile *m, uint64_t function, uint64_t site)
{
    uint32_t parent = call_stack_top(m)->lands,
             c = atomic_load_explicit(context_tree_cached_counted(m, parent, function, site),
                                      memory_order_relaxed);
    const struct profile_region_context *is = &contexts_of(m)[c];
    if (is->function != function || is->site != site || is->parent != parent)
        c = context_tree_find(m, parent, function, site, SCOPE_COUNTED);
    sum_add(&contexts_of(m)[c].calls, 1);
    sum_add(&contexts_of(m)[c].ended, 1); /* considering the calls that are known */
    if (atomic_load_explicit(&tracer.threads.running, memory_order_relaxed) > 1)
        sum_add(&contexts_of(m)[c].concurrent, 1);
}

/* A function may become counted only while a call of it is open: until that ends, its direct
 * recursive calls have frames, from which its end is recognized. */
bool excluded_function_check(struct thread_profile *m, uint64_t function, uint64_t site,
                             uint64_t stack)
{
    enum function_measurement pick = excluded_function_measurement(m, function);
    if (pick == MEASUREMENT_EXCLUDED)
        excluded_function_ignore(m, function, stack);
    if (pick == MEASUREMENT_COUNTED && call_stack_top(m)->function == function)
        return false;
    if (pick == MEASUREMENT_COUNTED)
        excluded_function_count(m, function, site);
    return pick != MEASUREMENT_FULL;
}
