/* Futexes that a program uses directly, as the C++ library does for latches, barriers, semaphores
 * and futures: their order cannot be traced, but that they were used is reported. */
#define _GNU_SOURCE
#include "clients/libpoet/core/cxx_runtime.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/seccomp_install.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/interpose/child_process.h"
#include "clients/libpoet/poet.h"

#include <linux/futex.h>
#include <sys/syscall.h>

static bool futex_is_synchronization(long number, long operation)
{
    operation &= FUTEX_CMD_MASK;
    return number == SYS_futex &&
           (operation == FUTEX_WAIT || operation == FUTEX_WAKE || operation == FUTEX_WAIT_BITSET ||
            operation == FUTEX_WAKE_BITSET);
}

/* libpoet-atomics, if it is there, says whether the program uses a word by atomic operations that
 * are traced: these make the order, and the futex only waits for them. */
extern int poet_atomics_follow(const void *word) __attribute__((weak));

static void futex_note_use(struct traced_thread *t, long word)
{
    if (!poet_atomics_follow || !poet_atomics_follow((const void *)word))
        thread_note_untraced(t, UNTRACED_FUTEX);
}

/* Returns an address in the outermost function of the C++ library around a call; 0: in none. */
static uintptr_t futex_library(uintptr_t call)
{
    bool within = tracer.modules.has_cxx && (modules_is_runtime(call) || cxx_in_library(call));
    return within ? modules_library_function : 0;
}

/* The function by which libstdc++ waits for the value of a future, in its `_M_status`; and how far
 * after that its `_M_once` is, in which the value is set, after the task was run that computes it
 * (std::__future_base::_State_baseV2).  The functions around it wait for futures, too. */
#pragma weak futex_wait_of_future
extern const char futex_wait_of_future[] __asm__(
    "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1"
    "ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE");
#define FUTURE_ONCE_OFFSET 8u
#define FUTURE_WAIT_BYTES 512u

/* Returns the once flag of the future for the value of which a call waits; 0: it is not known to
 * wait for one. */
static uintptr_t futex_once(uintptr_t word, uintptr_t call)
{
    uintptr_t wait = (uintptr_t)futex_wait_of_future;
    return wait && call - wait < FUTURE_WAIT_BYTES ? word + FUTURE_ONCE_OFFSET : 0;
}

static long futex_wait(uintptr_t site, uintptr_t call, const long a[6])
{
    uintptr_t word = (uintptr_t)a[0];
    thread_futex_begin(thread_recording(), (struct futex_wait){word, site, futex_library(call),
                                                               futex_once(word, call)});
    long result = real_functions.syscall(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
    thread_futex_end();
    return result;
}

static bool futex_is_wait(long operation)
{
    operation &= FUTEX_CMD_MASK;
    return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
}

/* Reports io_uring once; the order of its requests is not traced. */
static void futex_report_io_rings(long number)
{
#ifdef SYS_io_uring_setup
    if (number == SYS_io_uring_setup)
        poet_untraced("io_uring");
#endif
}

/* All others are only passed on, by a jump at the end. (unistd.h declares it with an ellipsis,
 * hence the other names.) */
#define PASS(...) PASS_AS(__VA_ARGS__)
#define PASS_AS(as, name, its_site)                                                                \
    __attribute__((visibility("default"))) long as(long, long, long, long, long, long,             \
                                                   long) __asm__(#name);                           \
    long as(long number, long a, long b, long c, long d, long e, long f)                           \
    {                                                                                              \
        real_find();                                                                               \
        if (futex_is_synchronization(number, b)) {                                                 \
            uintptr_t site = its_site;                                                             \
            struct traced_thread *t = site ? thread_recording() : NULL;                            \
            if (t)                                                                                 \
                futex_note_use(t, a);                                                              \
            if (t && futex_is_wait(b))                                                             \
                return futex_wait(site, SITE, (long[]){a, b, c, d, e, f});                         \
            return real_functions.syscall(number, a, b, c, d, e, f);                               \
        }                                                                                          \
        if (fork_call_is_fork(number, a, b)) {                                                     \
            fork_call_begin(its_site);                                                             \
            long child = real_functions.syscall(number, a, b, c, d, e, f);                         \
            fork_call_end(number, a, b, child);                                                    \
            return child;                                                                          \
        }                                                                                          \
        if (its_site)                                                                              \
            futex_report_io_rings(number);                                                         \
        if ((number == SYS_prctl || number == SYS_seccomp) &&                                      \
            seccomp_install_begin(number, a, b, c)) {                                              \
            long result = real_functions.syscall(number, a, b, c, d, e, f);                        \
            if (result < 0)                                                                        \
                seccomp_install_failed();                                                          \
            else                                                                                   \
                seccomp_install_done();                                                            \
            return result;                                                                         \
        }                                                                                          \
        return real_functions.syscall(number, a, b, c, d, e, f);                                   \
    }
PASS(pass, PLAIN(syscall), site_of_untraced(SITE))
PASS(pass_traced, poet_link_with_poetcc_trace__syscall, site_of_traced(SITE))
