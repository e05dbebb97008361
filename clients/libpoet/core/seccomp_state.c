#define _GNU_SOURCE
#include "clients/libpoet/core/seccomp_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Makes bare system calls, as those of the C library may be interposed. */
static bool seccomp_filter_check(void)
{
    static const char said[] = "\nSeccomp:\t0";
    char text[3072]; /* for proc(5), smaller unless there are very many groups */
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC);
    long got = fd >= 0 ? syscall(SYS_read, fd, text, sizeof text) : -1;
    if (fd >= 0)
        syscall(SYS_close, fd);
    return got > 0 && memmem(text, (size_t)got, said, sizeof said - 1);
}

bool seccomp_filter_is_none(void)
{
    static _Atomic int known; /* 1: filtered, or not known; 2: not */
    int saved = errno, is = atomic_load_explicit(&known, memory_order_relaxed);
    if (!is) {
        is = seccomp_filter_check() ? 2 : 1;
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    errno = saved;
    return is == 2;
}
