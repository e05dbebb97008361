/* Snapshot of a running process: its threads are seized (PTRACE_SEIZE), copied and released.
 * Nothing is written to it, and no signal is sent or lost.
 *
 * Threads in a system call that a stop would end early (epoll_wait, sigtimedwait, a write of a part
 * of the bytes) are not stopped: of these, only the stack pointer, the program counter and the
 * arguments of the call are known. If the system refuses to let one process read another, the error
 * says why, and the setting that would allow it. */
#ifndef CLIENTS_SNAPSHOT_SEIZED_PROCESS_H
#define CLIENTS_SNAPSHOT_SEIZED_PROCESS_H

#include "clients/snapshot/snapshot.h"
#include "wire/endpoint.h"

#include <stdbool.h>
#include <stdint.h>

/* After this time the process is released, though not all threads were copied; on a busy machine
 * the release takes its time, too. */
#define SEIZED_STOP_NS 150000000u

/* Returns false with the reason in *error, and the setting that refuses it, if nothing can be
 * read. */
bool seized_process_read(struct snapshot *snapshot, uint32_t pid, struct error *error);

/* The reasons for a refusal that can be read: */
struct trace_permission {
    bool of_kernel; /* a thread of the kernel, which has no program */
    bool capable; /* CAP_SYS_PTRACE */
    bool same_user; /* the process is of the same user */
    bool same_container; /* it is in the same name space of users */
    int yama; /* kernel.yama.ptrace_scope; -1: there is none */
};

/* Formats the reason why tracing a process failed with an error number, from what is known. */
void trace_permission_text(uint32_t pid, int number, const struct trace_permission *known,
                           struct error *error);

#endif
