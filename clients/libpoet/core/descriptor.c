/* Numbers of libpoet's own descriptors. The limit RLIMIT_NOFILE applies to a number only when it is
 * opened, so that a descriptor beyond it uses none of the program's. */
#define _GNU_SOURCE
#include "clients/libpoet/core/descriptor.h"

#include "clients/libpoet/core/seccomp_allowed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int server_connection_move_fd(int fd, int least)
{
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, least);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* Beyond the numbers of programs that rely on low ones. */
#define DESCRIPTOR_HIGH 512
/* The kernel's table has an entry for each number up to the highest, which each fork copies. */
#define DESCRIPTOR_HIGHEST 4096

/* As in the kernel (prlimit64(2)), whatever the C library's is. */
struct descriptor_limits {
    uint64_t now, most;
};

#define DESCRIPTOR_LIMITS 7 /* RLIMIT_NOFILE */

static bool descriptor_limits(const struct descriptor_limits *set, struct descriptor_limits *were)
{
    return syscall(SYS_prlimit64, 0, DESCRIPTOR_LIMITS, set, were) == 0;
}

/* Returns whether no other thread could open files meanwhile, or change the limit. proc(5) has a
 * directory for each. */
static bool descriptor_alone(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink == 3;
}

/* In a child its parent's descriptor is there, too. */
#define DESCRIPTOR_ROOM 16

static bool descriptor_raise(const struct descriptor_limits *were)
{
    uint64_t now = were->now + DESCRIPTOR_ROOM, most = were->most;
    if (descriptor_limits(&(struct descriptor_limits){now, most > now ? most : now}, NULL))
        return true;
    return most > were->now && descriptor_limits(&(struct descriptor_limits){most, most}, NULL);
}

/* Moves the descriptor beyond the limit, which is raised for one call, with no other thread and no
 * signal handled. */
static int descriptor_beyond(int fd)
{
    struct descriptor_limits were;
    if (!descriptor_limits(NULL, &were) || were.now < 3 || were.now > DESCRIPTOR_HIGHEST ||
        !descriptor_alone())
        return fd;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    if (descriptor_raise(&were)) {
        fd = server_connection_move_fd(fd, (int)were.now);
        descriptor_limits(&were, NULL);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return fd;
}

int descriptor_aside(int fd)
{
    int saved = errno;
    if (fd >= 0 && seccomp_filter_is_none() && seccomp_allows(ALLOWED_LIMITS))
        fd = descriptor_beyond(fd);
    if (fd >= 0 && fd < DESCRIPTOR_HIGH)
        fd = server_connection_move_fd(fd, DESCRIPTOR_HIGH);
    errno = saved;
    return fd;
}
