/* Calls of processes: they execute another program or start one, end the process, or wait for
 * children. */
#define _GNU_SOURCE
#include "clients/libpoet/core/child_preload.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/interpose/child_process.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/replay/cpu_time_used.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/event_types.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
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

/* ---- waiting for children ---- */

struct child_wait {
    struct traced_thread *thread;
    uintptr_t site;
    int saved;
};

static void wait_child_end_blocking(void *p)
{
    struct traced_thread *t = ((struct child_wait *)p)->thread;
    if (t)
        instrument_wait_end(t, TYPE_WAITPID);
}

/* Only in a replayed run: returns whether one check found the child, as a launcher checks between
 * other events; the number of such checks depends on scheduling, and so does the call that finds
 * the child. */
static bool wait_child_found_at_once(struct traced_thread *t)
{
    return thread_schedule_active(t) && thread_schedule_next_type(t, 0) == TYPE_REAPED;
}

static struct child_wait wait_child_begin(uintptr_t site, bool blocks)
{
    struct child_wait w = {site ? thread_recording() : NULL, site, errno};
    if (w.thread && blocks && !wait_child_found_at_once(w.thread))
        record_request(w.thread, TYPE_WAITPID, thread_place(w.thread), 0, site);
    if (w.thread)
        instrument_wait_begin(w.thread, TYPE_WAITPID, site);
    errno = w.saved;
    return w;
}

/* child: the process with the reported end, 0 none; last: it has been reaped. */
static void wait_child_record_reaped(const struct child_wait *w, pid_t child, bool last)
{
    struct traced_thread *t = w->thread;
    struct event_origin from = child_get_end(child, last);
    if (t)
        record_write(t,
                     &(struct record){.shape = TYPE_REAPED,
                                      .flags = (uint16_t)((from.key ? RELATION_RECEIVE | SLOT_KEYED
                                                                    : RELATION_NONE) |
                                                          SLOT_DOUBT(from.doubt)),
                                      .a = thread_place(t),
                                      .take_a = 1,
                                      .site = w->site,
                                      .key = from.key,
                                      .partner = from.at,
                                      .count = last},
                     NULL);
    record_mark_nonempty();
}

static void wait_child_end(const struct child_wait *w, pid_t child, bool last, bool blocks)
{
    int saved = errno;
    if (child > 0 && w->thread)
        wait_child_record_reaped(w, child, last);
    else if (w->thread && blocks)
        record_event(w->thread, TYPE_JOIN_FAILED, thread_place(w->thread), 0, w->site);
    errno = saved;
}

#define TIMEOUT_NS UINT64_C(10000000000)
/* A caller that polls may have to do between two polls what the child awaits: the first poll waits
 * for a child that may only be slow, later ones for the same child wait less. */
#define FIRST_POLL_NS UINT64_C(1000000000)
#define NEXT_POLL_NS UINT64_C(50000000)
#define STARVED 20u /* so many times that, whether the child had a CPU or not */

/* The thread of the schedule for the process of which this one polled last, in vain. */
static __thread uint32_t wait_child_polled __attribute__((tls_model("initial-exec")));

/* For how long the end of a child was awaited. */
struct wait_child_timeout {
    bool polls;
    uint64_t begun_ns, looked_ns;
    uint64_t used_ns; /* time in which the child could have run */
    struct cpu_time_sample slow;
};

static struct wait_child_timeout wait_child_timeout_begin(int options)
{
    uint64_t now = tracer_clock_now();
    return (struct wait_child_timeout){
        .polls = options & WNOHANG, .begun_ns = now, .looked_ns = now};
}

/* Waits a moment for a thread of the schedule, in a process that is 0 if it has not begun. Returns
 * false if it was long enough. */
static bool wait_child_nap(struct wait_child_timeout *p, uint32_t sender, uint32_t process)
{
    pthread_testcancel(); /* as wait does */
    thread_schedule_nap();
    uint64_t now = tracer_clock_now(), elapsed = now - p->looked_ns;
    p->used_ns += process ? cpu_time_used(&p->slow, process, process, elapsed) : elapsed;
    p->looked_ns = now;
    uint64_t most = !p->polls                               ? TIMEOUT_NS
                    : sender && sender != wait_child_polled ? FIRST_POLL_NS
                                                            : NEXT_POLL_NS;
    if (p->used_ns < most && now - p->begun_ns < STARVED * most)
        return true;
    wait_child_polled = p->polls ? sender : 0;
    return false;
}

/* In a replayed run the end of the recorded child is found, and no other. If there is no child at
 * all, the system's error is returned. */
static pid_t wait_child_replay_wait(struct traced_thread *t, pid_t pid, int *status, int options,
                                    struct rusage *usage)
{
    siginfo_t any = {0};
    pid_t child = 0;
    int e = real_functions.waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT);
    struct wait_child_timeout timeout = wait_child_timeout_begin(options);
    uint32_t from = 0, sender;
    while (e == 0 && thread_schedule_next_type(t, 0) == TYPE_REAPED) {
        sender = thread_schedule_next_sender(t, TYPE_REAPED, &from);
        if (!sender || from)
            child = real_functions.wait4(sender && pid <= 0 ? (pid_t)from : pid, status,
                                         options | WNOHANG, usage);
        if (child)
            return child;
        if (!wait_child_nap(&timeout, sender, from))
            break;
    }
    return options & WNOHANG && e == 0 ? 0 : real_functions.wait4(pid, status, options, usage);
}

static int wait_child_replay_waitid(struct traced_thread *t, idtype_t kind, id_t id,
                                    siginfo_t *info, int options)
{
    siginfo_t any = {0};
    int e = real_functions.waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT);
    struct wait_child_timeout timeout = wait_child_timeout_begin(options);
    uint32_t from = 0, sender;
    while (e == 0 && thread_schedule_next_type(t, 0) == TYPE_REAPED) {
        sender = thread_schedule_next_sender(t, TYPE_REAPED, &from);
        bool named = !sender || kind == P_PID;
        int found = 0;
        if (!sender || from)
            found = real_functions.waitid(named ? (int)kind : P_PID, named ? id : from, info,
                                          options | WNOHANG);
        if (found != 0 || info->si_pid)
            return found;
        if (!wait_child_nap(&timeout, sender, from))
            break;
    }
    return options & WNOHANG && e == 0 ? 0 : real_functions.waitid((int)kind, id, info, options);
}

static pid_t wait_child_call(uintptr_t site, pid_t pid, int *status, int options,
                             struct rusage *usage)
{
    real_find();
    int own, *in = status ? status : &own;
    pid_t child;
    bool blocks = !(options & WNOHANG);
    struct child_wait w = wait_child_begin(site, blocks);
    pthread_cleanup_push(wait_child_end_blocking, &w);
    child = thread_schedule_active(w.thread) && !(options & (WUNTRACED | WCONTINUED))
                ? wait_child_replay_wait(w.thread, pid, in, options, usage)
            : usage ? real_functions.wait4(pid, in, options, usage)
                    : real_functions.waitpid(pid, in, options);
    pthread_cleanup_pop(1);
    bool ended = child > 0 && (WIFEXITED(*in) || WIFSIGNALED(*in));
    wait_child_end(&w, ended ? child : 0, true, blocks);
    return child;
}

ENTRY(pid_t, waitpid, (pid_t pid, int *status, int options), pid, status, options)
{
    return wait_child_call(site, pid, status, options, NULL);
}

ENTRY(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage), pid, status,
      options, usage)
{
    return wait_child_call(site, pid, status, options, usage);
}

ENTRY(pid_t, wait3, (int *status, int options, struct rusage *usage), status, options, usage)
{
    return wait_child_call(site, -1, status, options, usage);
}

ENTRY(pid_t, wait, (int *status), status) { return wait_child_call(site, -1, status, 0, NULL); }

ENTRY(int, waitid, (idtype_t kind, id_t id, siginfo_t *info, int options), kind, id, info, options)
{
    real_find();
    siginfo_t own, *in = info ? info : &own;
    int result;
    bool blocks = !(options & WNOHANG);
    struct child_wait w = wait_child_begin(site, blocks);
    in->si_pid = 0;
    pthread_cleanup_push(wait_child_end_blocking, &w);
    result = thread_schedule_active(w.thread) && !(options & (WSTOPPED | WCONTINUED))
                 ? wait_child_replay_waitid(w.thread, kind, id, in, options)
                 : real_functions.waitid((int)kind, id, in, options);
    pthread_cleanup_pop(1);
    bool ended =
        result == 0 && in->si_pid > 0 &&
        (in->si_code == CLD_EXITED || in->si_code == CLD_KILLED || in->si_code == CLD_DUMPED);
    wait_child_end(&w, ended ? in->si_pid : 0, !(options & WNOWAIT), blocks);
    return result;
}

/* The shell is created and awaited where this cannot be recorded; its end is not traced. */
ENTRY(int, system, (const char *command), command)
{
    real_find();
    struct child_wait w = wait_child_begin(site && command ? site : 0, false);
    int result;
    if (w.thread)
        child_message(w.thread, TYPE_FORK, site);
    pthread_cleanup_push(wait_child_end_blocking, &w);
    errno = w.saved;
    result = real_functions.system(command);
    pthread_cleanup_pop(1);
    int saved = errno;
    if (w.thread)
        record_write(w.thread,
                     &(struct record){.shape = TYPE_REAPED,
                                      .flags = SLOT_DOUBT(UNTRACED_THREAD),
                                      .a = thread_place(w.thread),
                                      .take_a = 1,
                                      .site = site},
                     NULL);
    errno = saved;
    return result;
}
