/* Calls that execute another program, start one, or end the process. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/child_process.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/child_preload.h"
#include "clients/libpoet/core/thread.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#undef UNTRACED_SITE
#define UNTRACED_SITE site_of_program

/* ---- another program ---- */

extern char **__environ;

/* Executes it with those preloaded libraries that it supports. */
static int exec_call_replace_program(const char *path, char *const *v, char *const *e,
                                     bool anywhere)
{
    struct child_preload_change change;
    if (!(anywhere ? child_preload_check_in_path : child_preload_check)(path, e, &change))
        return anywhere ? real_functions.execvpe(path, v, e) : real_functions.execve(path, v, e);
    char **changed = child_preload_write(&change, __builtin_alloca(change.bytes));
    return anywhere ? real_functions.execvpe(path, v, changed)
                    : real_functions.execve(path, v, changed);
}

ENTRY(int, execve, (const char *path, char *const *v, char *const *e), path, v, e)
{
    real_find();
    struct exec_attempt b = child_exec_begin(site);
    return child_exec_failed(b, exec_call_replace_program(path, v, e, false));
}

ENTRY(int, execv, (const char *path, char *const *v), path, v)
{
    real_find();
    struct exec_attempt b = child_exec_begin(site);
    return child_exec_failed(b, exec_call_replace_program(path, v, __environ, false));
}

ENTRY(int, execvp, (const char *file, char *const *v), file, v)
{
    real_find();
    struct exec_attempt b = child_exec_begin(site);
    return child_exec_failed(b, exec_call_replace_program(file, v, __environ, true));
}

ENTRY(int, execvpe, (const char *file, char *const *v, char *const *e), file, v, e)
{
    real_find();
    struct exec_attempt b = child_exec_begin(site);
    return child_exec_failed(b, exec_call_replace_program(file, v, e, true));
}

ENTRY(int, fexecve, (int fd, char *const *v, char *const *e), fd, v, e)
{
    real_find();
    struct exec_attempt b = child_exec_begin(site);
    struct child_preload_change change;
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (child_preload_check(path, e, &change))
        e = child_preload_write(&change, __builtin_alloca(change.bytes));
    return child_exec_failed(b, real_functions.fexecve(fd, v, e));
}

/* The arguments are variadic. */
#define EXECL(...) EXECL_AS(__VA_ARGS__)
#define EXECL_AS(name, its_site, has_environment, call)                                            \
    __attribute__((visibility("default"))) int name(const char *, const char *, ...);              \
    int name(const char *path, const char *first, ...)                                             \
    {                                                                                              \
        va_list more;                                                                              \
        size_t count = 1;                                                                          \
        real_find();                                                                               \
        va_start(more, first);                                                                     \
        for (const char *a = first; a; count++)                                                    \
            a = va_arg(more, const char *);                                                        \
        va_end(more);                                                                              \
        char **v = __builtin_alloca(count * sizeof *v); /* as the C library's does */              \
        va_start(more, first);                                                                     \
        v[0] = (char *)(uintptr_t)first;                                                           \
        for (size_t i = 1; i < count; i++)                                                         \
            v[i] = va_arg(more, char *);                                                           \
        char *const *e = has_environment ? va_arg(more, char *const *) : NULL;                     \
        va_end(more);                                                                              \
        (void)e;                                                                                   \
        struct exec_attempt b = child_exec_begin(its_site);                                        \
        return child_exec_failed(b, call);                                                         \
    }
EXECL(PLAIN(execl), site_of_program(SITE), false,
      exec_call_replace_program(path, v, __environ, false))
EXECL(PLAIN(execlp), site_of_program(SITE), false,
      exec_call_replace_program(path, v, __environ, true))
EXECL(PLAIN(execle), site_of_program(SITE), true, exec_call_replace_program(path, v, e, false))
EXECL(poet_link_with_poetcc_trace__execl, site_of_traced(SITE), false,
      exec_call_replace_program(path, v, __environ, false))
EXECL(poet_link_with_poetcc_trace__execlp, site_of_traced(SITE), false,
      exec_call_replace_program(path, v, __environ, true))
EXECL(poet_link_with_poetcc_trace__execle, site_of_traced(SITE), true,
      exec_call_replace_program(path, v, e, false))

/* ---- a child with another program ---- */

typedef int spawn_call(pid_t *, const char *, const posix_spawn_file_actions_t *,
                       const posix_spawnattr_t *, char *const *, char *const *);

static int exec_call_spawn(uintptr_t site, spawn_call *call, pid_t *pid, const char *path,
                           const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const *v, char *const *e)
{
    int saved = errno;
    struct traced_thread *t = site ? thread_recording() : NULL;
    _Atomic uint64_t *spawning = t ? child_spawning(getpid()) : NULL;
    uint64_t serial = t ? child_message(t, TYPE_FORK, site) : 0;
    if (spawning)
        atomic_fetch_add(spawning, 1);
    pid_t child = 0;
    struct child_preload_change change;
    if ((call == real_functions.spawnp ? child_preload_check_in_path
                                       : child_preload_check)(path, e, &change))
        e = child_preload_write(&change, __builtin_alloca(change.bytes));
    errno = saved;
    int error = call(&child, path, actions, attributes, v, e);
    saved = errno;
    if (error == 0 && pid)
        *pid = child;
    if (error == 0 && t)
        child_set_message(child, serial);
    if (spawning)
        atomic_fetch_sub(spawning, 1);
    errno = saved;
    return error;
}

ENTRY(int, posix_spawn,
      (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
       const posix_spawnattr_t *attributes, char *const *v, char *const *e),
      pid, path, actions, attributes, v, e)
{
    real_find();
    return exec_call_spawn(site, real_functions.spawn, pid, path, actions, attributes, v, e);
}

ENTRY(int, posix_spawnp,
      (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
       const posix_spawnattr_t *attributes, char *const *v, char *const *e),
      pid, path, actions, attributes, v, e)
{
    real_find();
    return exec_call_spawn(site, real_functions.spawnp, pid, path, actions, attributes, v, e);
}

/* ---- the end ---- */

ENTRY_LAST(_exit, (int status), status)
{
    real_find();
    child_record_exit_at_once(site);
    real_functions._exit(status);
    __builtin_unreachable();
}

ENTRY_LAST(_Exit, (int status), status)
{
    real_find();
    child_record_exit_at_once(site);
    real_functions._Exit(status);
    __builtin_unreachable();
}
