/* Snapshot of a running process: its threads are seized (PTRACE_SEIZE), copied and released.
 * Nothing is written to it, and no signal is sent or lost.
 *
 * Threads in a system call that a stop would end early (epoll_wait, sigtimedwait, a write of a part
 * of the bytes) are not stopped: of these, only the stack pointer, the program counter and the
 * arguments of the call are known. */
#ifndef CLIENTS_SNAPSHOT_SEIZED_PROCESS_H
#define CLIENTS_SNAPSHOT_SEIZED_PROCESS_H

#include "clients/snapshot/snapshot.h"
#include "wire/endpoint.h"

/* After this time the process is released, though not all threads were copied; on a busy machine
 * the release takes its time, too. */
#define SEIZED_STOP_NS 150000000u

/* Returns false with the reason, and the setting that refuses it, if nothing can be read. */
bool seized_process_read(struct snapshot *snapshot, uint32_t pid, struct error *error);

#endif
