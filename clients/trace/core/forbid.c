/* What a thread forbids itself, and libpoet must not do there either: to read the time-stamp counter, and
 * with seccomp's strict mode every system call but read, write, _exit and sigreturn.  The first is
 * inherited, so nobody reads the counter any more; after the second the thread records nothing, which is
 * told before.  A filter is asked which of our own calls it allows (allowed.h), for the whole process, as others
 * may inherit it: what it does not allow is done without, and where nothing can be recorded so the process is silent.
 * prctl is stood before only where libpoet is loaded dynamically. */
#define _GNU_SOURCE
#include "clients/trace/core/forbid.h"

#include "clients/trace/calls/threads.h"
#include "clients/trace/core/allowed.h"
#include "clients/trace/core/clock.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/stranger.h"
#include "clients/trace/core/tell.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/core/unseen.h"
#include "clients/trace/measure/region.h"
#include "wire/message.h"
#include "wire/told.h"

#include <errno.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static __thread struct {
    bool quiet, shut;
    struct thread *mine, *base;
    uint32_t forbidden; /* by the filter that is about to be set: what was allowed until now */
} now __attribute__((tls_model("initial-exec")));

/* Of libpoet-process, where it is: for the calling thread, and for all. */
#pragma weak poet_process_quiet
#pragma weak poet_process_shut
void poet_process_quiet(bool quiet);
void poet_process_shut(bool shut);

static void tell(enum unseen reason, const char *what)
{
    struct thread *t = thread_present();
    uint8_t bytes[128];
    struct out body = {.data = bytes, .room = sizeof bytes};
    if (!atomic_load(&live))
        return;
    if (!t) {
        unseen_tell(reason, what);
        return;
    }
    put_told_unseen(&body, &(struct told_unseen){(uint8_t)reason, text_of(what)});
    tell_control(t, MESSAGE_UNSEEN, &body);
}

static void be_quiet(bool quiet)
{
    if (quiet && thread_mine)
        region_look(thread_mine);
    bool shut = stranger_shut(quiet || now.shut);
    if (quiet) {
        now.shut = shut;
        now.mine = thread_mine;
        now.base = thread_base;
    }
    thread_mine = quiet ? NULL : now.mine;
    thread_base = quiet ? NULL : now.base;
    now.quiet = quiet;
    if (now.base)
        life_at_end(quiet ? NULL : now.base);
    if (poet_process_quiet)
        poet_process_quiet(quiet);
}

static _Atomic uint32_t silenced; /* the life that ended so; 0: none */

bool forbid_quiet(void) { return now.quiet || atomic_load(&silenced); }

/* Nobody records any more; the connection stays, so that the server sees when the process ends. */
static void be_silent(void)
{
    tell(UNSEEN_THREAD, "a process that forbids itself system calls (seccomp)");
    be_quiet(true);
    atomic_store(&silenced, live_exchange(0));
}

/* What a filter does not allow; by a copy, since where there is none the kernel is to say so. */
static uint32_t not_allowed_by(long program)
{
    static struct sock_filter filter[BPF_MAXINSNS];
    static latch copying;
    struct sock_fprog head = {0};
    struct iovec to = {&head, sizeof head}, from = {(void *)(uintptr_t)program, sizeof head};
    uint32_t bits = 0;
    if (!allowed(ALLOWED_PEEK))
        return allowed_not_by(NULL, 0);
    latch_take(&copying);
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof head &&
        head.len <= BPF_MAXINSNS) {
        size_t bytes = head.len * sizeof *filter;
        to = (struct iovec){filter, bytes};
        from = (struct iovec){head.filter, bytes};
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes)
            bits = allowed_not_by(filter, head.len);
    } else if (errno != EFAULT) {
        bits = allowed_not_by(NULL, 0);
    }
    latch_give(&copying);
    return bits;
}

static bool filter_before(long program)
{
    uint32_t before = atomic_load(&allowed_not), bits = not_allowed_by(program);
    if (server_sends && bits & 1u << ALLOWED_FILES) /* the sender looks there who is left */
        bits |= 1u << ALLOWED_RECORDING;
    now.forbidden = bits & ~before;
    if (now.forbidden & 1u << ALLOWED_STREAMS && poet_process_shut) {
        tell(UNSEEN_STREAM, "streams where they cannot be looked at (seccomp)");
        poet_process_shut(true);
    }
    if (now.forbidden & 1u << ALLOWED_RECORDING)
        be_silent();
    atomic_fetch_or(&allowed_not, now.forbidden);
    return now.forbidden != 0;
}

static void filter_failed(void)
{
    atomic_fetch_and(&allowed_not, ~now.forbidden);
    if (now.forbidden & 1u << ALLOWED_STREAMS && poet_process_shut)
        poet_process_shut(false);
    if (now.forbidden & 1u << ALLOWED_RECORDING) {
        live_exchange(atomic_exchange(&silenced, 0));
        be_quiet(false);
    }
    now.forbidden = 0;
}

bool forbid_before(long number, long what, long how, long program)
{
    int saved = errno;
    bool seccomp = number == SYS_seccomp;
    bool strict = seccomp ? what == SECCOMP_SET_MODE_STRICT
                          : what == PR_SET_SECCOMP && how == SECCOMP_MODE_STRICT;
    bool filter = seccomp ? what == SECCOMP_SET_MODE_FILTER
                          : what == PR_SET_SECCOMP && how == SECCOMP_MODE_FILTER;
    if (number == SYS_prctl && what == PR_SET_TSC && how == PR_TSC_SIGSEGV)
        clock_forbidden();
    now.forbidden = 0;
    strict = strict && !forbid_quiet();
    if (strict) {
        tell(UNSEEN_THREAD, "a thread that forbids itself system calls (seccomp)");
        be_quiet(true);
    }
    bool undo = strict || (filter && !forbid_quiet() && filter_before(program));
    errno = saved;
    return undo;
}

/* What the open calls take from here on is not measured. */
void forbid_done(void)
{
    if (now.quiet && now.mine)
        region_leave(now.mine);
}

void forbid_failed(void)
{
    int saved = errno;
    if (now.forbidden)
        filter_failed();
    else
        be_quiet(false);
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
    bool undo = forbid_before(SYS_prctl, option, (long)a, (long)b);
    int result = real.prctl(option, a, b, c, d);
    if (undo && result < 0)
        forbid_failed();
    else if (undo)
        forbid_done();
    return result;
}
#endif
