/* Calls that create traced descriptors. */
#define _GNU_SOURCE
#include "clients/libpoet/poet.h"
#include "clients/libpoet/ipc/eventfds.h"
#include "clients/libpoet/ipc/fd_ends.h"
#include "clients/libpoet/ipc/ipc_entries.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

REAL(int, pipe, (int *))
REAL(int, pipe2, (int *, int))
REAL(int, socketpair, (int, int, int, int *))
REAL(int, listen, (int, int))
REAL(int, connect, (int, const struct sockaddr *, socklen_t))
REAL(int, accept, (int, struct sockaddr *, socklen_t *))
REAL(int, accept4, (int, struct sockaddr *, socklen_t *, int))
REAL(int, eventfd, (unsigned, int))
REAL(FILE *, fopen, (const char *, const char *))
REAL(FILE *, fopen64, (const char *, const char *))
REAL(int, open, (const char *, int, ...))
REAL(int, open64, (const char *, int, ...))
REAL(int, openat, (int, const char *, int, ...))
REAL(int, openat64, (int, const char *, int, ...))

API int pipe2(int fds[2], int flags)
{
    bool look = ipc_entry_is_traced(SITE);
    find_pipe2();
    int e = real_pipe2(fds, flags);
    if (e == 0 && look)
        QUIETLY(fd_end_pipe(fds));
    return e;
}

API int pipe(int fds[2])
{
    bool look = ipc_entry_is_traced(SITE);
    find_pipe();
    int e = real_pipe(fds);
    if (e == 0 && look)
        QUIETLY(fd_end_pipe(fds));
    return e;
}

API int socketpair(int domain, int type, int protocol, int fds[2])
{
    bool look = ipc_entry_is_traced(SITE) && domain == AF_UNIX && (type & 0xf) == SOCK_STREAM;
    find_socketpair();
    int e = real_socketpair(domain, type, protocol, fds);
    if (e == 0 && look)
        QUIETLY(fd_end_socketpair(fds));
    return e;
}

API int listen(int fd, int backlog)
{
    bool look = ipc_entry_is_traced(SITE);
    find_listen();
    int e = real_listen(fd, backlog);
    if (e == 0 && look)
        QUIETLY(fd_end_listen(fd));
    return e;
}

API int connect(int fd, const struct sockaddr *to, socklen_t size)
{
    bool look = ipc_entry_is_traced(SITE) && to && size >= sizeof(sa_family_t);
    if (look)
        QUIETLY(fd_end_connecting(fd, to, size));
    find_connect();
    int e = real_connect(fd, to, size);
    if (look)
        QUIETLY(fd_end_connected(fd, to, e == 0 || saved == EINPROGRESS));
    return e;
}

API int accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
{
    bool look = ipc_entry_is_traced(SITE);
    find_accept4();
    int e = real_accept4(fd, from, size, flags);
    if (e >= 0 && look)
        QUIETLY(fd_end_accepted(fd, e));
    return e;
}

API int accept(int fd, struct sockaddr *from, socklen_t *size)
{
    bool look = ipc_entry_is_traced(SITE);
    find_accept();
    int e = real_accept(fd, from, size);
    if (e >= 0 && look)
        QUIETLY(fd_end_accepted(fd, e));
    return e;
}

API int eventfd(unsigned value, int flags)
{
    bool look = ipc_entry_is_traced(SITE);
    find_eventfd();
    int fd = real_eventfd(value, flags);
    if (fd >= 0 && look)
        QUIETLY(eventfd_counter_created(fd));
    return fd;
}

/* ---- FIFOs ---- */

static int fd_creation_opened(int fd, bool look)
{
    if (fd >= 0 && look)
        QUIETLY(fd_end_fifo(fd));
    return fd;
}

#define MODE(mode, flags)                                                                          \
    mode_t mode = 0;                                                                               \
    va_list ap;                                                                                    \
    va_start(ap, flags);                                                                           \
    if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))                                          \
        mode = va_arg(ap, mode_t);                                                                 \
    va_end(ap)

API int open(const char *path, int flags, ...)
{
    MODE(mode, flags);
    find_open();
    return fd_creation_opened(real_open(path, flags, mode), ipc_entry_is_traced(SITE));
}

API int open64(const char *path, int flags, ...)
{
    MODE(mode, flags);
    find_open64();
    return fd_creation_opened(real_open64(path, flags, mode), ipc_entry_is_traced(SITE));
}

API int openat(int at, const char *path, int flags, ...)
{
    MODE(mode, flags);
    find_openat();
    return fd_creation_opened(real_openat(at, path, flags, mode), ipc_entry_is_traced(SITE));
}

API int openat64(int at, const char *path, int flags, ...)
{
    MODE(mode, flags);
    find_openat64();
    return fd_creation_opened(real_openat64(at, path, flags, mode), ipc_entry_is_traced(SITE));
}

/* Names used by compilers with -D_FORTIFY_SOURCE. */
API int __open_2(const char *path, int flags);
API int __open_2(const char *path, int flags)
{
    find_open();
    return fd_creation_opened(real_open(path, flags), ipc_entry_is_traced(SITE));
}
API int __open64_2(const char *path, int flags);
API int __open64_2(const char *path, int flags)
{
    find_open64();
    return fd_creation_opened(real_open64(path, flags), ipc_entry_is_traced(SITE));
}

/* Reads and writes by stdio are not traced. */
static FILE *fd_creation_opened_file(FILE *f, bool look)
{
    struct stat st;
    if (!f || !look)
        return f;
    QUIETLY({
        if (fileno(f) >= 0 && fstat(fileno(f), &st) == 0 && S_ISFIFO(st.st_mode)) {
            fd_end_fifo(fileno(f));
            poet_untraced("stdio reads from a FIFO");
        }
    });
    return f;
}

API FILE *fopen(const char *path, const char *mode)
{
    find_fopen();
    return fd_creation_opened_file(real_fopen(path, mode), ipc_entry_is_traced(SITE));
}

API FILE *fopen64(const char *path, const char *mode)
{
    find_fopen64();
    return fd_creation_opened_file(real_fopen64(path, mode), ipc_entry_is_traced(SITE));
}
