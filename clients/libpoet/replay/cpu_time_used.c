#define _GNU_SOURCE
#include "clients/libpoet/replay/cpu_time_used.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_BYTES 256u

/* (proc(5); direct system calls, so that they are not recorded) */
static bool cpu_time_read_file(uint32_t process, uint32_t id, const char *name,
                               char text[FILE_BYTES])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task/%u/%s", process, id, name);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long n = fd < 0 ? -1 : syscall(SYS_read, fd, text, FILE_BYTES - 1);
    if (fd >= 0)
        syscall(SYS_close, fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* The name, in parentheses, may contain parentheses. */
static bool cpu_time_is_running(const char *stat)
{
    const char *name_end = strrchr(stat, ')');
    return name_end && strncmp(name_end, ") R", 3) == 0;
}

static uint64_t cpu_time_min(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t cpu_time_since(struct cpu_time_sample *slow, uint32_t process, uint32_t id,
                               uint64_t elapsed_ns)
{
    char text[FILE_BYTES];
    unsigned long long ran, queued;
    struct cpu_time_sample before = *slow;
    if (!cpu_time_read_file(process, id, "schedstat", text) ||
        sscanf(text, "%llu %llu", &ran, &queued) != 2 ||
        !cpu_time_read_file(process, id, "stat", text))
        return elapsed_ns;
    *slow = (struct cpu_time_sample){process, id, ran, queued};
    if (before.process != process || before.id != id)
        return elapsed_ns;
    if (cpu_time_is_running(text)) /* (its CPU, of a virtual machine, may not run) */
        return cpu_time_min(elapsed_ns, ran - before.ran_ns);
    return elapsed_ns - cpu_time_min(elapsed_ns, queued - before.queued_ns);
}

uint64_t cpu_time_used(struct cpu_time_sample *slow, uint32_t process, uint32_t id,
                       uint64_t elapsed_ns)
{
    int saved = errno;
    uint64_t is = cpu_time_since(slow, process, id, elapsed_ns);
    errno = saved;
    return is;
}
