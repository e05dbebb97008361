/* Processes that make, become and wait for each other.
 *
 * A fork is a message to the child, an exec one to the new program, an end one to whoever waits for it.
 * Their keys are serial numbers of the run; which one is meant stands beside the process id in a
 * number that all processes of the run share: what a process says there outlives it. */
#define _GNU_SOURCE
#include "clients/trace/calls/child.h"

#include "clients/trace/calls/threads.h"
#include "clients/trace/core/clock.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/module.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/sender.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/poet.h"
#include "wire/event.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#undef UNTRACED_SITE
#define UNTRACED_SITE site_of_program

/* ---- what a process says of itself: pid, flags, state, serial ---- */

enum state {
    STATE_SILENT = 1, /* has recorded nothing; serial: of the fork that made it */
    STATE_EXEC,       /* becomes another program; serial: of the message to it */
    STATE_LIVING,
    STATE_ENDED       /* serial: of the message to who waits */
};
#define SERIAL_BITS 37
#define SERIAL_MASK ((UINT64_C(1) << SERIAL_BITS) - 1)
#define STATE(state) ((uint64_t)(state) << SERIAL_BITS)
#define STATE_OF(value) ((enum state)((value) >> SERIAL_BITS & 7))
#define OTHERS (UINT64_C(1) << 40)  /* other threads were there, whose last events are not known */
#define FOREIGN (UINT64_C(1) << 41) /* not all of its signals come to us */
#define PID(pid) ((uint64_t)(pid) << 42)
#define PID_OF(value) ((pid_t)((value) >> 42))

#define SLOTS 4096u
enum { OF_PROCESS = 0x10001, OF_SPAWNING, OF_SERIALS };

static pid_t self;
static bool has_foreign;
static uint64_t names; /* the name space of process ids */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ b) * 0x9e3779b97f4a7c15u;
    return (z ^ z >> 31) * 0xbf58476d1ce4e5b9u;
}

static _Atomic uint64_t *shared(unsigned what, pid_t pid, unsigned most)
{
    struct stat st;
    int saved = errno;
    if (!names)
        names = stat("/proc/self/ns/pid", &st) == 0 ? mix(st.st_dev, st.st_ino) | 1 : 0;
    errno = saved;
    return names && pid > 0 ? (_Atomic uint64_t *)poet_counter(
                                  mix(mix(names, what), (unsigned)pid % most), 1)
                            : NULL;
}

static _Atomic uint64_t *slot_of(pid_t pid) { return shared(OF_PROCESS, pid, SLOTS); }

/* 0: nothing is known of it. */
static uint64_t known_of(pid_t pid)
{
    _Atomic uint64_t *slot = slot_of(pid);
    uint64_t value = slot ? atomic_load(slot) : 0;
    return PID_OF(value) == pid ? value : 0;
}

static void tell(enum state state, uint64_t serial)
{
    _Atomic uint64_t *slot = slot_of(self);
    if (slot)
        atomic_store(slot, PID(self) | STATE(state) | serial | (life_threads() > 1 ? OTHERS : 0) |
                               (has_foreign ? FOREIGN : 0));
}

uint64_t child_serial(void)
{
    _Atomic uint64_t *serials = shared(OF_SERIALS, 1, 1);
    return serials ? (atomic_fetch_add(serials, 1) + 1) & SERIAL_MASK : 0;
}

bool child_known(pid_t pid) { return known_of(pid) != 0; }

bool child_lives(pid_t pid)
{
    uint64_t value = known_of(pid);
    return STATE_OF(value) == STATE_LIVING && !(value & FOREIGN);
}

void child_is_foreign(void)
{
    has_foreign = true;
    _Atomic uint64_t *slot = slot_of(self);
    if (slot && PID_OF(atomic_load(slot)) == self)
        atomic_fetch_or(slot, FOREIGN);
}

/* ---- birth ---- */

void child_born(uint64_t serial)
{
    self = getpid();
    names = 0;
    tell(STATE_SILENT, serial);
}

#define PATIENCE_NS 20000000u

/* Who made it is about to say so. */
static uint64_t wait_for_parent(pid_t parent)
{
    _Atomic uint64_t *spawning = shared(OF_SPAWNING, parent, 256);
    uint64_t begin = clock_now(), value = known_of(self);
    while (!value && spawning && atomic_load(spawning) && clock_now() - begin < PATIENCE_NS) {
        nanosleep(&(struct timespec){0, 50000}, NULL);
        value = known_of(self);
    }
    return value ? value : known_of(self);
}

struct origin child_begins(void)
{
    self = getpid();
    pid_t parent = getppid();
    uint64_t value = wait_for_parent(parent);
    struct origin from = {0};
    bool told = STATE_OF(value) == STATE_SILENT || STATE_OF(value) == STATE_EXEC;
    if (told && value & SERIAL_MASK)
        from = (struct origin){.at = {0, value & SERIAL_MASK}, .key = CHILD_KEYS};
    if (told ? value & OTHERS || !from.key : known_of(parent) != 0)
        from.doubt = UNSEEN_THREAD;
    tell(STATE_LIVING, 0);
    return from;
}

void child_records(void) { tell(STATE_LIVING, 0); }

/* ---- messages ---- */

/* The number of the message, 0 where it could not be told. */
static uint64_t record_message(struct thread *t, uint16_t type, uintptr_t site)
{
    uint64_t serial = child_serial();
    uint64_t number = record_write(t, &(struct record){
        .shape = type, .flags = (uint16_t)(RELATION_SEND | (serial ? SLOT_KEYED : 0u)),
        .a = thread_place(t), .take_a = 1, .site = site, .key = serial ? CHILD_KEYS : 0,
        .partner = {0, serial}}, NULL);
    note_recorded();
    return number && !t->lost_count ? serial : 0;
}

static struct thread *recording_here(void)
{
    struct thread *t = thread_self();
    return t && !t->off && !t->busy ? t : NULL;
}

/* ---- another program ---- */

struct becoming {
    _Atomic uint64_t *slot;
    uint64_t before;
    bool paused; /* the sender has said that all is sent */
};

/* A child of vfork is still in its parent's thread. */
static struct becoming becomes(uintptr_t site)
{
    pid_t pid = getpid();
    int saved = errno;
    struct becoming b = {.slot = slot_of(pid)};
    struct thread *t = site && b.slot ? recording_here() : NULL;
    b.before = b.slot ? atomic_load(b.slot) : 0;
    if (pid == self && STATE_OF(known_of(pid)) == STATE_SILENT)
        atomic_store(b.slot, (b.before & ~STATE(7)) | STATE(STATE_EXEC));
    else if (b.slot && (pid == self ? t != NULL : site != 0))
        atomic_store(b.slot, PID(pid) | STATE(STATE_EXEC) | (pid == self && life_threads() > 1 ? OTHERS : 0) |
                                 (t ? record_message(t, pid == self ? TYPE_EXEC : TYPE_FORK, site) : 0));
    else
        b.slot = NULL;
    b.paused = server_remote && pid == self && server_alive() && recording_here() != NULL;
    if (b.paused)
        sender_pause(SENDER_MS);
    errno = saved;
    return b;
}

static int still_here(struct becoming b, int result)
{
    int saved = errno;
    if (b.slot)
        atomic_store(b.slot, b.before);
    if (b.paused)
        sender_stay();
    errno = saved;
    return result;
}

ENTRY(int, execve, (const char *path, char *const *v, char *const *e), path, v, e)
{
    real_find();
    struct becoming b = becomes(site);
    return still_here(b, real.execve(path, v, e));
}

ENTRY(int, execv, (const char *path, char *const *v), path, v)
{
    real_find();
    struct becoming b = becomes(site);
    return still_here(b, real.execv(path, v));
}

ENTRY(int, execvp, (const char *file, char *const *v), file, v)
{
    real_find();
    struct becoming b = becomes(site);
    return still_here(b, real.execvp(file, v));
}

ENTRY(int, execvpe, (const char *file, char *const *v, char *const *e), file, v, e)
{
    real_find();
    struct becoming b = becomes(site);
    return still_here(b, real.execvpe(file, v, e));
}

ENTRY(int, fexecve, (int fd, char *const *v, char *const *e), fd, v, e)
{
    real_find();
    struct becoming b = becomes(site);
    return still_here(b, real.fexecve(fd, v, e));
}

/* The arguments are not all named. */
#define EXECL(...) EXECL_AS(__VA_ARGS__)
#define EXECL_AS(name, its_site, has_environment, call)                                          \
    __attribute__((visibility("default"))) int name(const char *, const char *, ...);            \
    int name(const char *path, const char *first, ...)                                           \
    {                                                                                            \
        va_list more;                                                                            \
        size_t count = 1;                                                                        \
        real_find();                                                                             \
        va_start(more, first);                                                                   \
        for (const char *a = first; a; count++)                                                  \
            a = va_arg(more, const char *);                                                      \
        va_end(more);                                                                            \
        char **v = __builtin_alloca(count * sizeof *v); /* as the C library's does */            \
        va_start(more, first);                                                                   \
        v[0] = (char *)(uintptr_t)first;                                                         \
        for (size_t i = 1; i < count; i++)                                                       \
            v[i] = va_arg(more, char *);                                                         \
        char *const *e = has_environment ? va_arg(more, char *const *) : NULL;                   \
        va_end(more);                                                                            \
        (void)e;                                                                                 \
        struct becoming b = becomes(its_site);                                                   \
        return still_here(b, real.call);                                                         \
    }
EXECL(PLAIN(execl), site_of_program(SITE), false, execv(path, v))
EXECL(PLAIN(execlp), site_of_program(SITE), false, execvp(path, v))
EXECL(PLAIN(execle), site_of_program(SITE), true, execve(path, v, e))
EXECL(poet_link_with_poetcc_trace__execl, site_of_traced(SITE), false, execv(path, v))
EXECL(poet_link_with_poetcc_trace__execlp, site_of_traced(SITE), false, execvp(path, v))
EXECL(poet_link_with_poetcc_trace__execle, site_of_traced(SITE), true, execve(path, v, e))

/* ---- a child with another program ---- */

typedef int spawn_call(pid_t *, const char *, const posix_spawn_file_actions_t *,
                       const posix_spawnattr_t *, char *const *, char *const *);

/* Says whose message is for the child, unless that has begun without it. */
static void name_child(pid_t child, uint64_t serial)
{
    _Atomic uint64_t *slot = slot_of(child);
    uint64_t value = slot ? atomic_load(slot) : 0;
    while (slot && PID_OF(value) != child &&
           !atomic_compare_exchange_weak(slot, &value, PID(child) | STATE(STATE_EXEC) | serial))
        ;
}

static int spawn(uintptr_t site, spawn_call *call, pid_t *pid, const char *path,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const *v, char *const *e)
{
    int saved = errno;
    struct thread *t = site ? thread_recording() : NULL;
    _Atomic uint64_t *spawning = t ? shared(OF_SPAWNING, getpid(), 256) : NULL;
    uint64_t serial = t ? record_message(t, TYPE_FORK, site) : 0;
    if (spawning)
        atomic_fetch_add(spawning, 1);
    pid_t child = 0;
    errno = saved;
    int error = call(&child, path, actions, attributes, v, e);
    saved = errno;
    if (error == 0 && pid)
        *pid = child;
    if (error == 0 && t)
        name_child(child, serial);
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
    return spawn(site, real.spawn, pid, path, actions, attributes, v, e);
}

ENTRY(int, posix_spawnp,
      (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
       const posix_spawnattr_t *attributes, char *const *v, char *const *e),
      pid, path, actions, attributes, v, e)
{
    real_find();
    return spawn(site, real.spawnp, pid, path, actions, attributes, v, e);
}

/* ---- the end ---- */

void child_ends(uintptr_t site)
{
    int saved = errno;
    struct thread *t = getpid() == self ? recording_here() : NULL;
    bool lived = STATE_OF(known_of(self)) == STATE_LIVING, awaited = known_of(getppid()) != 0;
    if (server_alive() && lived && awaited)
        tell(STATE_ENDED, t ? record_message(t, TYPE_EXIT, site) : 0);
    errno = saved;
}

static void end_at_once(uintptr_t site)
{
    pid_t pid = getpid();
    real_find();
    if (pid == self) {
        child_ends(site);
        if (server_remote && server_alive() && recording_here())
            sender_leave(SENDER_MS);
    } else if (site && slot_of(pid)) /* a child of vfork: what it did is its parent's */
        atomic_store(slot_of(pid), PID(pid) | STATE(STATE_SILENT));
}

ENTRY_LAST(_exit, (int status), status)
{
    end_at_once(site);
    real._exit(status);
    __builtin_unreachable();
}

ENTRY_LAST(_Exit, (int status), status)
{
    end_at_once(site);
    real._Exit(status);
    __builtin_unreachable();
}

/* ---- waiting for it ---- */

struct origin child_ended(pid_t pid, bool last)
{
    uint64_t value = known_of(pid);
    struct origin from = {0};
    if (STATE_OF(value) == STATE_SILENT)
        return from; /* it did nothing that is followed */
    if (STATE_OF(value) == STATE_ENDED && value & SERIAL_MASK)
        from = (struct origin){.at = {0, value & SERIAL_MASK}, .key = CHILD_KEYS};
    if (!from.key || value & OTHERS)
        from.doubt = UNSEEN_THREAD;
    if (value && last)
        atomic_compare_exchange_strong(slot_of(pid), &value, 0);
    return from;
}

struct waiting {
    struct thread *thread;
    uintptr_t site;
    int saved;
};

static void leave_wait(void *p)
{
    struct thread *t = ((struct waiting *)p)->thread;
    if (t)
        t->waiting--;
}

static struct waiting begin_wait(uintptr_t site, bool blocks)
{
    struct waiting w = {site ? thread_recording() : NULL, site, errno};
    if (w.thread && blocks)
        record_event(w.thread, TYPE_REAP, thread_place(w.thread), 0, site);
    if (w.thread)
        w.thread->waiting++;
    errno = w.saved;
    return w;
}

/* child: whose end was told, 0 none; last: it is gone now. */
static void record_reaped(const struct waiting *w, pid_t child, bool last)
{
    struct thread *t = w->thread;
    struct origin from = child_ended(child, last);
    if (t)
        record_write(t, &(struct record){
            .shape = TYPE_REAPED,
            .flags = (uint16_t)((from.key ? RELATION_RECEIVE | SLOT_KEYED : RELATION_NONE) |
                                SLOT_DOUBT(from.doubt)),
            .a = thread_place(t), .take_a = 1, .site = w->site, .key = from.key, .partner = from.at,
            .count = last}, NULL);
    note_recorded();
}

static void end_wait(const struct waiting *w, pid_t child, bool last, bool blocks)
{
    int saved = errno;
    if (child > 0 && w->thread)
        record_reaped(w, child, last);
    else if (w->thread && blocks)
        record_event(w->thread, TYPE_REFUSED_JOIN, thread_place(w->thread), 0, w->site);
    errno = saved;
}

static pid_t wait_for(uintptr_t site, pid_t pid, int *status, int options, struct rusage *usage)
{
    real_find();
    int own, *in = status ? status : &own;
    pid_t child;
    bool blocks = !(options & WNOHANG);
    struct waiting w = begin_wait(site, blocks);
    pthread_cleanup_push(leave_wait, &w);
    child = usage ? real.wait4(pid, in, options, usage) : real.waitpid(pid, in, options);
    pthread_cleanup_pop(1);
    bool ended = child > 0 && (WIFEXITED(*in) || WIFSIGNALED(*in));
    end_wait(&w, ended ? child : 0, true, blocks);
    return child;
}

ENTRY(pid_t, waitpid, (pid_t pid, int *status, int options), pid, status, options)
{
    return wait_for(site, pid, status, options, NULL);
}

ENTRY(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage), pid, status, options, usage)
{
    return wait_for(site, pid, status, options, usage);
}

ENTRY(pid_t, wait3, (int *status, int options, struct rusage *usage), status, options, usage)
{
    return wait_for(site, -1, status, options, usage);
}

ENTRY(pid_t, wait, (int *status), status) { return wait_for(site, -1, status, 0, NULL); }

ENTRY(int, waitid, (idtype_t kind, id_t id, siginfo_t *info, int options), kind, id, info, options)
{
    real_find();
    siginfo_t own, *in = info ? info : &own;
    int result;
    bool blocks = !(options & WNOHANG);
    struct waiting w = begin_wait(site, blocks);
    in->si_pid = 0;
    pthread_cleanup_push(leave_wait, &w);
    result = real.waitid((int)kind, id, in, options);
    pthread_cleanup_pop(1);
    bool ended = result == 0 && in->si_pid > 0 &&
                 (in->si_code == CLD_EXITED || in->si_code == CLD_KILLED || in->si_code == CLD_DUMPED);
    end_wait(&w, ended ? in->si_pid : 0, !(options & WNOWAIT), blocks);
    return result;
}

/* The shell is made and waited for where we are not; what it does is not seen to its end. */
ENTRY(int, system, (const char *command), command)
{
    real_find();
    struct waiting w = begin_wait(site && command ? site : 0, false);
    int result;
    if (w.thread)
        record_message(w.thread, TYPE_FORK, site);
    pthread_cleanup_push(leave_wait, &w);
    errno = w.saved;
    result = real.system(command);
    pthread_cleanup_pop(1);
    int saved = errno;
    if (w.thread)
        record_write(w.thread, &(struct record){.shape = TYPE_REAPED, .flags = SLOT_DOUBT(UNSEEN_THREAD),
                                                .a = thread_place(w.thread), .take_a = 1, .site = site}, NULL);
    errno = saved;
    return result;
}
