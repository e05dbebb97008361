/* Futexes that a program uses directly, as the C++ library does for latches, barriers, semaphores
 * and futures: their order cannot be traced, but that they were used is reported. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/fork_calls.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/seccomp_install.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/thread.h"
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
        if (futex_is_synchronization(number, b) && its_site) {                                     \
            struct traced_thread *t = thread_recording();                                          \
            if (t)                                                                                 \
                thread_note_untraced(t, UNTRACED_FUTEX);                                           \
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
