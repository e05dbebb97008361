/* Signals: what was before one was sent is before its handler, and before sigwait() returns.
 *
 * Which of several signals it was cannot be seen from outside: those of one number become one.  So a
 * signal that is sent to this process, or to another one whose signals all come to us, takes with it
 * which event sent it (token.h).  Of several that became one the kernel keeps the first. */
#define _GNU_SOURCE
#include "clients/trace/calls/child.h"
#include "clients/trace/calls/input.h"
#include "clients/trace/calls/roster.h"
#include "clients/trace/calls/token.h"
#include "clients/trace/core/allowed.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/module.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/task.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/measure/hooks.h"
#include "wire/event.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#undef signal /* libc.h */
#undef UNTRACED_SITE
#define UNTRACED_SITE site_of_program

#define SIGNALS 65
#define MASK(sig) (UINT64_C(1) << ((sig)-1))

/* What the program's handler is; the highest bit: it wants a siginfo. */
static _Atomic uintptr_t handlers[SIGNALS];
#define WANTS_INFO ((uintptr_t)1 << (sizeof(uintptr_t) * 8 - 1))
/* Signals whose handlers do not come through us, or that may be read as bytes. */
static _Atomic uint64_t foreign;
static _Atomic uint64_t interrupting; /* siginterrupt() */

/* ---- receiving ---- */

/* Where a signal comes from; the program sees it as if we had not been there. */
static struct origin receive(siginfo_t *info)
{
    struct origin from = {0};
    int code;
    if (token_take(info, &from, &code)) {
        if (code != SI_QUEUE)
            memset(&info->si_value, 0, sizeof info->si_value);
        info->si_code = code;
    } else if (info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE) {
        if (info->si_pid == getpid() || child_known(info->si_pid))
            from.doubt = UNSEEN_SIGNAL; /* somebody in the run whom we did not see */
    } else if (info->si_signo == SIGCHLD &&
               (info->si_code == CLD_EXITED || info->si_code == CLD_KILLED ||
                info->si_code == CLD_DUMPED)) {
        from = child_ended(info->si_pid, false);
    }
    return from;
}

static void record_received(struct thread *t, uint16_t type, struct origin from, const char *text,
                            uintptr_t site)
{
    record_write(
        t,
        &(struct record){
            .shape = type,
            .flags = (uint16_t)((from.at.number ? RELATION_RECEIVE | (from.key ? SLOT_KEYED : 0u)
                                                : RELATION_NONE) |
                                (text ? SLOT_TEXT : 0u) | SLOT_DOUBT(from.doubt)),
            .a = thread_place(t),
            .take_a = 1,
            .site = site,
            .partner = from.at,
            .key = from.key,
            .count = from.key != 0,
            .payload = text,
            .payload_bytes = text ? (uint32_t)strlen(text) : 0},
        NULL);
}

static const char *name_of(int sig) { return sigabbrev_np(sig); }

/* ---- handlers ---- */

/* What the thread was doing in libpoet-process; false: nothing can be recorded meanwhile. */
#pragma weak poet_process_interrupted
bool poet_process_interrupted(void);

static void handled(int sig, siginfo_t *info)
{
    struct origin from = receive(info);
    struct thread *t = thread_self();
    if (!t || t->off || (!from.at.number && !from.doubt))
        return;
    if (t->busy || (poet_process_interrupted && !poet_process_interrupted())) {
        thread_missed(t, UNSEEN_HANDLER);
        return;
    }
    record_received(t, TYPE_HANDLER, from, from.at.number ? NULL : name_of(sig), 0);
    note_recorded();
}

static void handle(int sig, siginfo_t *info, void *context)
{
    int saved = errno;
    uintptr_t handler = atomic_load_explicit(&handlers[sig], memory_order_acquire);
    handled(sig, info);
    input_handler(1);
    errno = saved;
    if (handler & WANTS_INFO)
        ((void (*)(int, siginfo_t *, void *))(handler & ~WANTS_INFO))(sig, info, context);
    else
        ((void (*)(int))handler)(sig);
    input_handler(-1);
}

static bool may_follow(int sig)
{
    return sig > 0 && sig < SIGNALS && sig != SIGKILL && sig != SIGSTOP;
}

static bool is_function(sighandler_t handler)
{
    return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR && handler != SIG_HOLD;
}

static void note_foreign(int sig, bool is)
{
    if (!may_follow(sig))
        return;
    if (!is)
        atomic_fetch_and(&foreign, ~MASK(sig));
    else if (!(atomic_fetch_or(&foreign, MASK(sig)) & MASK(sig)))
        child_is_foreign();
}

/* The program's own handler, where the system says ours. */
static void show_own(struct sigaction *old, uintptr_t own)
{
    if (old->sa_sigaction != handle)
        return;
    old->sa_sigaction = (void (*)(int, siginfo_t *, void *))(own & ~WANTS_INFO);
    if (!(own & WANTS_INFO))
        old->sa_flags &= ~SA_SIGINFO;
}

static int change(uintptr_t site, int sig, const struct sigaction *act, struct sigaction *old)
{
    real_find();
    bool handler = act && is_function(act->sa_handler) && may_follow(sig);
    bool ours =
        handler && site && server_alive() && !thread_runtime() && act->sa_sigaction != handle;
    uintptr_t before = may_follow(sig) ? atomic_load(&handlers[sig]) : 0;
    struct sigaction as = {0};
    if (ours) {
        as = *act;
        as.sa_sigaction = handle;
        as.sa_flags |= SA_SIGINFO;
        atomic_store(&handlers[sig],
                     (uintptr_t)act->sa_sigaction | (act->sa_flags & SA_SIGINFO ? WANTS_INFO : 0));
    }
    int e = real.sigaction(sig, ours ? &as : act, old);
    if (e != 0 && ours)
        atomic_store(&handlers[sig], before);
    if (e == 0 && handler)
        note_foreign(sig, !ours);
    if (e == 0 && old)
        show_own(old, before);
    return e;
}

ENTRY(int, sigaction, (int sig, const struct sigaction *act, struct sigaction *old), sig, act, old)
{
    return change(site, sig, act, old);
}

static sighandler_t set(uintptr_t site, int sig, sighandler_t handler, unsigned flags, bool masked)
{
    struct sigaction act = {.sa_handler = handler, .sa_flags = (int)flags}, old;
    sigemptyset(&act.sa_mask);
    if (masked)
        sigaddset(&act.sa_mask, sig);
    return change(site, sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* Where it is none of ours the real one does it. */
ENTRY(sighandler_t, signal, (int sig, sighandler_t handler), sig, handler)
{
    real_find();
    if (!may_follow(sig) || handler == SIG_ERR)
        return real.signal(sig, handler);
    bool interrupts = atomic_load(&interrupting) & MASK(sig);
    return set(site, sig, handler, interrupts ? 0 : SA_RESTART, true);
}

#ifndef SA_INTERRUPT
#define SA_INTERRUPT 0x20000000
#endif

ENTRY(sighandler_t, __sysv_signal, (int sig, sighandler_t handler), sig, handler)
{
    real_find();
    if (!may_follow(sig) || handler == SIG_ERR)
        return real.sysv_signal(sig, handler);
    return set(site, sig, handler, (unsigned)SA_RESETHAND | SA_NODEFER | SA_INTERRUPT, false);
}

ENTRY(int, siginterrupt, (int sig, int flag), sig, flag)
{
    (void)site;
    real_find();
    int e = real.siginterrupt(sig, flag);
    if (e == 0 && may_follow(sig)) {
        if (flag)
            atomic_fetch_or(&interrupting, MASK(sig));
        else
            atomic_fetch_and(&interrupting, ~MASK(sig));
    }
    return e;
}

#if !defined(POET_STATIC)
/* Other names: their handlers are not followed, but who asks for the last one gets the program's own. */
#define OTHER(name, member)                                                                        \
    __attribute__((visibility("default"))) sighandler_t name(int sig, sighandler_t handler)        \
    {                                                                                              \
        real_find();                                                                               \
        uintptr_t own = may_follow(sig) ? atomic_load(&handlers[sig]) : 0;                         \
        sighandler_t before = real.member(sig, handler);                                           \
        if (before != SIG_ERR && is_function(handler))                                             \
            note_foreign(sig, true);                                                               \
        return before == (sighandler_t)(uintptr_t)handle ? (sighandler_t)(own & ~WANTS_INFO)       \
                                                         : before;                                 \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
OTHER(ssignal, ssignal)
OTHER(bsd_signal, bsd_signal)
OTHER(sysv_signal, other_sysv_signal)
OTHER(sigset, sigset)
#pragma GCC diagnostic pop
#endif

ENTRY(int, signalfd, (int fd, const sigset_t *mask, int flags), fd, mask, flags)
{
    (void)site;
    real_find();
    int result = real.signalfd(fd, mask, flags);
    int saved = errno;
    for (int sig = 1; result >= 0 && mask && sig < SIGNALS; sig++)
        if (sigismember(mask, sig) == 1)
            note_foreign(sig, true);
    errno = saved;
    return result;
}

/* ---- sending ---- */

struct sending {
    pid_t pid, tid; /* tid 0: to the process */
    int sig, code;
    const union sigval *value; /* of sigqueue() */
    uint32_t about;
};

/* Its end would look otherwise in a dump of its memory. */
static bool dumps(int sig)
{
    return sig == SIGQUIT || sig == SIGILL || sig == SIGABRT || sig == SIGFPE || sig == SIGSEGV ||
           sig == SIGBUS || sig == SIGSYS || sig == SIGTRAP || sig == SIGXCPU || sig == SIGXFSZ;
}

static bool may_carry(const struct sending *s, pid_t self)
{
    if (!allowed(ALLOWED_SIGNALS))
        return false;
    if (s->pid == self)
        return !(atomic_load(&foreign) & MASK(s->sig)) &&
               (!dumps(s->sig) || atomic_load(&handlers[s->sig]));
    return s->pid > 0 && !s->tid && !dumps(s->sig) && child_lives(s->pid);
}

/* The event, and what the signal is to take with it; check 0: nothing. */
static struct token record_sent(struct thread *t, const struct sending *s, pid_t self,
                                uintptr_t site)
{
    bool carries = may_carry(s, self), here = s->pid == self;
    uint64_t serial = carries && !here ? child_serial() : 0;
    struct line *place = thread_place(t);
    const char *text = name_of(s->sig);
    uint64_t number = record_write(
        t,
        &(struct record){.shape = TYPE_KILL,
                         .flags = (uint16_t)(RELATION_SEND | (serial ? SLOT_KEYED : 0u) |
                                             (text ? SLOT_TEXT : 0u)),
                         .a = place,
                         .take_a = 1,
                         .about = s->about,
                         .site = site,
                         .key = serial ? token_keys() : 0,
                         .partner = {0, serial},
                         .payload = text,
                         .payload_bytes = text ? (uint32_t)strlen(text) : 0},
        NULL);
    note_recorded();
    uint64_t line = line_index(place);
    if (!carries || !number || t->lost_count || (!here && !serial) || (number >> 40) ||
        (line >> 24))
        return (struct token){0};
    return here ? token_of(line << 40 | number, instance, s->code)
                : token_of(serial, token_keys(), s->code);
}

static bool send_with(const struct sending *s, struct token token, pid_t self)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = s->sig;
    info.si_code = SI_QUEUE;
    info.si_pid = self;
    info.si_uid = getuid();
    if (s->value)
        info.si_value = *s->value;
    token_put(&info, token);
    return (s->tid ? syscall(SYS_rt_tgsigqueueinfo, s->pid, s->tid, s->sig, &info)
                   : syscall(SYS_rt_sigqueueinfo, s->pid, s->sig, &info)) == 0;
}

/* True if it is sent. */
static bool send_signal(uintptr_t site, const struct sending *s)
{
    struct thread *t = site && may_follow(s->sig) && !thread_runtime() ? thread_self() : NULL;
    if (!t || t->off || t->busy)
        return false;
    int saved = errno;
    pid_t self = getpid();
    struct token token = record_sent(t, s, self, site);
    bool sent = token.check && send_with(s, token, self);
    errno = saved;
    return sent;
}

ENTRY(int, kill, (pid_t pid, int sig), pid, sig)
{
    real_find();
    return send_signal(site, &(struct sending){.pid = pid, .sig = sig, .code = SI_USER})
               ? 0
               : real.kill(pid, sig);
}

ENTRY(int, killpg, (pid_t group, int sig), group, sig)
{
    real_find();
    send_signal(site, &(struct sending){.pid = -1, .sig = sig});
    return real.killpg(group, sig);
}

ENTRY(int, sigqueue, (pid_t pid, int sig, const union sigval value), pid, sig, value)
{
    real_find();
    struct sending s = {.pid = pid, .sig = sig, .code = SI_QUEUE, .value = &value};
    return send_signal(site, &s) ? 0 : real.sigqueue(pid, sig, value);
}

static bool send_to_thread(uintptr_t site, pthread_t id, int sig, int code,
                           const union sigval *value)
{
    struct task *task = site ? roster_find(id) : NULL;
    pid_t tid = task && !(atomic_load(&task->flags) & TASK_ENDED) ? task->tid : 0;
    return send_signal(site, &(struct sending){.pid = tid ? getpid() : -1,
                                               .tid = tid,
                                               .sig = sig,
                                               .code = code,
                                               .value = value,
                                               .about = task ? line_index(&task->line) : 0});
}

ENTRY(int, pthread_kill, (pthread_t id, int sig), id, sig)
{
    real_find();
    return send_to_thread(site, id, sig, SI_TKILL, NULL) ? 0 : real.pthread_kill(id, sig);
}

ENTRY(int, pthread_sigqueue, (pthread_t id, int sig, const union sigval value), id, sig, value)
{
    real_find();
    return send_to_thread(site, id, sig, SI_QUEUE, &value) ? 0
                                                           : real.pthread_sigqueue(id, sig, value);
}

ENTRY(int, tgkill, (pid_t pid, pid_t tid, int sig), pid, tid, sig)
{
    real_find();
    struct sending s = {.pid = pid, .tid = tid, .sig = sig, .code = SI_TKILL};
    return tid > 0 && send_signal(site, &s) ? 0 : real.tgkill(pid, tid, sig);
}

ENTRY(int, raise, (int sig), sig)
{
    real_find();
    struct sending s = {
        .pid = getpid(), .tid = (pid_t)syscall(SYS_gettid), .sig = sig, .code = SI_TKILL};
    return send_signal(site, &s) ? 0 : real.raise(sig);
}

/* ---- waiting ---- */

static void leave_wait(void *t)
{
    if (t)
        hooks_go_on(t, TYPE_SIGWAIT);
}

static void record_waited(struct thread *t, int result, struct origin from, int error,
                          uintptr_t site)
{
    if (result > 0)
        record_received(t, TYPE_SIGNALLED, from, name_of(result), site);
    else
        record_event(t, error == EAGAIN ? TYPE_TIMEOUT : TYPE_REFUSED, thread_place(t), 0, site);
    note_recorded();
}

static int await(uintptr_t site, const sigset_t *signals, siginfo_t *info,
                 const struct timespec *ts, bool timed)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    siginfo_t own, *in = info ? info : &own;
    int saved = errno, result;
    if (t) {
        record_event(t, TYPE_SIGWAIT, thread_place(t), 0, site);
        hooks_wait(t, TYPE_SIGWAIT, site);
    }
    pthread_cleanup_push(leave_wait, t);
    errno = saved;
    result = timed ? real.sigtimedwait(signals, in, ts) : real.sigwaitinfo(signals, in);
    saved = errno;
    pthread_cleanup_pop(1);
    struct origin from = result > 0 ? receive(in) : (struct origin){0};
    if (t)
        record_waited(t, result, from, saved, site);
    errno = saved;
    return result;
}

ENTRY(int, sigwaitinfo, (const sigset_t *signals, siginfo_t *info), signals, info)
{
    return await(site, signals, info, NULL, false);
}

ENTRY(int, sigtimedwait, (const sigset_t *signals, siginfo_t *info, const struct timespec *ts),
      signals, info, ts)
{
    return await(site, signals, info, ts, true);
}

ENTRY(int, sigwait, (const sigset_t *signals, int *sig), signals, sig)
{
    int saved = errno, result;
    do
        result = await(site, signals, NULL, NULL, false);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        result = errno;
    else if (sig)
        *sig = result, result = 0;
    errno = saved;
    return result;
}
