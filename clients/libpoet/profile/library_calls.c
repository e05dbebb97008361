#define _GNU_SOURCE
#include "clients/libpoet/profile/library_calls.h"

#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/excluded_functions.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/profile/library_slots.h"
#include "clients/libpoet/profile/library_stubs.h"
#include "clients/libpoet/return_address.h"

#include <errno.h>
#include <stdatomic.h>

#if defined(LIBRARY_STUB_BYTES)

static struct library_import library_imports[LIBRARY_IMPORTS];
static _Atomic uint32_t library_import_count;
static uint16_t library_slot_import[LIBRARY_SLOTS];

uintptr_t library_call_add(const struct library_import *import, bool wide)
{
    uint32_t n = atomic_load(&library_import_count);
    if (n == LIBRARY_IMPORTS)
        return 0;
    library_imports[n] = *import;
    library_stub_set_wide(n, wide);
    atomic_store(&library_import_count, n + 1);
    return library_stub(n);
}

/* ---- calls ---- */

/* A call's frame is below that of its caller's hooks, and above those of its callees. */
#define CALL_BELOW (3 * sizeof(void *))

static inline void library_call_enter(struct thread_profile *m, uint32_t wanted, uint32_t import,
                                      uintptr_t *back)
{
    const struct library_import *is = &library_imports[import];
    uintptr_t returns = library_slot_take((uintptr_t)back),
              place = (uintptr_t)back | (library_stub_is_wide(import) ? SLOT_WIDE : 0);
    if (UNLIKELY(!returns)) {
        excluded_function_count(m, is->function, *back);
        return;
    }
    struct library_slot *slot = library_slot_at(returns);
    __atomic_store_n(&slot->place, place | SLOT_BEING_TAKEN, __ATOMIC_RELAXED);
    atomic_signal_fence(memory_order_seq_cst);
    slot->back = *back;
    library_slot_import[(returns - (uintptr_t)library_returns) / LIBRARY_STUB_BYTES] =
        (uint16_t)import;
    atomic_signal_fence(memory_order_seq_cst);
    *back = returns;
    atomic_signal_fence(memory_order_seq_cst);
    __atomic_store_n(&slot->place, place, __ATOMIC_RELAXED);
    call_stack_function_enter(m, wanted, is->function, slot->back, SCOPE_FUNCTION,
                              (uintptr_t)back - CALL_BELOW);
}

/* (The first call of a thread may begin its measurement.) */
static __attribute__((noinline)) struct thread_profile *library_call_measured(uint32_t *wanted)
{
    int saved = errno;
    struct thread_profile *m = instrument_measured_thread(wanted);
    errno = saved;
    return m;
}

static uintptr_t library_call_begin(uint32_t import, uintptr_t *back)
{
    const struct library_import *is = &library_imports[import];
    const struct traced_thread *t = thread_mine;
    if (*back - is->code >= is->code_bytes || (uintptr_t)back % sizeof(void *))
        return is->target;
    uint32_t wanted = t && t->queue ? instrument_wanted(t) : 0;
    struct thread_profile *m = wanted & WANTED_CALLS ? t->profile : NULL;
    if (UNLIKELY(!m))
        m = library_call_measured(&wanted);
    if (m)
        library_call_enter(m, wanted, import, back);
    return is->target;
}

static uintptr_t library_call_end(uintptr_t returns)
{
    uint32_t n = (uint32_t)(returns - (uintptr_t)library_returns) / LIBRARY_STUB_BYTES;
    struct library_slot *slot = library_slot_at(returns);
    const struct traced_thread *t = thread_mine;
    if (t && t->profile)
        call_stack_function_exit(t->profile, instrument_wanted(t),
                                 library_imports[library_slot_import[n]].function,
                                 (slot->place & ~(uintptr_t)SLOT_BITS) - CALL_BELOW);
    uintptr_t back = slot->back;
    atomic_signal_fence(memory_order_seq_cst);
    __atomic_store_n(&slot->place, 0, __ATOMIC_RELAXED);
    return back;
}

void library_calls_begin(uint32_t wide_mask, bool probes)
{
    library_stubs_begin(library_call_begin, library_call_end, wide_mask, probes);
}
#endif

__attribute__((visibility("default"))) const void *poet_return_address(const void *back)
{
    return (const void *)library_true_return((uintptr_t)back);
}

__attribute__((visibility("default"))) const void *poet_return_places(size_t *bytes)
{
#if defined(LIBRARY_STUB_BYTES)
    *bytes = LIBRARY_SLOTS * LIBRARY_STUB_BYTES;
    return library_returns;
#else
    *bytes = 0;
    return NULL;
#endif
}
