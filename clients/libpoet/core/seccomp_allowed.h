/* Which of the system calls that libpoet makes by itself the filters of this process allow
 * (seccomp(2)): asked before each that can be done without. */
#ifndef CLIENTS_LIBPOET_CORE_SECCOMP_ALLOWED_H
#define CLIENTS_LIBPOET_CORE_SECCOMP_ALLOWED_H

#include <linux/filter.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum seccomp_need {
    /* waking the server, waiting for it, locks: without these nothing is recorded */
    ALLOWED_RECORDING,
    ALLOWED_QUEUES, /* memory that is shared: for threads that begin, queues that grow, regions */
    ALLOWED_CPU, /* the processor clock of a thread, which no vDSO has */
    ALLOWED_USAGE, /* what getrusage(2) and proc(5) say of a thread at its end */
    ALLOWED_FILES, /* reading /proc/self: mappings, modules */
    ALLOWED_PROGRAMS, /* looking at the file of a program before it is executed */
    ALLOWED_SIGNALS, /* sending a signal with what it takes along */
    ALLOWED_PEEK, /* reading memory that may not be there */
    ALLOWED_STACKS, /* where signal handlers run */
    ALLOWED_SAYING, /* on standard error */
    ALLOWED_CONNECTING, /* to a server: in children, and again */
    ALLOWED_STREAMS, /* what libpoet-process asks of descriptors */
    ALLOWED_LIMITS, /* asking for and changing how many descriptors there may be */
    ALLOWED_COUNT
};

extern _Atomic uint32_t seccomp_denied; /* bits: 1 << enum seccomp_need */

static inline bool seccomp_allows(enum seccomp_need what)
{
    return !(atomic_load_explicit(&seccomp_denied, memory_order_relaxed) & 1u << what);
}

/* What such a filter does not allow, as bits; NULL: it cannot be read, and nothing is taken for
 * granted that can be done without. */
uint32_t seccomp_denied_by(const struct sock_filter *filter, unsigned count);

#pragma GCC visibility pop
#endif
