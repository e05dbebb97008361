/* What a seccomp filter says of a system call: its instructions (classic BPF, as far as seccomp(2)
 * has them), carried out. */
#ifndef CLIENTS_LIBPOET_CORE_SECCOMP_BPF_H
#define CLIENTS_LIBPOET_CORE_SECCOMP_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* SECCOMP_RET_*; SECCOMP_RET_KILL_PROCESS where the kernel would not take the filter. */
uint32_t seccomp_bpf_run(const struct sock_filter *filter, unsigned count,
                         const struct seccomp_data *call);

#pragma GCC visibility pop
#endif
