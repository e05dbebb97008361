#define _GNU_SOURCE
#include "clients/libpoet/core/tracer_lock.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/poet.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Here, since threads need locks, and locks need the calling thread. */
__thread struct traced_thread *thread_mine;
__thread struct traced_thread *thread_base;
__thread uint64_t poet_progress;

#define SPINS 40

static __thread uint32_t my_number __attribute__((tls_model("initial-exec")));

static uint32_t latch_owner_number(void)
{
    if (UNLIKELY(!my_number))
        my_number = (uint32_t)syscall(SYS_gettid);
    return my_number;
}

void latches_forked(void) { my_number = 0; }

static bool latch_lock_free(latch *lock)
{
    uint32_t nobody = 0;
    return atomic_compare_exchange_strong_explicit(lock, &nobody, latch_owner_number(),
                                                   memory_order_acquire, memory_order_relaxed);
}

/* If the system has no such futexes, or they are not allowed: sleeping leaves the processor to
 * threads of any priority. */
static void latch_lock_slowly(latch *lock)
{
    int saved = errno;
    while (syscall(SYS_futex, lock, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0) < 0) {
        if (errno == EINTR || errno == EAGAIN)
            continue;
        if (latch_lock_free(lock))
            break;
        syscall(SYS_nanosleep, &(struct timespec){0, 50000}, NULL);
    }
    /* the kernel handed it over, outside of C's memory order */
    atomic_fetch_or_explicit(lock, 0, memory_order_acquire);
    errno = saved;
}

void latch_lock(latch *lock)
{
    struct traced_thread *t = thread_mine;
    if (t)
        busy_begin(t);
    for (int i = 0; i < SPINS; i++) {
        if (LIKELY(latch_lock_free(lock)))
            return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    latch_lock_slowly(lock);
}

bool latch_try_lock(latch *lock)
{
    struct traced_thread *t = thread_mine;
    if (t)
        busy_begin(t);
    bool taken = latch_lock_free(lock);
    if (!taken && t)
        busy_end(t);
    return taken;
}

/* Never unlocks another thread's lock: after a fork in a signal handler it may be free already. */
void latch_unlock(latch *lock)
{
    uint32_t mine = latch_owner_number();
    if (UNLIKELY(!atomic_compare_exchange_strong_explicit(lock, &mine, 0, memory_order_release,
                                                          memory_order_relaxed)) &&
        (mine & FUTEX_TID_MASK) == latch_owner_number()) {
        int saved = errno;
        atomic_fetch_or_explicit(lock, 0, memory_order_release);
        syscall(SYS_futex, lock, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
        errno = saved;
    }
    struct traced_thread *t = thread_mine;
    if (t)
        busy_end(t);
}
