#define _GNU_SOURCE
#include "clients/trace/replay/slow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_BYTES 256u

/* (proc(5); bare calls: nobody is to hear of these) */
static bool read_file(uint32_t process, uint32_t id, const char *name, char text[FILE_BYTES])
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

/* Its name, in parentheses, may have any in it. */
static bool is_running(const char *stat)
{
    const char *name_end = strrchr(stat, ')');
    return name_end && strncmp(name_end, ") R", 3) == 0;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t used(struct slow *slow, uint32_t process, uint32_t id, uint64_t elapsed_ns)
{
    char text[FILE_BYTES];
    unsigned long long ran, queued;
    struct slow before = *slow;
    if (!read_file(process, id, "schedstat", text) ||
        sscanf(text, "%llu %llu", &ran, &queued) != 2 || !read_file(process, id, "stat", text))
        return elapsed_ns;
    *slow = (struct slow){process, id, ran, queued};
    if (before.process != process || before.id != id)
        return elapsed_ns;
    if (is_running(text)) /* (its processor, of a virtual machine, may not run) */
        return least(elapsed_ns, ran - before.ran_ns);
    return elapsed_ns - least(elapsed_ns, queued - before.queued_ns);
}

uint64_t slow_used(struct slow *slow, uint32_t process, uint32_t id, uint64_t elapsed_ns)
{
    int saved = errno;
    uint64_t is = used(slow, process, id, elapsed_ns);
    errno = saved;
    return is;
}
