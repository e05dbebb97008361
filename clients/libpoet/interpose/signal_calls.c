/* Signals: events before a signal is sent come before its handler, and before sigwait() returns.
 * Pending signals of one number are merged, so that their senders cannot be told apart from
 * outside. So a signal sent to this process, or to another one in which libpoet receives all
 * signals, carries the event that sent it (struct signal_token). Of several merged ones the kernel
 * keeps the first. */
#define _GNU_SOURCE
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/shared_objects.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/interpose/child_process.h"
#include "clients/libpoet/interpose/input_calls.h"
#include "clients/libpoet/interpose/thread_lifetime.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/profile/sampling.h"
#include "wire/event_types.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#undef signal /* libc_calls.h */
#undef UNTRACED_SITE
#define UNTRACED_SITE site_of_program

/* ---- tokens ---- */

/* Token of a signal: identifies the event that sent it, in bytes of siginfo that no receiver uses.
 * The kernel passes them on only for signals sent like sigqueue(); so the token also contains the
 * signal's real code. */
struct signal_token {
    uint64_t which; /* line << 40 | number, or the second half of a key */
    /* checksum of `which`, the process or all of them, and the code; 0: no token */
    uint64_t check;
};

#define SIGNAL_KEYS 0x706f65742e736967u
#define TOKEN_AT 32 /* after si_value; the kernel keeps 48 bytes (struct kernel_siginfo) */

/* Returns the first half of the keys of messages to other processes. */
static uint64_t signal_token_keys(void) { return SIGNAL_KEYS ^ tracer.process.machine; }

static uint64_t signal_token_checksum(uint64_t which, uint64_t scope, int code)
{
    uint64_t z = (which ^ scope) * 0x9e3779b97f4a7c15u + (uint64_t)(unsigned)code;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Removes the token and returns its contents. Returns false if there is none. */
static bool signal_token_consume(siginfo_t *info, struct event_origin *from, int *code)
{
    static const int codes[] = {SI_USER, SI_TKILL, SI_QUEUE};
    struct signal_token token;
    memcpy(&token, (const char *)info + TOKEN_AT, sizeof token);
    if (info->si_code != SI_QUEUE || !token.check)
        return false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        bool here =
            token.check == signal_token_checksum(token.which, tracer.process.instance, codes[i]);
        if (!here &&
            token.check != signal_token_checksum(token.which, signal_token_keys(), codes[i]))
            continue;
        *code = codes[i];
        *from = here ? (struct event_origin){.at = {(uint32_t)(token.which >> 40),
                                                    token.which & ((UINT64_C(1) << 40) - 1)}}
                     : (struct event_origin){.at = {0, token.which}, .key = signal_token_keys()};
        memset((char *)info + TOKEN_AT, 0, sizeof token);
        return true;
    }
    return false;
}

/* scope: tracer.process.instance for an event of this process, else signal_token_keys(); code: what
 * the signal really is (SI_USER...). */
static struct signal_token signal_token_make(uint64_t which, uint64_t scope, int code)
{
    struct signal_token token = {which, signal_token_checksum(which, scope, code)};
    token.check += token.check == 0;
    return token;
}

static void signal_token_attach(siginfo_t *info, struct signal_token token)
{
    memcpy((char *)info + TOKEN_AT, &token, sizeof token);
}

/* ---- handlers ---- */

#define SIGNALS 65
#define MASK(sig) (UINT64_C(1) << ((sig)-1))

/* The program's handler; the highest bit: it wants a siginfo. */
static _Atomic uintptr_t signal_call_handlers[SIGNALS];
#define WANTS_INFO ((uintptr_t)1 << (sizeof(uintptr_t) * 8 - 1))
/* Signals with handlers that do not pass through libpoet, or that may be read as bytes. */
static _Atomic uint64_t signal_call_foreign;
static _Atomic uint64_t interrupting; /* siginterrupt() */

/* ---- receiving ---- */

/* Gets the origin of a signal, and removes the token, so that the program does not see it. */
static struct event_origin signal_call_receive_origin(siginfo_t *info)
{
    struct event_origin from = {0};
    int code;
    if (signal_token_consume(info, &from, &code)) {
        if (code != SI_QUEUE)
            memset(&info->si_value, 0, sizeof info->si_value);
        info->si_code = code;
    } else if (info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE) {
        /* a sender in the run that is not traced */
        if (info->si_pid == getpid() || child_is_known(info->si_pid))
            from.doubt = UNTRACED_SIGNAL;
    } else if (info->si_signo == SIGCHLD &&
               (info->si_code == CLD_EXITED || info->si_code == CLD_KILLED ||
                info->si_code == CLD_DUMPED)) {
        from = child_get_end(info->si_pid, false);
    }
    return from;
}

static void signal_call_record_received(struct traced_thread *t, uint16_t type,
                                        struct event_origin from, const char *text, uintptr_t site)
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

static const char *signal_call_name(int sig) { return sigabbrev_np(sig); }

/* ---- handlers ---- */

/* Returns whether the handler can be recorded, considering what the thread was doing in
 * libpoet-process. */
#pragma weak poet_process_interrupted
bool poet_process_interrupted(void);

static void signal_call_record_handled(int sig, siginfo_t *info)
{
    struct event_origin from = signal_call_receive_origin(info);
    struct traced_thread *t = thread_self();
    if (!t || thread_is_off(t) || (!from.at.number && !from.doubt))
        return;
    if (t->busy || (poet_process_interrupted && !poet_process_interrupted())) {
        thread_note_loss(t, UNTRACED_HANDLER);
        return;
    }
    signal_call_record_received(t, TYPE_HANDLER, from,
                                from.at.number ? NULL : signal_call_name(sig), 0);
    record_mark_nonempty();
}

static void signal_call_handler(int sig, siginfo_t *info, void *context)
{
    int saved = errno;
    uintptr_t handler = atomic_load_explicit(&signal_call_handlers[sig], memory_order_acquire);
    signal_call_record_handled(sig, info);
    input_call_enter_handler(1);
    struct running_handler interrupted = running_handler_enter(sig, __builtin_frame_address(0));
    errno = saved;
    if (handler & WANTS_INFO)
        ((void (*)(int, siginfo_t *, void *))(handler & ~WANTS_INFO))(sig, info, context);
    else
        ((void (*)(int))handler)(sig);
    running_handler_leave(interrupted);
    input_call_enter_handler(-1);
}

static bool signal_call_may_trace(int sig)
{
    return sig > 0 && sig < SIGNALS && sig != SIGKILL && sig != SIGSTOP;
}

static bool is_function(sighandler_t handler)
{
    return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR && handler != SIG_HOLD;
}

static void signal_call_note_foreign(int sig, bool is)
{
    if (!signal_call_may_trace(sig))
        return;
    if (!is)
        atomic_fetch_and(&signal_call_foreign, ~MASK(sig));
    else if (!(atomic_fetch_or(&signal_call_foreign, MASK(sig)) & MASK(sig)))
        child_set_foreign_threads();
}

/* Shows the program's own handler where the system has libpoet's. */
static void signal_call_show_program_action(struct sigaction *old, uintptr_t own)
{
    if (old->sa_sigaction != signal_call_handler)
        return;
    old->sa_sigaction = (void (*)(int, siginfo_t *, void *))(own & ~WANTS_INFO);
    if (!(own & WANTS_INFO))
        old->sa_flags &= ~SA_SIGINFO;
}

/* The program wants the signal of samples (sampling.h) for itself. */
static void signal_call_yield(int sig)
{
    sampling_stop();
    stderr_log_print_once("samples: the program uses signal %d; no more samples are taken", sig);
}

/* Returns whether it sees the default action of that signal, and leaves it so. */
static bool signal_call_leaves_samples(int sig, const struct sigaction *act, struct sigaction *old)
{
    if (LIKELY(!sampling_owns(sig)))
        return false;
    if (act && act->sa_handler != SIG_DFL) {
        signal_call_yield(sig);
        return false;
    }
    if (old)
        *old = (struct sigaction){.sa_handler = SIG_DFL};
    return true;
}

static int signal_call_change_action(uintptr_t site, int sig, const struct sigaction *act,
                                     struct sigaction *old)
{
    real_find();
    if (signal_call_leaves_samples(sig, act, old))
        return 0;
    bool handler = act && is_function(act->sa_handler) && signal_call_may_trace(sig);
    bool ours = handler && site && server_alive() && !thread_runtime() &&
                act->sa_sigaction != signal_call_handler;
    uintptr_t before = signal_call_may_trace(sig) ? atomic_load(&signal_call_handlers[sig]) : 0;
    struct sigaction as = {0};
    if (ours) {
        as = *act;
        as.sa_sigaction = signal_call_handler;
        as.sa_flags |= SA_SIGINFO;
        atomic_store(&signal_call_handlers[sig],
                     (uintptr_t)act->sa_sigaction | (act->sa_flags & SA_SIGINFO ? WANTS_INFO : 0));
    }
    int e = real_functions.sigaction(sig, ours ? &as : act, old);
    if (e != 0 && ours)
        atomic_store(&signal_call_handlers[sig], before);
    if (e == 0 && handler)
        signal_call_note_foreign(sig, !ours);
    if (e == 0 && old)
        signal_call_show_program_action(old, before);
    return e;
}

ENTRY(int, sigaction, (int sig, const struct sigaction *act, struct sigaction *old), sig, act, old)
{
    return signal_call_change_action(site, sig, act, old);
}

static sighandler_t signal_call_set_handler(uintptr_t site, int sig, sighandler_t handler,
                                            unsigned flags, bool masked)
{
    struct sigaction act = {.sa_handler = handler, .sa_flags = (int)flags}, old;
    sigemptyset(&act.sa_mask);
    if (masked)
        sigaddset(&act.sa_mask, sig);
    return signal_call_change_action(site, sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* For other handlers the real function is called. */
ENTRY(sighandler_t, signal, (int sig, sighandler_t handler), sig, handler)
{
    real_find();
    if (!signal_call_may_trace(sig) || handler == SIG_ERR)
        return real_functions.signal(sig, handler);
    bool interrupts = atomic_load(&interrupting) & MASK(sig);
    return signal_call_set_handler(site, sig, handler, interrupts ? 0 : SA_RESTART, true);
}

#ifndef SA_INTERRUPT
#define SA_INTERRUPT 0x20000000
#endif

ENTRY(sighandler_t, __sysv_signal, (int sig, sighandler_t handler), sig, handler)
{
    real_find();
    if (!signal_call_may_trace(sig) || handler == SIG_ERR)
        return real_functions.sysv_signal(sig, handler);
    return signal_call_set_handler(site, sig, handler,
                                   (unsigned)SA_RESETHAND | SA_NODEFER | SA_INTERRUPT, false);
}

ENTRY(int, siginterrupt, (int sig, int flag), sig, flag)
{
    (void)site;
    real_find();
    int e = real_functions.siginterrupt(sig, flag);
    if (e == 0 && signal_call_may_trace(sig)) {
        if (flag)
            atomic_fetch_or(&interrupting, MASK(sig));
        else
            atomic_fetch_and(&interrupting, ~MASK(sig));
    }
    return e;
}

#if !defined(POET_STATIC)
/* Other names: their handlers are not traced, but a query of the previous one returns the program's
 * own. */
#define OTHER(name, member)                                                                        \
    __attribute__((visibility("default"))) sighandler_t name(int sig, sighandler_t handler)        \
    {                                                                                              \
        real_find();                                                                               \
        if (sampling_owns(sig))                                                                    \
            signal_call_yield(sig);                                                                \
        uintptr_t own = signal_call_may_trace(sig) ? atomic_load(&signal_call_handlers[sig]) : 0;  \
        sighandler_t before = real_functions.member(sig, handler);                                 \
        if (before != SIG_ERR && is_function(handler))                                             \
            signal_call_note_foreign(sig, true);                                                   \
        return before == (sighandler_t)(uintptr_t)signal_call_handler                              \
                   ? (sighandler_t)(own & ~WANTS_INFO)                                             \
                   : before;                                                                       \
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
    int result = real_functions.signalfd(fd, mask, flags);
    int saved = errno;
    for (int sig = 1; result >= 0 && mask && sig < SIGNALS; sig++)
        if (sigismember(mask, sig) == 1)
            signal_call_note_foreign(sig, true);
    errno = saved;
    return result;
}

/* ---- sending ---- */

struct signal_sending {
    pid_t pid, tid; /* tid 0: to the process */
    int sig, code;
    const union sigval *value; /* of sigqueue() */
    uint32_t about;
};

/* Otherwise its core dump would look different. */
static bool signal_call_dumps_core(int sig)
{
    return sig == SIGQUIT || sig == SIGILL || sig == SIGABRT || sig == SIGFPE || sig == SIGSEGV ||
           sig == SIGBUS || sig == SIGSYS || sig == SIGTRAP || sig == SIGXCPU || sig == SIGXFSZ;
}

static bool signal_call_may_carry_token(const struct signal_sending *s, pid_t self)
{
    if (!seccomp_allows(ALLOWED_SIGNALS))
        return false;
    if (s->pid == self)
        return !(atomic_load(&signal_call_foreign) & MASK(s->sig)) &&
               (!signal_call_dumps_core(s->sig) || atomic_load(&signal_call_handlers[s->sig]));
    return s->pid > 0 && !s->tid && !signal_call_dumps_core(s->sig) && child_is_traced(s->pid);
}

/* Records the event and returns the token for the signal; check 0: none. */
static struct signal_token signal_call_record_sent(struct traced_thread *t,
                                                   const struct signal_sending *s, pid_t self,
                                                   uintptr_t site)
{
    bool carries = signal_call_may_carry_token(s, self), here = s->pid == self;
    uint64_t serial = carries && !here ? child_serial() : 0;
    struct trace_line *place = thread_place(t);
    const char *text = signal_call_name(s->sig);
    uint64_t number = record_write(
        t,
        &(struct record){.shape = TYPE_SIGNAL_SENT,
                         .flags = (uint16_t)(RELATION_SEND | (serial ? SLOT_KEYED : 0u) |
                                             (text ? SLOT_TEXT : 0u)),
                         .a = place,
                         .take_a = 1,
                         .about = s->about,
                         .site = site,
                         .key = serial ? signal_token_keys() : 0,
                         .partner = {0, serial},
                         .payload = text,
                         .payload_bytes = text ? (uint32_t)strlen(text) : 0},
        NULL);
    record_mark_nonempty();
    uint64_t line = trace_line_index(place);
    if (!carries || !number || t->lost_events.count || (!here && !serial) || (number >> 40) ||
        (line >> 24))
        return (struct signal_token){0};
    return here ? signal_token_make(line << 40 | number, tracer.process.instance, s->code)
                : signal_token_make(serial, signal_token_keys(), s->code);
}

static bool send_with(const struct signal_sending *s, struct signal_token token, pid_t self)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = s->sig;
    info.si_code = SI_QUEUE;
    info.si_pid = self;
    info.si_uid = getuid();
    if (s->value)
        info.si_value = *s->value;
    signal_token_attach(&info, token);
    return (s->tid ? syscall(SYS_rt_tgsigqueueinfo, s->pid, s->tid, s->sig, &info)
                   : syscall(SYS_rt_sigqueueinfo, s->pid, s->sig, &info)) == 0;
}

/* Returns true if it was sent. */
static bool send_signal(uintptr_t site, const struct signal_sending *s)
{
    struct traced_thread *t =
        site && signal_call_may_trace(s->sig) && !thread_runtime() ? thread_self() : NULL;
    if (!t || thread_is_off(t) || t->busy)
        return false;
    int saved = errno;
    pid_t self = getpid();
    struct signal_token token = signal_call_record_sent(t, s, self, site);
    bool sent = token.check && send_with(s, token, self);
    errno = saved;
    return sent;
}

ENTRY(int, kill, (pid_t pid, int sig), pid, sig)
{
    real_find();
    return send_signal(site, &(struct signal_sending){.pid = pid, .sig = sig, .code = SI_USER})
               ? 0
               : real_functions.kill(pid, sig);
}

ENTRY(int, killpg, (pid_t group, int sig), group, sig)
{
    real_find();
    send_signal(site, &(struct signal_sending){.pid = -1, .sig = sig});
    return real_functions.killpg(group, sig);
}

ENTRY(int, sigqueue, (pid_t pid, int sig, const union sigval value), pid, sig, value)
{
    real_find();
    struct signal_sending s = {.pid = pid, .sig = sig, .code = SI_QUEUE, .value = &value};
    return send_signal(site, &s) ? 0 : real_functions.sigqueue(pid, sig, value);
}

static bool send_to_thread(uintptr_t site, pthread_t id, int sig, int code,
                           const union sigval *value)
{
    struct thread_info *task = site ? thread_lifetime_find(id) : NULL;
    pid_t tid = task && !(atomic_load(&task->flags) & TASK_ENDED) ? task->tid : 0;
    return send_signal(site,
                       &(struct signal_sending){.pid = tid ? getpid() : -1,
                                                .tid = tid,
                                                .sig = sig,
                                                .code = code,
                                                .value = value,
                                                .about = task ? trace_line_index(&task->line) : 0});
}

ENTRY(int, pthread_kill, (pthread_t id, int sig), id, sig)
{
    real_find();
    return send_to_thread(site, id, sig, SI_TKILL, NULL) ? 0 : real_functions.pthread_kill(id, sig);
}

ENTRY(int, pthread_sigqueue, (pthread_t id, int sig, const union sigval value), id, sig, value)
{
    real_find();
    return send_to_thread(site, id, sig, SI_QUEUE, &value)
               ? 0
               : real_functions.pthread_sigqueue(id, sig, value);
}

ENTRY(int, tgkill, (pid_t pid, pid_t tid, int sig), pid, tid, sig)
{
    real_find();
    struct signal_sending s = {.pid = pid, .tid = tid, .sig = sig, .code = SI_TKILL};
    return tid > 0 && send_signal(site, &s) ? 0 : real_functions.tgkill(pid, tid, sig);
}

ENTRY(int, raise, (int sig), sig)
{
    real_find();
    struct signal_sending s = {
        .pid = getpid(), .tid = (pid_t)syscall(SYS_gettid), .sig = sig, .code = SI_TKILL};
    return send_signal(site, &s) ? 0 : real_functions.raise(sig);
}

/* ---- waiting ---- */

static void signal_call_end_wait(void *t)
{
    if (t)
        instrument_wait_end(t, TYPE_SIGWAIT);
}

static void signal_call_record_waited(struct traced_thread *t, int result, struct event_origin from,
                                      int error, uintptr_t site)
{
    if (result > 0)
        signal_call_record_received(t, TYPE_SIGNAL_RECEIVED, from, signal_call_name(result), site);
    else
        record_event(t, error == EAGAIN ? TYPE_TIMEOUT : TYPE_SIGWAIT_FAILED, thread_place(t), 0,
                     site);
    record_mark_nonempty();
}

static int signal_call_wait(uintptr_t site, const sigset_t *signals, siginfo_t *info,
                            const struct timespec *ts, bool timed)
{
    real_find();
    struct traced_thread *t = site ? thread_recording() : NULL;
    siginfo_t own, *in = info ? info : &own;
    int saved = errno, result;
    if (t) {
        record_request(t, TYPE_SIGWAIT, thread_place(t), 0, site);
        instrument_wait_begin(t, TYPE_SIGWAIT, site);
    }
    pthread_cleanup_push(signal_call_end_wait, t);
    errno = saved;
    result = timed ? real_functions.sigtimedwait(signals, in, ts)
                   : real_functions.sigwaitinfo(signals, in);
    saved = errno;
    pthread_cleanup_pop(1);
    struct event_origin from =
        result > 0 ? signal_call_receive_origin(in) : (struct event_origin){0};
    if (t)
        signal_call_record_waited(t, result, from, saved, site);
    errno = saved;
    return result;
}

ENTRY(int, sigwaitinfo, (const sigset_t *signals, siginfo_t *info), signals, info)
{
    return signal_call_wait(site, signals, info, NULL, false);
}

ENTRY(int, sigtimedwait, (const sigset_t *signals, siginfo_t *info, const struct timespec *ts),
      signals, info, ts)
{
    return signal_call_wait(site, signals, info, ts, true);
}

ENTRY(int, sigwait, (const sigset_t *signals, int *sig), signals, sig)
{
    int saved = errno, result;
    do
        result = signal_call_wait(site, signals, NULL, NULL, false);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        result = errno;
    else if (sig)
        *sig = result, result = 0;
    errno = saved;
    return result;
}
