/* What a thread forbids itself, and libpoet must not do there either: to read the time-stamp counter, and
 * with seccomp's strict mode every system call but read, write, _exit and sigreturn.  The first is
 * inherited, so nobody reads the counter any more; after the second the thread records nothing, which is
 * told before.  prctl is stood before only where libpoet is loaded dynamically. */
#define _GNU_SOURCE
#include "clients/trace/core/forbid.h"

#include "clients/trace/calls/threads.h"
#include "clients/trace/core/clock.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/stranger.h"
#include "clients/trace/core/tell.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/core/unseen.h"
#include "wire/message.h"
#include "wire/told.h"

#include <errno.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

static __thread struct {
    bool quiet, shut;
    struct thread *mine, *base;
} now __attribute__((tls_model("initial-exec")));

#pragma weak poet_process_quiet
void poet_process_quiet(bool quiet); /* of libpoet-process, where it is */

static void tell(void)
{
    static const char what[] = "a thread that forbids itself system calls (seccomp)";
    struct thread *t = thread_present();
    uint8_t bytes[96];
    struct out body = {.data = bytes, .room = sizeof bytes};
    if (!atomic_load(&live))
        return;
    if (!t) {
        unseen_tell(UNSEEN_THREAD, what);
        return;
    }
    put_told_unseen(&body, &(struct told_unseen){UNSEEN_THREAD, text_of(what)});
    tell_control(t, MESSAGE_UNSEEN, &body);
}

static void be_quiet(bool quiet)
{
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

static _Atomic bool filtered;

bool forbid_quiet(void) { return now.quiet; }
bool forbid_filtered(void) { return atomic_load(&filtered); }

bool forbid_before(long number, long what, long how)
{
    int saved = errno;
    bool strict = number == SYS_seccomp ? what == SECCOMP_SET_MODE_STRICT
                                        : what == PR_SET_SECCOMP && how == SECCOMP_MODE_STRICT;
    if (number == SYS_prctl && what == PR_SET_TSC && how == PR_TSC_SIGSEGV)
        clock_forbidden();
    if (number == SYS_seccomp || what == PR_SET_SECCOMP)
        atomic_store(&filtered, true);
    strict = strict && !now.quiet;
    if (strict) {
        tell();
        be_quiet(true);
    }
    errno = saved;
    return strict;
}

void forbid_failed(void) { be_quiet(false); }

#if !defined(POET_STATIC)
/* (sys/prctl.h declares it with an ellipsis.) */
__attribute__((visibility("default"))) int prctl(int option, unsigned long a, unsigned long b,
                                                 unsigned long c, unsigned long d);
__attribute__((visibility("default"))) int prctl(int option, unsigned long a, unsigned long b,
                                                 unsigned long c, unsigned long d)
{
    real_find();
    bool quiet = forbid_before(SYS_prctl, option, (long)a);
    int result = real.prctl(option, a, b, c, d);
    if (quiet && result < 0)
        forbid_failed();
    return result;
}
#endif
