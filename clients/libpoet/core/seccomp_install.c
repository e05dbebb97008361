/* Restrictions that a thread imposes on itself, which libpoet must obey: no reading of the
 * time-stamp counter, and with seccomp's strict mode no system call but read, write, _exit and
 * sigreturn. The first is inherited, so libpoet stops reading the counter altogether; after the
 * second the thread records nothing, which is reported before. A filter is evaluated for libpoet's
 * own calls (seccomp_allowed.h), for the whole process, as other threads may inherit it: libpoet
 * does without calls that it does not allow, and if nothing can be recorded without them, the
 * process is not traced any more. prctl is interposed only where libpoet is loaded dynamically. */
#define _GNU_SOURCE
#include "clients/libpoet/core/seccomp_install.h"

#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/interpose/thread_lifetime.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/profile/sampling.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static __thread struct {
    bool quiet, shut;
    struct traced_thread *mine, *base;
    /* what the filter that is about to be set denies, and was allowed until now */
    uint32_t forbidden;
} now __attribute__((tls_model("initial-exec")));

/* Functions of libpoet-process, if it is loaded: for the calling thread, and for all. */
#pragma weak poet_process_quiet
#pragma weak poet_process_shut
void poet_process_quiet(bool quiet);
void poet_process_shut(bool shut);

static void seccomp_install_report(enum untraced_reason reason, const char *what)
{
    struct traced_thread *t = thread_present();
    uint8_t bytes[128];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    if (!atomic_load(&tracer.lifetime.number))
        return;
    if (!t) {
        untraced_use_report(reason, what);
        return;
    }
    encode_untraced(&body, &(struct untraced_message){(uint8_t)reason, text_view_of(what)});
    message_queue_send(t, MESSAGE_UNTRACED, &body);
}

static void seccomp_install_enter_quiet(bool quiet)
{
    if (quiet && thread_mine)
        region_check(thread_mine);
    bool shut = foreign_thread_block(quiet || now.shut);
    if (quiet) {
        now.shut = shut;
        now.mine = thread_mine;
        now.base = thread_base;
    }
    thread_mine = quiet ? NULL : now.mine;
    thread_base = quiet ? NULL : now.base;
    now.quiet = quiet;
    if (now.base)
        thread_lifetime_at_end(quiet ? NULL : now.base);
    if (poet_process_quiet)
        poet_process_quiet(quiet);
}

static _Atomic uint32_t seccomp_silenced_lifetime; /* the lifetime that ended this way; 0: none */

bool seccomp_is_quiet(void) { return now.quiet || atomic_load(&seccomp_silenced_lifetime); }

/* No thread records any more; the connection stays, so that the server notices the end of the
 * process. */
static void seccomp_install_enter_silent(void)
{
    seccomp_install_report(UNTRACED_THREAD, "a process that restricts its system calls (seccomp)");
    seccomp_install_enter_quiet(true);
    atomic_store(&seccomp_silenced_lifetime, current_lifetime_exchange(0));
}

/* Returns what a filter denies; reads a copy, since for a bad address the kernel must report the
 * error. */
static uint32_t seccomp_install_denied_by(long program)
{
    static struct sock_filter filter[BPF_MAXINSNS];
    static latch copying;
    struct sock_fprog head = {0};
    struct iovec to = {&head, sizeof head}, from = {(void *)(uintptr_t)program, sizeof head};
    uint32_t bits = 0;
    if (!seccomp_allows(ALLOWED_PEEK))
        return seccomp_denied_by(NULL, 0);
    latch_lock(&copying);
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof head &&
        head.len <= BPF_MAXINSNS) {
        size_t bytes = head.len * sizeof *filter;
        to = (struct iovec){filter, bytes};
        from = (struct iovec){head.filter, bytes};
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes)
            bits = seccomp_denied_by(filter, head.len);
    } else if (errno != EFAULT) {
        bits = seccomp_denied_by(NULL, 0);
    }
    latch_unlock(&copying);
    return bits;
}

static bool seccomp_install_filter_begin(long program)
{
    uint32_t before = atomic_load(&tracer.seccomp.denied),
             bits = seccomp_install_denied_by(program);
    /* the sender checks there which threads are left */
    if (tracer.server.needs_socket && bits & 1u << ALLOWED_FILES)
        bits |= 1u << ALLOWED_RECORDING;
    now.forbidden = bits & ~before;
    if (now.forbidden & 1u << ALLOWED_STREAMS && poet_process_shut) {
        seccomp_install_report(UNTRACED_STREAM, "streams that cannot be inspected (seccomp)");
        poet_process_shut(true);
    }
    if (now.forbidden & (1u << ALLOWED_RECORDING | 1u << ALLOWED_SAMPLES))
        sampling_stop();
    if (now.forbidden & 1u << ALLOWED_RECORDING)
        seccomp_install_enter_silent();
    atomic_fetch_or(&tracer.seccomp.denied, now.forbidden);
    return now.forbidden != 0;
}

static void seccomp_install_filter_failed(void)
{
    atomic_fetch_and(&tracer.seccomp.denied, ~now.forbidden);
    if (now.forbidden & 1u << ALLOWED_STREAMS && poet_process_shut)
        poet_process_shut(false);
    if (now.forbidden & 1u << ALLOWED_RECORDING) {
        current_lifetime_exchange(atomic_exchange(&seccomp_silenced_lifetime, 0));
        seccomp_install_enter_quiet(false);
    }
    now.forbidden = 0;
}

bool seccomp_install_begin(long number, long what, long how, long program)
{
    int saved = errno;
    bool seccomp = number == SYS_seccomp;
    bool strict = seccomp ? what == SECCOMP_SET_MODE_STRICT
                          : what == PR_SET_SECCOMP && how == SECCOMP_MODE_STRICT;
    bool filter = seccomp ? what == SECCOMP_SET_MODE_FILTER
                          : what == PR_SET_SECCOMP && how == SECCOMP_MODE_FILTER;
    if (number == SYS_prctl && what == PR_SET_TSC && how == PR_TSC_SIGSEGV)
        tracer_clock_forbidden();
    now.forbidden = 0;
    strict = strict && !seccomp_is_quiet();
    if (strict) {
        if (thread_base)
            sampling_end(thread_base);
        seccomp_install_report(UNTRACED_THREAD,
                               "a thread that restricts its system calls (seccomp)");
        seccomp_install_enter_quiet(true);
    }
    bool undo = strict || (filter && !seccomp_is_quiet() && seccomp_install_filter_begin(program));
    errno = saved;
    return undo;
}

/* The time of the open calls is not measured from here on. */
void seccomp_install_done(void)
{
    if (now.quiet && now.mine)
        region_quit(now.mine);
}

void seccomp_install_failed(void)
{
    int saved = errno;
    if (now.forbidden)
        seccomp_install_filter_failed();
    else
        seccomp_install_enter_quiet(false);
    errno = saved;
}

#if !defined(POET_STATIC)
/* (sys/prctl.h declares it with an ellipsis.) */
__attribute__((visibility("default"))) int prctl(int option, unsigned long a, unsigned long b,
                                                 unsigned long c, unsigned long d);
__attribute__((visibility("default"))) int prctl(int option, unsigned long a, unsigned long b,
                                                 unsigned long c, unsigned long d)
{
    real_find();
    bool undo = seccomp_install_begin(SYS_prctl, option, (long)a, (long)b);
    int result = real_functions.prctl(option, a, b, c, d);
    if (undo && result < 0)
        seccomp_install_failed();
    else if (undo)
        seccomp_install_done();
    return result;
}
#endif
