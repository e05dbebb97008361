/* System calls of libpoet's own that the seccomp(2) filters of this process allow; checked before
 * each call that libpoet can do without. */
#ifndef CLIENTS_LIBPOET_CORE_SECCOMP_ALLOWED_H
#define CLIENTS_LIBPOET_CORE_SECCOMP_ALLOWED_H

#include "clients/libpoet/core/tracer.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum seccomp_need {
    /* waking the server, waiting for it, locks: without these nothing is recorded */
    ALLOWED_RECORDING,
    ALLOWED_QUEUES, /* shared memory: for threads that begin, queues that grow, regions */
    ALLOWED_CPU, /* the CPU clock of a thread, which the vDSO does not provide */
    ALLOWED_USAGE, /* getrusage(2) and proc(5) of a thread at its end */
    ALLOWED_FILES, /* reading /proc/self: mappings, modules */
    ALLOWED_PROGRAMS, /* reading the file of a program before it is executed */
    ALLOWED_SIGNALS, /* sending a signal with a value */
    ALLOWED_PEEK, /* reading memory that may not be mapped */
    ALLOWED_STACKS, /* alternate stacks of signal handlers */
    ALLOWED_SAYING, /* messages on standard error */
    ALLOWED_CONNECTING, /* connecting to a server: in children, and again */
    ALLOWED_STREAMS, /* queries of descriptors by libpoet-process */
    ALLOWED_LIMITS, /* getting and setting the limit of descriptors */
    ALLOWED_SAMPLES, /* timers, and returning from their handler */
    ALLOWED_TRACING, /* permitting the server to read where threads sleep */
    ALLOWED_THREAD_STACKS, /* asking for the stack of a thread, by libpoet-races */
    ALLOWED_COUNT
};

static inline bool seccomp_allows(enum seccomp_need what)
{
    return !(atomic_load_explicit(&tracer.seccomp.denied, memory_order_relaxed) & 1u << what);
}

/* Evaluates a filter for a system call, in the part of classic BPF that seccomp(2) accepts. Returns
 * SECCOMP_RET_*; SECCOMP_RET_KILL_PROCESS if the kernel would not accept the filter. */
uint32_t seccomp_bpf_run(const struct sock_filter *filter, unsigned count,
                         const struct seccomp_data *call);
/* Returns what such a filter does not allow, as bits. With NULL the filter cannot be read, and
 * everything counts as denied that libpoet can do without. */
uint32_t seccomp_denied_by(const struct sock_filter *filter, unsigned count);
/* Returns whether the kernel reported no filter when it was first queried: if there is one then,
 * the process that started this program has set it. */
bool seccomp_filter_is_none(void);

#pragma GCC visibility pop

#endif
