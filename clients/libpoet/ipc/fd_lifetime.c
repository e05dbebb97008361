/* Lifetime of traced descriptors: calls that create and close them. */
#define _GNU_SOURCE
#include "clients/libpoet/ipc/byte_streams.h"
#include "clients/libpoet/ipc/fd_ends.h"
#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/ipc/ipc_tracer.h"
#include "clients/libpoet/ipc/tcp_peers.h"
#include "clients/libpoet/poet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

static int fd_creation_opened(const struct fifo_opening *opening, int fd)
{
    if (opening->line || (fd >= 0 && ipc_entry_is_traced(opening->site)))
        QUIETLY(fd_end_end_opening(opening, fd); if (fd >= 0) fd_end_fifo(fd));
    return fd;
}

#define OPEN(at, path, flags, call)                                                                \
    struct fifo_opening opening;                                                                   \
    fd_end_begin_opening(&opening, at, path, flags, SITE);                                         \
    return fd_creation_opened(&opening, call)

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
    OPEN(AT_FDCWD, path, flags, real_open(path, flags, mode));
}

API int open64(const char *path, int flags, ...)
{
    MODE(mode, flags);
    find_open64();
    OPEN(AT_FDCWD, path, flags, real_open64(path, flags, mode));
}

API int openat(int at, const char *path, int flags, ...)
{
    MODE(mode, flags);
    find_openat();
    OPEN(at, path, flags, real_openat(at, path, flags, mode));
}

API int openat64(int at, const char *path, int flags, ...)
{
    MODE(mode, flags);
    find_openat64();
    OPEN(at, path, flags, real_openat64(at, path, flags, mode));
}

/* Names used by compilers with -D_FORTIFY_SOURCE. */
API int __open_2(const char *path, int flags);
API int __open_2(const char *path, int flags)
{
    find_open();
    OPEN(AT_FDCWD, path, flags, real_open(path, flags));
}
API int __open64_2(const char *path, int flags);
API int __open64_2(const char *path, int flags)
{
    find_open64();
    OPEN(AT_FDCWD, path, flags, real_open64(path, flags));
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

/* ---- closing ----
 *
 * The thread that finds the end of a stream comes after every closing of a writing end; and file
 * locks are released. */

REAL(int, close, (int))
REAL(int, dup, (int))
REAL(int, dup2, (int, int))
REAL(int, dup3, (int, int, int))
REAL(int, shutdown, (int, int))
REAL(int, close_range, (unsigned, unsigned, int))
REAL(void, closefrom, (int))
REAL(int, fclose, (FILE *))
REAL(int, pclose, (FILE *))
REAL(int, execve, (const char *, char *const *, char *const *))
REAL(int, execv, (const char *, char *const *))
REAL(int, execvp, (const char *, char *const *))
REAL(int, execvpe, (const char *, char *const *, char *const *))
REAL(int, fexecve, (int, char *const *, char *const *))
REAL(void, _exit, (int))
REAL(void, _Exit, (int))

/* Returns true if it is a connection to another machine, of which more must be recorded after the
 * close. */
static bool fd_close_shut(int fd, const struct stat *st, struct tcp_peer *peer, const void *site)
{
    struct fd_end end = fd_end_of_status(fd, st, true);
    if (end.kind == FD_END_TCP && tcp_peer_find(fd, &end, peer)) {
        tcp_peer_shut(fd, peer, site);
        return true;
    }
    if (end.kind == FD_END_STREAM) {
        struct ipc_stream s = stream_find(end.key);
        stream_shut(&s, site);
    }
    return false;
}

static bool fd_close_end_one(int fd, struct tcp_peer *peer, const void *site)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return false;
    bool is_tcp = fd_end_writes(fd, &st) && fd_close_shut(fd, &st, peer, site);
    file_locks_closing(fd, &st, site);
    return is_tcp;
}

static void fd_close_end(int fd, const void *site)
{
    struct tcp_peer peer;
    fd_close_end_one(fd, &peer, site);
}

/* Called before the close, since other processes may notice it at once; sets what must be recorded
 * afterwards. */
static bool fd_close_quietly(int fd, struct tcp_peer *peer, const void *site)
{
    bool is_tcp = false;
    if (ipc_entry_is_traced(site) && ipc_entry_is_own_process())
        QUIETLY(is_tcp = fd_close_end_one(fd, peer, site));
    return is_tcp;
}

#define CLOSE(fd, result, call)                                                                    \
    struct tcp_peer peer;                                                                          \
    bool is_tcp = fd_close_quietly(fd, &peer, SITE);                                               \
    result e = call;                                                                               \
    if (is_tcp)                                                                                    \
        QUIETLY(tcp_peer_closed(&peer));                                                           \
    return e

API int close(int fd)
{
    find_close();
    CLOSE(fd, int, real_close(fd));
}

/* A pipe that becomes standard input may be read by C's stdio, which is not traced. */
static void fd_close_check_stdin(int from, int to)
{
    if (to == STDIN_FILENO && poet_recorded() &&
        stream_find(fd_end_find(from, false).key).state != STREAM_UNKNOWN)
        poet_untraced("stdio reads from a pipe or socket");
}

static bool fd_close_replace(int from, int to, struct tcp_peer *peer, const void *site)
{
    bool is_tcp = false;
    if (from == to || !ipc_entry_is_traced(site) || !ipc_entry_is_own_process() ||
        fcntl(from, F_GETFD) < 0)
        return false;
    QUIETLY(is_tcp = fd_close_end_one(to, peer, site));
    QUIETLY(fd_close_check_stdin(from, to));
    return is_tcp;
}

/* peer: what `to` was until then; NULL: nothing more must be recorded. */
static int fd_close_duplicated(int from, int to, const struct tcp_peer *peer)
{
    if (peer)
        QUIETLY(tcp_peer_closed(peer));
    if (to >= 0 && to != from && !ipc_inside_library && ipc_entry_is_own_process())
        QUIETLY(file_locks_duplicated(from, to));
    return to;
}

API int dup(int fd)
{
    find_dup();
    return fd_close_duplicated(fd, real_dup(fd), NULL);
}

API int dup2(int from, int to)
{
    struct tcp_peer peer;
    find_dup2();
    bool is_tcp = fd_close_replace(from, to, &peer, SITE);
    return fd_close_duplicated(from, real_dup2(from, to), is_tcp ? &peer : NULL);
}

API int dup3(int from, int to, int flags)
{
    struct tcp_peer peer;
    find_dup3();
    bool is_tcp = fd_close_replace(from, to, &peer, SITE);
    return fd_close_duplicated(from, real_dup3(from, to, flags), is_tcp ? &peer : NULL);
}

static bool fd_close_shutdown(int fd, struct tcp_peer *peer, const void *site)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) && fd_close_shut(fd, &st, peer, site);
}

API int shutdown(int fd, int how)
{
    struct tcp_peer peer;
    bool is_tcp = false;
    find_shutdown();
    if (how != SHUT_RD && ipc_entry_is_traced(SITE) && ipc_entry_is_own_process())
        QUIETLY(is_tcp = fd_close_shutdown(fd, &peer, SITE));
    int e = real_shutdown(fd, how);
    if (is_tcp && e == 0)
        QUIETLY(tcp_peer_shut_down(&peer));
    return e;
}

/* Returns -1 for NULL, which a program may pass although the functions below must not get it. */
static int fd_close_number(FILE *f) { return f ? fileno(f) : -1; }

API int fclose(FILE *f)
{
    find_fclose();
    CLOSE(fd_close_number(f), int, real_fclose(f));
}

API int pclose(FILE *f)
{
    find_pclose();
    CLOSE(fd_close_number(f), int, real_pclose(f));
}

/* ---- many at once ---- */

struct directory_entry { /* getdents64(2) */
    uint64_t inode;
    int64_t offset;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

/* What happens to each descriptor: it is closed in this thread's order; or it is not known when, or
 * whether. */
typedef void fate(int fd, const void *site);

static void fd_close_leave(int fd, const void *site)
{
    struct stat st;
    (void)site;
    if (fstat(fd, &st) != 0 || !fd_end_writes(fd, &st))
        return;
    struct ipc_stream s = stream_find(fd_end_of_status(fd, &st, true).key);
    stream_left(&s);
}

/* Does not use opendir, which allocates: _exit may be called by a signal handler. */
static void fd_close_each_open(fate *met, unsigned first, unsigned last, bool executing,
                               const void *site)
{
    _Alignas(struct directory_entry) char buffer[1024];
    int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long n;
         directory >= 0 && (n = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0;)
        for (long at = 0; at < n;) {
            const struct directory_entry *e = (const void *)(buffer + at);
            at += e->bytes;
            int fd = atoi(e->name);
            if (*e->name != '.' && fd != directory && (unsigned)fd >= first &&
                (unsigned)fd <= last && (!executing || fcntl(fd, F_GETFD) & FD_CLOEXEC))
                met(fd, site);
        }
    if (directory >= 0)
        close(directory);
}

/* Descriptors that other processes may have, too. */
static void fd_close_inherited(int fd, const void *site)
{
    struct stat st;
    (void)site;
    if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
        tcp_peer_forked();
}

void fd_close_init(void) { fd_close_each_open(fd_close_inherited, 0, ~0u, false, NULL); }

static void fd_close_end_range(unsigned first, unsigned last, const void *site)
{
    fd_close_each_open(fd_close_end, first, last, false, site);
}

API int close_range(unsigned first, unsigned last, int flags)
{
    find_close_range();
    if (!(flags & 4 /* CLOSE_RANGE_CLOEXEC */) && ipc_entry_is_traced(SITE) &&
        ipc_entry_is_own_process())
        QUIETLY(fd_close_end_range(first, last, SITE));
    return real_close_range(first, last, flags);
}

API void closefrom(int first)
{
    find_closefrom();
    if (ipc_entry_is_traced(SITE) && ipc_entry_is_own_process())
        QUIETLY(fd_close_end_range(first > 0 ? (unsigned)first : 0, ~0u, SITE));
    real_closefrom(first);
}

/* ---- another program, and the end ----
 *
 * libpoet interposes these calls, too, and comes first. */

static const void *fd_close_entry_site(void) { return (const void *)getauxval(AT_ENTRY); }

static bool fd_close_is_recorded(void)
{
    return !ipc_inside_library && ipc_entry_is_own_process() && poet_recorded();
}

static void fd_close_exit_one(int fd, const void *site)
{
    struct tcp_peer peer;
    if (fd_close_end_one(fd, &peer, site))
        tcp_peer_exits(&peer);
}

static void fd_close_exit_all(void)
{
    fd_close_each_open(fd_close_exit_one, 0, ~0u, false, fd_close_entry_site());
    file_locks_end(fd_close_entry_site());
}

static bool fd_close_is_single_threaded(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink <= 3;
}

/* Closes what is not inherited across exec. If exec fails, the descriptors stay open: a single
 * thread records their closing again, later; with several threads another one may close them in an
 * order of its own, so that nothing can be recorded. */
static void fd_close_before_exec(void)
{
    if (fd_close_is_recorded())
        QUIETLY(fd_close_each_open(fd_close_is_single_threaded() ? fd_close_end : fd_close_leave, 0,
                                   ~0u, true, fd_close_entry_site()));
}

/* For a child that has recorded nothing: it has no event that others could come after. */
static void fd_close_leave_all(void)
{
    if (poet_counter(1, false))
        fd_close_each_open(fd_close_leave, 0, ~0u, false, NULL);
}

API int execve(const char *path, char *const *arguments, char *const *environment)
{
    find_execve();
    fd_close_before_exec();
    return real_execve(path, arguments, environment);
}

API int execv(const char *path, char *const *arguments)
{
    find_execv();
    fd_close_before_exec();
    return real_execv(path, arguments);
}

API int execvp(const char *file, char *const *arguments)
{
    find_execvp();
    fd_close_before_exec();
    return real_execvp(file, arguments);
}

API int execvpe(const char *file, char *const *arguments, char *const *environment)
{
    find_execvpe();
    fd_close_before_exec();
    return real_execvpe(file, arguments, environment);
}

API int fexecve(int fd, char *const *arguments, char *const *environment)
{
    find_fexecve();
    fd_close_before_exec();
    return real_fexecve(fd, arguments, environment);
}

static void fd_close_exit_at_once(void)
{
    if (fd_close_is_recorded())
        QUIETLY(fd_close_exit_all());
    else if (!ipc_inside_library && ipc_entry_is_own_process())
        QUIETLY(fd_close_leave_all());
}

API _Noreturn void _exit(int status)
{
    find__exit();
    fd_close_exit_at_once();
    real__exit(status);
    __builtin_unreachable();
}

API _Noreturn void _Exit(int status)
{
    find__Exit();
    fd_close_exit_at_once();
    real__Exit(status);
    __builtin_unreachable();
}

/* Runs before libpoet's destructor, which this one needs. */
__attribute__((destructor)) static void fd_close_stop(void) { fd_close_exit_at_once(); }
