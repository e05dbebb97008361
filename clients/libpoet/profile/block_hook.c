/* The hook that programs compiled with poetcc -profile=loops call at the begin of each basic block:
 * the linker puts it in the place of the compiler's __sanitizer_cov_trace_pc() (--wrap), so that
 * others that were compiled for coverage are left alone. Async-signal-safe. */
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/block_counts.h"
#include "clients/libpoet/profile/instrument_hooks.h"

HOOK void __wrap___sanitizer_cov_trace_pc(void);

/* A thread that was not measured until then, or of which no block was reached. */
static __attribute__((noinline)) void block_hook_slow(uint64_t at, uint64_t frame)
{
    uint32_t wanted = 0;
    struct thread_profile *m = instrument_measured_thread(&wanted);
    if (!m || m->sampling)
        return;
    if (!m->blocks && !block_counts_begin(m))
        return;
    if (!m->blocks->calibrated && wanted & (WANTED_REAL | WANTED_CPU))
        block_counts_calibrate(m, wanted);
    block_counts_reach(m, wanted, at, frame);
}

/* At the begin of a block: its address is that at which the hook returns, and the frame pointer is
 * still that of the function, which is compiled with -fno-omit-frame-pointer. A function that is
 * not, in spite of that, has wrong counts, but nothing is read through the pointer. */
HOOK void __wrap___sanitizer_cov_trace_pc(void)
{
    const struct traced_thread *t = thread_mine;
    uint64_t at = (uint64_t)(uintptr_t)__builtin_return_address(0),
             frame = *(const uint64_t *)__builtin_frame_address(0);
    if (UNLIKELY(!t || !t->queue || !t->profile || !t->profile->blocks)) {
        block_hook_slow(at, frame);
        return;
    }
    uint32_t wanted = instrument_wanted(t);
    if (LIKELY(wanted & WANTED_CALLS))
        block_counts_reach(t->profile, wanted, at, frame);
    else if (t->profile->blocks->depth > 1)
        block_counts_pause(t->profile);
}
