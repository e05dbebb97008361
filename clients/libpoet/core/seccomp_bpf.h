/* Interpreter for seccomp filters (the part of classic BPF that seccomp(2) accepts): evaluates a
 * filter for a system call. */
#ifndef CLIENTS_LIBPOET_CORE_SECCOMP_BPF_H
#define CLIENTS_LIBPOET_CORE_SECCOMP_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Returns SECCOMP_RET_*; SECCOMP_RET_KILL_PROCESS if the kernel would not accept the filter. */
uint32_t seccomp_bpf_run(const struct sock_filter *filter, unsigned count,
                         const struct seccomp_data *call);

#pragma GCC visibility pop
#endif
