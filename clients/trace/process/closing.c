/* Where descriptors are given up: whoever finds the end of a stream comes after every closing of an end that
 * writes; and file locks are given back. */
#define _GNU_SOURCE
#include "clients/trace/poet.h"
#include "clients/trace/process/ends.h"
#include "clients/trace/process/entry.h"
#include "clients/trace/process/locks.h"
#include "clients/trace/process/streams.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static void closing(int fd, const void *site)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return;
    if (end_writes(fd, &st)) {
        struct stream s = stream_find(end_of_status(fd, &st, true));
        stream_shut(&s, site);
    }
    locks_closing(fd, &st, site);
}

/* Before the call, since others may find out at once. */
static void close_quietly(int fd, const void *site)
{
    if (looks(site) && is_own_process())
        QUIETLY(closing(fd, site));
}

API int close(int fd)
{
    find_close();
    close_quietly(fd, SITE);
    return real_close(fd);
}

/* A pipe that becomes standard input is read by C's stdio perhaps, which nobody sees. */
static void becomes(int from, int to)
{
    if (to == STDIN_FILENO && poet_recorded() &&
        stream_find(end_find(from, false).key).state != STREAM_UNKNOWN)
        poet_unseen("what C's stdio reads from a pipe or socket");
}

static void replacing(int from, int to, const void *site)
{
    if (from == to || !looks(site) || !is_own_process() || fcntl(from, F_GETFD) < 0)
        return;
    QUIETLY(closing(to, site));
    QUIETLY(becomes(from, to));
}

static int duplicated(int from, int to)
{
    if (to >= 0 && to != from && !inside && is_own_process())
        QUIETLY(locks_duplicated(from, to));
    return to;
}

API int dup(int fd)
{
    find_dup();
    return duplicated(fd, real_dup(fd));
}

API int dup2(int from, int to)
{
    find_dup2();
    replacing(from, to, SITE);
    return duplicated(from, real_dup2(from, to));
}

API int dup3(int from, int to, int flags)
{
    find_dup3();
    replacing(from, to, SITE);
    return duplicated(from, real_dup3(from, to, flags));
}

static void shutting(int fd, const void *site)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode))
        return;
    struct stream s = stream_find(end_of_status(fd, &st, true));
    stream_shut(&s, site);
}

API int shutdown(int fd, int how)
{
    find_shutdown();
    if (how != SHUT_RD && looks(SITE) && is_own_process())
        QUIETLY(shutting(fd, SITE));
    return real_shutdown(fd, how);
}

API int fclose(FILE *f)
{
    find_fclose();
    if (f)
        close_quietly(fileno(f), SITE);
    return real_fclose(f);
}

API int pclose(FILE *f)
{
    find_pclose();
    if (f)
        close_quietly(fileno(f), SITE);
    return real_pclose(f);
}

/* ---- many at once ---- */

struct entry { /* getdents64(2) */
    uint64_t inode;
    int64_t offset;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

/* What becomes of each: it is closed in this thread's order; or it is not known when, or whether. */
typedef void fate(int fd, const void *site);

static void leaving(int fd, const void *site)
{
    struct stat st;
    (void)site;
    if (fstat(fd, &st) != 0 || !end_writes(fd, &st))
        return;
    struct stream s = stream_find(end_of_status(fd, &st, true));
    stream_left(&s);
}

/* Without opendir, which allocates: _exit may be called by a signal handler. */
static void each_open(fate *met, unsigned first, unsigned last, bool executing, const void *site)
{
    _Alignas(struct entry) char buffer[1024];
    int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long n;
         directory >= 0 && (n = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0;)
        for (long at = 0; at < n;) {
            const struct entry *e = (const void *)(buffer + at);
            at += e->bytes;
            int fd = atoi(e->name);
            if (*e->name != '.' && fd != directory && (unsigned)fd >= first &&
                (unsigned)fd <= last && (!executing || fcntl(fd, F_GETFD) & FD_CLOEXEC))
                met(fd, site);
        }
    if (directory >= 0)
        close(directory);
}

static void closing_all(unsigned first, unsigned last, const void *site)
{
    each_open(closing, first, last, false, site);
}

API int close_range(unsigned first, unsigned last, int flags)
{
    find_close_range();
    if (!(flags & 4 /* CLOSE_RANGE_CLOEXEC */) && looks(SITE) && is_own_process())
        QUIETLY(closing_all(first, last, SITE));
    return real_close_range(first, last, flags);
}

API void closefrom(int first)
{
    find_closefrom();
    if (looks(SITE) && is_own_process())
        QUIETLY(closing_all(first > 0 ? (unsigned)first : 0, ~0u, SITE));
    real_closefrom(first);
}

/* ---- another program, and the end ----
 *
 * libpoet stands before these calls, too, and before us. */

static const void *entry(void) { return (const void *)getauxval(AT_ENTRY); }

static bool is_told(void) { return !inside && is_own_process() && poet_recorded(); }

static void ending(void)
{
    closing_all(0, ~0u, entry());
    locks_end(entry());
}

static bool is_alone(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink <= 3;
}

/* What it does not hand on.  Where it fails they stay open: a thread that is alone tells their closing again,
 * later; but of several another one may close them in an order of its own, so that nothing can be told. */
static void executing(void)
{
    if (is_told())
        QUIETLY(each_open(is_alone() ? closing : leaving, 0, ~0u, true, entry()));
}

/* A child that has recorded nothing: it has no event that others could come after. */
static void leaving_all(void)
{
    if (poet_counter(1, false))
        each_open(leaving, 0, ~0u, false, NULL);
}

API int execve(const char *path, char *const *arguments, char *const *environment)
{
    find_execve();
    executing();
    return real_execve(path, arguments, environment);
}

API int execv(const char *path, char *const *arguments)
{
    find_execv();
    executing();
    return real_execv(path, arguments);
}

API int execvp(const char *file, char *const *arguments)
{
    find_execvp();
    executing();
    return real_execvp(file, arguments);
}

API int execvpe(const char *file, char *const *arguments, char *const *environment)
{
    find_execvpe();
    executing();
    return real_execvpe(file, arguments, environment);
}

API int fexecve(int fd, char *const *arguments, char *const *environment)
{
    find_fexecve();
    executing();
    return real_fexecve(fd, arguments, environment);
}

static void end_at_once(void)
{
    if (is_told())
        QUIETLY(ending());
    else if (!inside && is_own_process())
        QUIETLY(leaving_all());
}

API _Noreturn void _exit(int status)
{
    find__exit();
    end_at_once();
    real__exit(status);
    __builtin_unreachable();
}

API _Noreturn void _Exit(int status)
{
    find__Exit();
    end_at_once();
    real__Exit(status);
    __builtin_unreachable();
}

/* Before libpoet's, which this one needs. */
__attribute__((destructor)) static void stop(void) { end_at_once(); }
