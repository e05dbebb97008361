/* Why the system refuses to let one process read another, and the setting that would allow it. */
#ifndef CLIENTS_SNAPSHOT_TRACE_PERMISSION_H
#define CLIENTS_SNAPSHOT_TRACE_PERMISSION_H

#include "wire/endpoint.h"

#include <stdbool.h>
#include <stdint.h>

/* The reasons for a refusal that can be read: */
struct trace_permission {
    bool of_kernel; /* a thread of the kernel, which has no program */
    bool capable; /* CAP_SYS_PTRACE */
    bool same_user; /* the process is of the same user */
    bool same_container; /* it is in the same name space of users */
    int yama; /* kernel.yama.ptrace_scope; -1: there is none */
};

/* Formats the reason why tracing a process failed with an error number. */
void trace_permission_explain(uint32_t pid, int number, struct error *error);
/* Formats the same of what is known. */
void trace_permission_text(uint32_t pid, int number, const struct trace_permission *known,
                           struct error *error);

#endif
