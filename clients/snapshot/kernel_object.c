#define _GNU_SOURCE
#include "clients/snapshot/kernel_object.h"

#include "clients/snapshot/socket_peer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define DELETED " (deleted)"
#define OPERATIONS_MOST 32u /* of a call of semop that are read */

/* ---- descriptors ---- */

enum descriptor_type kernel_object_type(enum wait_kind kind)
{
    static const enum descriptor_type types[WAIT_KIND_COUNT] = {
        [WAIT_PIPE_READ] = DESCRIPTOR_PIPE,     [WAIT_PIPE_WRITE] = DESCRIPTOR_PIPE,
        [WAIT_SOCKET_READ] = DESCRIPTOR_SOCKET, [WAIT_SOCKET_WRITE] = DESCRIPTOR_SOCKET,
        [WAIT_EVENTFD] = DESCRIPTOR_EVENTFD,    [WAIT_FIFO_READ] = DESCRIPTOR_FILE,
        [WAIT_FIFO_WRITE] = DESCRIPTOR_FILE,    [WAIT_QUEUE_RECEIVE] = DESCRIPTOR_FILE,
        [WAIT_QUEUE_SEND] = DESCRIPTOR_FILE,    [WAIT_FILE_LOCK] = DESCRIPTOR_LOCK};
    return types[kind];
}

/* Sets number and name of what a descriptor refers to. */
static enum descriptor_type object_set_descriptor(struct kernel_object *o, uint32_t pid,
                                                  uint64_t descriptor)
{
    char link[PATH_MAX], info[1024];
    proc_file_link(link, sizeof link, "%u/fd/%" PRIu64, pid, descriptor);
    enum descriptor_type type = proc_text_link(link, &o->number);
    size_t length = strlen(link), end = strlen(DELETED);
    bool deleted = length > end && strcmp(link + length - end, DELETED) == 0;
    if (type == DESCRIPTOR_EVENTFD || type == DESCRIPTOR_FILE) {
        size_t size = proc_file_read(info, sizeof info, "%u/fdinfo/%" PRIu64, pid, descriptor);
        o->number = proc_text_object(info, size, type == DESCRIPTOR_EVENTFD);
    }
    o->linked = type == DESCRIPTOR_FILE && !deleted;
    if (type == DESCRIPTOR_FILE)
        snprintf(o->name, sizeof o->name, "%.*s", (int)(deleted ? length - end : length), link);
    else
        snprintf(o->name, sizeof o->name, "%s %" PRIu64,
                 type == DESCRIPTOR_PIPE     ? "pipe"
                 : type == DESCRIPTOR_SOCKET ? "socket"
                                             : "eventfd",
                 o->number);
    return o->number ? type : DESCRIPTOR_NONE;
}

static bool object_is_fifo(uint32_t pid, uint64_t descriptor)
{
    char path[64];
    struct statx is;
    snprintf(path, sizeof path, "/proc/%u/fd/%" PRIu64, pid, descriptor);
    return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &is) == 0 && S_ISFIFO(is.stx_mode);
}

/* The kernel writes to an eventfd at the end of asynchronous calls, and virtual machines do. */
static bool object_is_written_by_kernel(uint32_t pid)
{
    char path[64], *line = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    FILE *maps = fopen(path, "re");
    while (maps && !found && getline(&line, &room, maps) > 0)
        found = strstr(line, "/[aio]") || strstr(line, "[io_uring]") || strstr(line, "/dev/");
    free(line);
    if (maps)
        fclose(maps);
    return found || !maps;
}

/* Bytes from or to a descriptor. */
static void object_set_stream(struct kernel_object *o, uint32_t pid, uint64_t descriptor,
                              bool reads)
{
    switch (object_set_descriptor(o, pid, descriptor)) {
    case DESCRIPTOR_PIPE:
        o->kind = reads ? WAIT_PIPE_READ : WAIT_PIPE_WRITE;
        break;
    case DESCRIPTOR_SOCKET: {
        struct socket_peer peer = socket_peer_find(pid, descriptor, o->number, reads);
        o->kind = reads ? WAIT_SOCKET_READ : WAIT_SOCKET_WRITE;
        o->far = peer.inode;
        o->timed = peer.timed;
        o->open = peer.open;
        break;
    }
    case DESCRIPTOR_EVENTFD:
        o->kind = reads ? WAIT_EVENTFD : WAIT_NONE;
        o->open = object_is_written_by_kernel(pid);
        break;
    case DESCRIPTOR_FILE:
        if (object_is_fifo(pid, descriptor))
            o->kind = reads ? WAIT_FIFO_READ : WAIT_FIFO_WRITE;
        break;
    default:
        break;
    }
}

/* ---- locks of files ---- */

/* Sets the lock that is in the way of a process's request; open if several could be. A request of
 * an open file description has no process. */
static void object_set_lock(struct kernel_object *o, uint32_t pid)
{
    char *line = NULL;
    size_t room = 0;
    uint64_t holder = 0;
    FILE *locks = fopen("/proc/locks", "re");
    o->open = !locks;
    while (locks && getline(&line, &room, locks) > 0) {
        uint64_t inode = 0;
        bool waits = false;
        int64_t by = 0;
        uint64_t hash = proc_text_lock(line, &inode, &waits, &by);
        if (!waits)
            holder = hash;
        if (!waits || inode != o->number || (by != pid && by != -1))
            continue;
        o->open |= o->far && o->far != holder;
        o->far = holder;
    }
    free(line);
    if (locks)
        fclose(locks);
}

/* ---- the memory of the process ---- */

static bool object_read_memory(uint32_t pid, uint64_t address, void *to, size_t size)
{
    struct iovec own = {to, size}, its = {(void *)(uintptr_t)address, size};
    return process_vm_readv((pid_t)pid, &own, 1, &its, 1, 0) == (ssize_t)size;
}

/* open waits for the other end of a FIFO. */
static void object_set_open(struct kernel_object *o, uint32_t pid, uint64_t directory,
                            uint64_t address, uint64_t flags)
{
    char path[KERNEL_OBJECT_NAME], file[sizeof path + 64];
    struct statx is;
    size_t n = 0;
    while (n + 1 < sizeof path && object_read_memory(pid, address + n, path + n, 1) && path[n])
        n++;
    path[n] = 0;
    if (!n || (*path != '/' && (int32_t)directory != AT_FDCWD))
        return;
    snprintf(file, sizeof file, "/proc/%u/%s/%s", pid, *path == '/' ? "root" : "cwd", path);
    if (statx(AT_FDCWD, file, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &is) != 0 ||
        !S_ISFIFO(is.stx_mode))
        return;
    o->kind = (flags & O_ACCMODE) == O_WRONLY ? WAIT_OPEN_WRITE : WAIT_OPEN_READ;
    o->number = is.stx_ino;
    o->open = true;
    snprintf(o->name, sizeof o->name, "%s", path);
}

/* ---- System V ---- */

/* Returns whether identifiers of a process are those of this one. */
static bool object_shares_identifiers(uint32_t pid)
{
    char own[64], its[64];
    return proc_file_link(own, sizeof own, "self/ns/ipc") &&
           proc_file_link(its, sizeof its, "%u/ns/ipc", pid) && strcmp(own, its) == 0;
}

/* Finds the first operation that has to wait. */
static void object_set_semaphore(struct kernel_object *o, uint32_t pid, const uint64_t *a)
{
    struct sembuf operations[OPERATIONS_MOST];
    size_t count = a[2] < OPERATIONS_MOST ? a[2] : OPERATIONS_MOST;
    int set = (int)a[0];
    if (!object_shares_identifiers(pid) ||
        !object_read_memory(pid, a[1], operations, count * sizeof *operations))
        return;
    for (size_t i = 0; i < count && !o->kind; i++) {
        int number = operations[i].sem_num, value = semctl(set, number, GETVAL);
        if (value < 0 || (operations[i].sem_op ? value + operations[i].sem_op >= 0 : !value))
            continue;
        o->kind = WAIT_SET_SEMAPHORE;
        o->number = (uint64_t)a[0] << 16 | (uint64_t)number;
        o->open = true;
        snprintf(o->name, sizeof o->name, "semaphore %d of set %d", number, set);
        int last = semctl(set, number, GETPID);
        snprintf(o->fact, sizeof o->fact, "its value is %d; last changed by process %d", value,
                 last);
    }
}

static void object_set_messages(struct kernel_object *o, uint32_t pid, const uint64_t *a,
                                bool receives)
{
    struct msqid_ds is;
    int64_t type = (int64_t)a[3];
    if (!object_shares_identifiers(pid) || msgctl((int)a[0], IPC_STAT, &is) != 0)
        return;
    o->kind = receives ? WAIT_MESSAGE_RECEIVE : WAIT_MESSAGE_SEND;
    o->number = a[0];
    o->open = true;
    snprintf(o->name, sizeof o->name, "queue %d (System V)", (int)a[0]);
    if (receives && type && is.msg_qnum)
        snprintf(o->fact, sizeof o->fact,
                 "for a message of type %" PRId64
                 "; it has %lu of other types, last sent by process %d",
                 type, (unsigned long)is.msg_qnum, (int)is.msg_lspid);
    else
        snprintf(o->fact, sizeof o->fact, "it has %lu messages; last %s process %d",
                 (unsigned long)is.msg_qnum, receives ? "sent by" : "received by",
                 (int)(receives ? is.msg_lspid : is.msg_lrpid));
}

/* ---- calls ---- */

/* Returns the process that is awaited: -1: that of any child; 0: of some. */
static int64_t object_awaited_child(const struct system_call *call)
{
    const uint64_t *a = call->arguments;
    if (call->number == SYS_wait4)
        return (int32_t)a[0] > 0 || (int32_t)a[0] == -1 ? (int32_t)a[0] : 0;
    return (int32_t)a[0] == P_PID ? (int32_t)a[1] : (int32_t)a[0] == P_ALL ? -1 : 0;
}

static void object_set_queue(struct kernel_object *o, uint32_t pid, const uint64_t *a,
                             enum wait_kind kind)
{
    if (object_set_descriptor(o, pid, a[0]) == DESCRIPTOR_FILE)
        o->kind = kind;
    o->timed = a[4] != 0;
}

static void object_set_file_lock(struct kernel_object *o, uint32_t pid, const uint64_t *a)
{
    if (object_set_descriptor(o, pid, a[0]) != DESCRIPTOR_FILE)
        return;
    o->kind = WAIT_FILE_LOCK;
    o->linked = false; /* (to open the file does not end the wait) */
    object_set_lock(o, pid);
}

struct kernel_object kernel_object_of(uint32_t pid, const struct system_call *call)
{
    struct kernel_object o = {.kind = WAIT_NONE};
    const uint64_t *a = call->arguments;
    switch (call->number) {
    case SYS_wait4:
    case SYS_waitid:
        o.kind = WAIT_CHILD;
        o.number = (uint64_t)object_awaited_child(call);
        break;
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
        object_set_stream(&o, pid, a[0], true);
        break;
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
        object_set_stream(&o, pid, a[0], false);
        break;
    case SYS_mq_timedreceive:
        object_set_queue(&o, pid, a, WAIT_QUEUE_RECEIVE);
        break;
    case SYS_mq_timedsend:
        object_set_queue(&o, pid, a, WAIT_QUEUE_SEND);
        break;
    case SYS_flock:
        object_set_file_lock(&o, pid, a);
        break;
    case SYS_fcntl:
        if ((int)a[1] == F_SETLKW || (int)a[1] == F_OFD_SETLKW)
            object_set_file_lock(&o, pid, a);
        break;
#ifdef SYS_open
    case SYS_open:
        object_set_open(&o, pid, (uint64_t)AT_FDCWD, a[0], a[1]);
        break;
#endif
    case SYS_openat:
        object_set_open(&o, pid, a[0], a[1], a[2]);
        break;
#ifdef SYS_semop
    case SYS_semop:
        object_set_semaphore(&o, pid, a);
        break;
#endif
    case SYS_semtimedop:
        object_set_semaphore(&o, pid, a);
        o.timed = o.kind && a[3];
        break;
    case SYS_msgrcv:
        object_set_messages(&o, pid, a, true);
        break;
    case SYS_msgsnd:
        object_set_messages(&o, pid, a, false);
        break;
    default:
        break;
    }
    return o;
}
