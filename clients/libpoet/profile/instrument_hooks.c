/* Hooks that compilers insert at the begin and the end of every function. The C library has empty
 * ones, so that instrumented code links and runs anywhere; libpoet's take precedence. A program
 * that defines its own uses its own; those of a library that precedes libpoet are called, too. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/instrument_hooks.h"

#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/profile/block_counts.h"
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/profile/count_fast_path.h"
#include "clients/libpoet/profile/sampling.h"
#include "clients/libpoet/next_symbol.h"
#include "clients/libpoet/poet.h"

#include <stdatomic.h>

static void (*others_enter)(void *, void *), (*others_exit)(void *, void *);
/* A thread of a library has no line before its first recorded call: where calls are wanted, this is
 * one. */
static bool instrument_adopts;

/* The two of the C library are one. */
void instrument_begin(void)
{
    instrument_adopts = (measurement_wanted_initial() & WANTED_CALLS) != 0;
    atomic_store(&tracer.profile.on_new_function, modules_check_function);
#if !defined(POET_STATIC)
    void *enter = next_in(RTLD_NEXT, "__cyg_profile_func_enter");
    void *leave = next_in(RTLD_NEXT, "__cyg_profile_func_exit");
    if (enter == leave || !enter || !leave)
        return;
    *(void **)&others_enter = enter;
    *(void **)&others_exit = leave;
#endif
}

/* Approximate frame address of the function: below its return address. (Not its frame pointer,
 * which would be set up for that alone.) */
#define STACK ((uint64_t)(uintptr_t)__builtin_dwarf_cfa() - 2 * sizeof(void *))
#define OUT_OF_LINE static __attribute__((noinline, cold))

struct thread_profile *instrument_first_call(struct traced_thread *t)
{
    return region_create(t) ? t->profile : NULL;
}

struct thread_profile *instrument_measured_thread(uint32_t *wanted)
{
    struct traced_thread *t = thread_mine;
    if (UNLIKELY(!t))
        t = instrument_adopts ? thread_adopt_known() : NULL;
    /* a child of fork: its line begins with its first call */
    else if (!t->queue && instrument_adopts)
        t = thread_begin_child(t);
    return t ? instrument_get_measured(t, wanted) : NULL;
}

OUT_OF_LINE void instrument_enter_slow(void *function, void *site, uint64_t stack)
{
    uint32_t wanted;
    if (others_enter)
        others_enter(function, site);
    struct thread_profile *m = instrument_measured_thread(&wanted);
    if (m)
        call_stack_function_enter(m, wanted, (uint64_t)(uintptr_t)function,
                                  (uint64_t)(uintptr_t)site, SCOPE_FUNCTION, stack);
}

/* (Their first arguments are where the hook had them, so that they are not moved.) */
static __attribute__((noinline)) void
instrument_enter_timed(void *function, void *site, struct thread_profile *m, uint32_t wanted)
{
    if (UNLIKELY(m->blocks))
        block_counts_enter(m, (uint64_t)(uintptr_t)function);
    call_stack_function_enter(m, wanted, (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)site,
                              SCOPE_FUNCTION, STACK);
}

__attribute__((weak)) HOOK void __cyg_profile_func_enter(void *function, void *site)
{
    const struct traced_thread *t = thread_mine;
    if (UNLIKELY(!t || !t->queue || others_enter)) {
        if (others_enter || instrument_adopts)
            instrument_enter_slow(function, site, STACK);
        return;
    }
    uint32_t wanted = instrument_wanted(t);
    if (LIKELY(!(wanted & WANTED_CALLS)))
        return;
    struct thread_profile *m = t->profile;
    if (m && wanted & (WANTED_REAL | WANTED_CPU))
        instrument_enter_timed(function, site, m, wanted);
    else if (UNLIKELY(!m || !fast_path_enter(m, (uint64_t)(uintptr_t)function,
                                             (uint64_t)(uintptr_t)site, STACK)))
        instrument_enter_slow(function, site, STACK);
}

OUT_OF_LINE void instrument_exit_slow(void *function, void *site, uint64_t stack)
{
    const struct traced_thread *t = thread_mine;
    if (t && t->profile)
        call_stack_function_exit(t->profile, instrument_wanted(t), (uint64_t)(uintptr_t)function,
                                 stack);
    others_exit(function, site);
}

OUT_OF_LINE void instrument_exit_blocks(struct thread_profile *m, uint32_t wanted, uint64_t of,
                                        uint64_t stack)
{
    block_counts_exit_begin(m, of);
    call_stack_function_exit(m, wanted, of, stack);
    block_counts_exit_end(m);
}

__attribute__((weak)) HOOK void __cyg_profile_func_exit(void *function, void *site)
{
    const struct traced_thread *t = thread_mine;
    uint64_t of = (uint64_t)(uintptr_t)function;
    if (UNLIKELY(others_exit))
        instrument_exit_slow(function, site, STACK);
    else if (!t || !t->profile || fast_path_exit(t->profile, of))
        return;
    else if (UNLIKELY(t->profile->blocks))
        instrument_exit_blocks(t->profile, instrument_wanted(t), of, STACK);
    else
        call_stack_function_exit(t->profile, instrument_wanted(t), of, STACK);
}

/* ---- named parts of functions ---- */

void poet_scope(const char *name)
{
    uint32_t wanted;
    struct thread_profile *m = name ? instrument_measured_thread(&wanted) : NULL;
    if (m)
        call_stack_function_enter(m, wanted, (uint64_t)(uintptr_t)name,
                                  (uint64_t)(uintptr_t)__builtin_return_address(0), SCOPE_NAMED,
                                  STACK);
}

void poet_scope_end(void)
{
    const struct traced_thread *t = thread_mine;
    struct thread_profile *m = t ? t->profile : NULL;
    if (m)
        call_stack_scope_exit(m, instrument_wanted(t), SCOPE_NAMED);
}

/* ---- waiting ---- */

/* (Sites of events are within the call, those of contexts after it.) */
void instrument_wait_begin(struct traced_thread *t, uint32_t type, uintptr_t site)
{
    uint32_t wanted;
    struct thread_profile *m = instrument_get_measured(t, &wanted);
    if (m)
        call_stack_function_enter(m, wanted, type, site ? site + 1 : 0, SCOPE_WAITED, STACK);
    else
        sampling_wait_begin(t, type, site);
    t->waiting++;
    if (!t->idle)
        atomic_fetch_sub_explicit(&tracer.threads.running, 1, memory_order_relaxed);
}

void instrument_wait_end(struct traced_thread *t, uint32_t type)
{
    t->waiting--;
    if (!t->idle)
        atomic_fetch_add_explicit(&tracer.threads.running, 1, memory_order_relaxed);
    sampling_wait_end(t);
    if (t->profile)
        call_stack_function_exit(t->profile, instrument_wanted(t), type, STACK);
}

void poet_rests(int rests)
{
    struct traced_thread *t = thread_mine;
    if (!t || t->idle == (rests != 0))
        return;
    t->idle = rests != 0;
    if (!t->waiting)
        atomic_fetch_add_explicit(&tracer.threads.running, rests ? UINT32_MAX : 1,
                                  memory_order_relaxed);
}

void poet_calls_off(void)
{
    struct traced_thread *t = thread_mine;
    if (t && t->queue && !t->calls_off_depth++)
        t->calls_wanted =
            WANTED_CALLS & atomic_fetch_and_explicit(&t->queue->wanted, ~(uint32_t)WANTED_CALLS,
                                                     memory_order_relaxed);
}

void poet_calls_on(void)
{
    struct traced_thread *t = thread_mine;
    if (t && t->queue && t->calls_off_depth && !--t->calls_off_depth)
        atomic_fetch_or_explicit(&t->queue->wanted, t->calls_wanted, memory_order_relaxed);
}

void poet_wait_begin(poet_type_t type)
{
    struct traced_thread *t = thread_self();
    if (t)
        instrument_wait_begin(t, type, (uintptr_t)__builtin_return_address(0) - 1);
}

void poet_wait_done(poet_type_t type)
{
    struct traced_thread *t = thread_mine;
    if (t && t->waiting)
        instrument_wait_end(t, type);
}
