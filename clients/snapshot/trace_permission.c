#define _GNU_SOURCE
#include "clients/snapshot/trace_permission.h"

#include "clients/snapshot/proc_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAP_SYS_PTRACE 19u

void trace_permission_text(uint32_t pid, int number, const struct trace_permission *known,
                           struct error *error)
{
    const char *refused = "not permitted to trace process";
    if (number == ESRCH)
        error_set(error, "%u: the process has exited", pid);
    else if (number != EPERM && number != EACCES)
        error_set(error, "%u: cannot be traced: %s", pid, strerror(number));
    else if (known->of_kernel)
        error_set(error, "%u: a thread of the kernel", pid);
    else if (!known->capable && !known->same_user)
        error_set(error, "%s %u: it belongs to another user; use that user, or root", refused, pid);
    else if (known->yama == 3)
        error_set(error, "%s %u: kernel.yama.ptrace_scope is 3, until the next boot", refused, pid);
    else if (!known->capable && known->yama == 2)
        error_set(error,
                  "%s %u: kernel.yama.ptrace_scope is 2: run poet attach as root, or as root: "
                  "sysctl kernel.yama.ptrace_scope=0",
                  refused, pid);
    else if (!known->capable && known->yama == 1)
        error_set(error,
                  "%s %u: kernel.yama.ptrace_scope is 1: run poet attach as root, or as root: "
                  "sysctl kernel.yama.ptrace_scope=0",
                  refused, pid);
    else if (!known->capable || !known->same_container)
        error_set(error,
                  "%s %u: it is not dumpable (set-user-ID, prctl), or a container or a seccomp "
                  "filter forbids ptrace: run poet attach as root, or start the container with "
                  "--cap-add=SYS_PTRACE",
                  refused, pid);
    else
        error_set(error, "%s %u: a security module or a seccomp filter forbids ptrace", refused,
                  pid);
}

static bool trace_permission_has_capability(void)
{
    char text[4096];
    proc_file_read(text, sizeof text, "self/status");
    const char *set = strstr(text, "CapEff:");
    return set && strtoull(set + 7, NULL, 16) >> CAP_SYS_PTRACE & 1;
}

void trace_permission_explain(uint32_t pid, int number, struct error *error)
{
    char text[64], own[64], its[64];
    struct trace_permission known = {.capable = trace_permission_has_capability(), .yama = -1};
    size_t n = proc_file_link(own, sizeof own, "self/ns/user"),
           m = proc_file_link(its, sizeof its, "%u/ns/user", pid);
    known.of_kernel = !proc_file_link(text, sizeof text, "%u/exe", pid) && errno == ENOENT;
    known.same_user = proc_file_status(pid).user == geteuid();
    known.same_container = n && m && strcmp(own, its) == 0;
    if (proc_file_read(text, sizeof text, "sys/kernel/yama/ptrace_scope"))
        known.yama = atoi(text);
    trace_permission_text(pid, number, &known, error);
}
