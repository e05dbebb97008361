#define _GNU_SOURCE
#include "server/osmetrics/poll_sets.h"

#include "server/osmetrics/unix_peers.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POLL_SET_MOST 64u /* descriptors of a set that are examined */
#define POLL_SET_NESTED 2u /* epoll descriptors in epoll descriptors */
#define POLL_SET_LINK_BYTES 64u
#define POLL_SET_KERNEL_THREAD 0x200000u /* PF_KTHREAD of the kernel */

struct poll_set {
    const struct poll_wait *wait;
    /* what is known of each: "pipe:[inode]", "eventfd-id: number", "socket:[inode]", and that of
     * the socket's peer */
    char objects[POLL_SET_MOST][POLL_SET_LINK_BYTES];
    unsigned count;
};

/* ---- descriptors ---- */

static bool poll_set_read_link(int directory, const char *name, char text[POLL_SET_LINK_BYTES])
{
    ssize_t n = readlinkat(directory, name, text, POLL_SET_LINK_BYTES);
    bool whole = n > 0 && (size_t)n < POLL_SET_LINK_BYTES;
    text[whole ? n : 0] = 0;
    return whole;
}

static FILE *poll_set_open(int directory, const char *name)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && !f)
        close(fd);
    return f;
}

/* Reads by what an eventfd is the same in all processes; older kernels do not say. */
static bool poll_set_read_eventfd(int process, const char *descriptor,
                                  char text[POLL_SET_LINK_BYTES])
{
    char name[32], line[128];
    snprintf(name, sizeof name, "fdinfo/%s", descriptor);
    FILE *f = poll_set_open(process, name);
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "eventfd-id: %40[0-9]", text) == 1;
    if (f)
        fclose(f);
    return found;
}

/* Names the object of a descriptor; returns false if it is not a pipe, an eventfd or a socket. */
static bool poll_set_name_object(int process, const char *descriptor,
                                 char text[POLL_SET_LINK_BYTES])
{
    char name[32];
    snprintf(name, sizeof name, "fd/%s", descriptor);
    if (!poll_set_read_link(process, name, text))
        return false;
    return strncmp(text, "pipe:[", 6) == 0 || strncmp(text, "socket:[", 8) == 0 ||
           (strcmp(text, "anon_inode:[eventfd]") == 0 &&
            poll_set_read_eventfd(process, descriptor, text));
}

/* Returns whether a link is the same in the process and here, such as that of a name space. */
static bool poll_set_shares(int process, const char *link)
{
    char own[POLL_SET_LINK_BYTES], theirs[POLL_SET_LINK_BYTES];
    int self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool same = self >= 0 && poll_set_read_link(self, link, own) &&
                poll_set_read_link(process, link, theirs) && strcmp(own, theirs) == 0;
    if (self >= 0)
        close(self);
    return same;
}

/* Returns whether a descriptor of a process is an object of that name. */
static bool poll_set_is_open(int process, const char *object)
{
    int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    bool found = false;
    for (struct dirent *e; directory && !found && (e = readdir(directory)) != NULL;) {
        char link[POLL_SET_LINK_BYTES];
        found = *e->d_name != '.' && poll_set_read_link(dirfd(directory), e->d_name, link) &&
                strcmp(link, object) == 0;
    }
    if (directory)
        closedir(directory);
    else if (fd >= 0)
        close(fd);
    return found;
}

/* Adds the peer of a socket; returns false if the process itself does not have it. */
static bool poll_set_add_peer(struct poll_set *set, const char *name)
{
    uint32_t inode, peer = 0;
    if (set->count == POLL_SET_MOST || sscanf(name, "socket:[%" SCNu32, &inode) != 1 ||
        !poll_set_shares(set->wait->process, "ns/net") || !(peer = unix_peer_inode(inode)))
        return false;
    char *object = set->objects[set->count++];
    snprintf(object, POLL_SET_LINK_BYTES, "socket:[%" PRIu32 "]", peer);
    return poll_set_is_open(set->wait->process, object);
}

static bool poll_set_add_epoll(struct poll_set *set, int descriptor, unsigned depth);

static bool poll_set_add(struct poll_set *set, int descriptor, unsigned depth)
{
    char name[16], link[32], text[POLL_SET_LINK_BYTES];
    snprintf(name, sizeof name, "%d", descriptor);
    snprintf(link, sizeof link, "fd/%d", descriptor);
    if (poll_set_read_link(set->wait->process, link, text) &&
        strcmp(text, "anon_inode:[eventpoll]") == 0)
        return poll_set_add_epoll(set, descriptor, depth + 1);
    if (set->count == POLL_SET_MOST ||
        !poll_set_name_object(set->wait->process, name, set->objects[set->count]))
        return false;
    const char *object = set->objects[set->count++];
    return strncmp(object, "socket:[", 8) != 0 || poll_set_add_peer(set, object);
}

/* Adds what an epoll descriptor waits for: the lines "tfd: NUMBER ..." of its fdinfo. */
static bool poll_set_add_epoll(struct poll_set *set, int descriptor, unsigned depth)
{
    char name[32], line[256];
    int target;
    snprintf(name, sizeof name, "fdinfo/%d", descriptor);
    FILE *f = depth <= POLL_SET_NESTED ? poll_set_open(set->wait->process, name) : NULL;
    bool known = f != NULL;
    while (known && fgets(line, sizeof line, f))
        if (sscanf(line, "tfd: %d", &target) == 1)
            known = poll_set_add(set, target, depth);
    if (f)
        fclose(f);
    return known;
}

/* ---- calls ---- */

static bool poll_set_read_memory(const struct poll_set *set, uint64_t from, void *to, size_t bytes)
{
    int fd = openat(set->wait->process, "mem", O_RDONLY | O_CLOEXEC);
    bool read = fd >= 0 && pread(fd, to, bytes, (off_t)from) == (ssize_t)bytes;
    if (fd >= 0)
        close(fd);
    return read;
}

static bool poll_set_add_polled(struct poll_set *set, uint64_t from, uint64_t count)
{
    struct pollfd polled[POLL_SET_MOST];
    if (count > POLL_SET_MOST || !poll_set_read_memory(set, from, polled, count * sizeof *polled))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (polled[i].fd >= 0 && !poll_set_add(set, polled[i].fd, 0))
            return false;
    return true;
}

static bool poll_set_add_selected(struct poll_set *set, uint64_t limit, const uint64_t sets[3])
{
    fd_set selected;
    size_t word = 8 * sizeof(long), bytes = (limit + word - 1) / word * sizeof(long);
    for (unsigned i = 0; i < 3; i++) {
        FD_ZERO(&selected);
        if (!sets[i])
            continue;
        if (limit > FD_SETSIZE || !poll_set_read_memory(set, sets[i], &selected, bytes))
            return false;
        for (int fd = 0; fd < (int)limit; fd++)
            if (FD_ISSET(fd, &selected) && !poll_set_add(set, fd, 0))
                return false;
    }
    return true;
}

/* Adds the descriptors of a call without a timeout; returns false if there is a timeout, or not all
 * descriptors are known. */
static bool poll_set_read_call(struct poll_set *set)
{
    int64_t number;
    uint64_t a[5];
    if (sscanf(set->wait->call,
               "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &number,
               &a[0], &a[1], &a[2], &a[3], &a[4]) != 6)
        return false;
    switch (number) {
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
        return (int32_t)a[3] < 0 && poll_set_add_epoll(set, (int)a[0], 0);
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
        return !a[3] && poll_set_add_epoll(set, (int)a[0], 0);
#endif
#ifdef SYS_poll
    case SYS_poll:
        return (int32_t)a[2] < 0 && poll_set_add_polled(set, a[0], a[1]);
#endif
    case SYS_ppoll:
        return !a[2] && poll_set_add_polled(set, a[0], a[1]);
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
        return !a[4] && poll_set_add_selected(set, a[0], &a[1]);
    default:
        return false;
    }
}

/* ---- processes ---- */

/* Returns whether a signal handler may run in the process, but for those of the C library and of
 * signals that a thread causes itself. */
static bool poll_set_has_handlers(const struct poll_wait *wait)
{
    static const int own[] = {4,  5,  7,  8,
                              11, 31, 32, 33}; /* SIGILL to SIGSYS; SIGCANCEL, SIGSETXID */
    char line[256];
    uint64_t caught = UINT64_MAX;
    FILE *f = poll_set_open(wait->process, "status");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "SigCgt: %" SCNx64, &caught) == 1)
            break;
    if (f)
        fclose(f);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        caught &= ~(UINT64_C(1) << (own[i] - 1));
    return caught != 0;
}

static bool poll_set_has_other_threads(const struct poll_wait *wait)
{
    int fd = openat(wait->process, "task/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    size_t count = directory ? 0 : SIZE_MAX;
    for (struct dirent *e; directory && (e = readdir(directory)) != NULL;)
        count += *e->d_name != '.';
    if (directory)
        closedir(directory);
    else if (fd >= 0)
        close(fd);
    return count > wait->threads;
}

static bool poll_set_has(const struct poll_set *set, const char *object)
{
    for (unsigned i = 0; i < set->count; i++)
        if (strcmp(set->objects[i], object) == 0)
            return true;
    return false;
}

/* Returns whether the kernel, or a driver, may make an eventfd ready at a descriptor's behest. */
static bool poll_set_is_of_kernel(const char *link)
{
    static const char *const harmless[] = {"anon_inode:[eventfd]",
                                           "anon_inode:[eventpoll]",
                                           "anon_inode:[timerfd]",
                                           "anon_inode:[signalfd]",
                                           "anon_inode:inotify",
                                           "anon_inode:[perf_event]",
                                           "/dev/null",
                                           "/dev/zero",
                                           "/dev/full",
                                           "/dev/random",
                                           "/dev/urandom",
                                           "/dev/tty"};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strcmp(link, harmless[i]) == 0)
            return false;
    return strncmp(link, "anon_inode:", 11) == 0 ||
           (strncmp(link, "/dev/", 5) == 0 && strncmp(link, "/dev/pts/", 9) != 0 &&
            strncmp(link, "/dev/shm/", 9) != 0);
}

/* Reads when a process began, in ticks; UINT64_MAX if it has no descriptors: a thread of the
 * kernel, or a process that has exited. */
static uint64_t poll_set_start(int process)
{
    char text[1024], *end = NULL, state = 'Z';
    unsigned flags = 0;
    uint64_t start = UINT64_MAX;
    FILE *f = poll_set_open(process, "stat");
    if (f && fgets(text, sizeof text, f) && (end = strrchr(text, ')')) != NULL)
        sscanf(
            end + 1,
            " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
            &state, &flags, &start);
    if (f)
        fclose(f);
    return state == 'Z' || state == 'X' || flags & POLL_SET_KERNEL_THREAD ? UINT64_MAX : start;
}

/* Returns whether a process may have an object of the set; its own process: whether the kernel may
 * use one for it.  The descriptors of other users' processes cannot be read; those that began later
 * may have inherited some. */
static bool poll_set_is_used_by(const struct poll_set *set, int process, bool own)
{
    int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    uint64_t start = !directory && !own ? poll_set_start(process) : UINT64_MAX;
    bool uses =
        !directory && (own || (start != UINT64_MAX && start >= poll_set_start(set->wait->process)));
    for (struct dirent *e; directory && !uses && (e = readdir(directory)) != NULL;) {
        char link[POLL_SET_LINK_BYTES], object[POLL_SET_LINK_BYTES];
        if (*e->d_name == '.')
            continue;
        if (own)
            uses = poll_set_read_link(dirfd(directory), e->d_name, link) &&
                   poll_set_is_of_kernel(link);
        else
            uses = poll_set_name_object(process, e->d_name, object) && poll_set_has(set, object);
    }
    if (directory)
        closedir(directory);
    else if (fd >= 0)
        close(fd);
    return uses;
}

static bool poll_set_is_used_by_others(const struct poll_set *set)
{
    DIR *all = opendir("/proc");
    bool used = !all;
    for (struct dirent *e; all && !used && (e = readdir(all)) != NULL;) {
        int pid = atoi(e->d_name);
        if (pid <= 0 || pid == set->wait->pid)
            continue;
        int process = openat(dirfd(all), e->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        used = process >= 0 && poll_set_is_used_by(set, process, false);
        if (process >= 0)
            close(process);
    }
    if (all)
        closedir(all);
    return used;
}

bool poll_set_is_own(const struct poll_wait *wait)
{
    struct poll_set set = {.wait = wait};
    return poll_set_read_call(&set) && set.count && !poll_set_has_handlers(wait) &&
           !poll_set_has_other_threads(wait) && !poll_set_is_used_by(&set, wait->process, true) &&
           !poll_set_is_used_by_others(&set);
}
