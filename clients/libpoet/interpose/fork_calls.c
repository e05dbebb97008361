/* Forks, by the C library and by direct system calls. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/fork_calls.h"

#include "clients/libpoet/interpose/child_process.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/lifecycle.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/mask.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/thread.h"
#include "wire/event_types.h"
#include "wire/slot.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FORK_KEYS 0xf0f0f0f0f0f0f0f0u /* distinguishes them from other keys of this process */

/* ---- fork ---- */

#pragma weak poet_process_forking
void poet_process_forking(void);

/* The interposed call that a thread is in: what its prepare handlers do comes before the child, so
 * the last of them records the fork. */
static __thread struct forking {
    bool ours;
    uintptr_t site;
} forking __attribute__((tls_model("initial-exec")));

/* Records a message to the child, which receives it when it begins to record. If it finds no room
 * there is none, or the child would wait for it. */
static void record_fork(struct traced_thread *t, uintptr_t site)
{
    static _Atomic uint64_t serial;
    int saved = errno;
    if (t && !seccomp_allows(ALLOWED_CONNECTING)) /* the child cannot connect to a server */
        thread_note_untraced(t, UNTRACED_THREAD);
    uint64_t low = t ? child_serial() : 0,
             high = low ? child_key_high() : process_instance ^ FORK_KEYS;
    if (t && !low)
        low = atomic_fetch_add(&serial, 1) + 1;
    uint64_t number = t ? record_write(t,
                                       &(struct record){.shape = TYPE_FORK,
                                                        .flags = RELATION_SEND | SLOT_KEYED,
                                                        .a = thread_place(t),
                                                        .take_a = 1,
                                                        .site = site,
                                                        .key = high,
                                                        .partner = {0, low},
                                                        .count = 1},
                                       NULL)
                        : 0;
    bool known = number && !t->lost_events.count;
    lifecycle_forking(known ? high : 0, known ? low : 0);
    errno = saved;
}

static bool prepares; /* the last prepare handler is libpoet's */

/* A handler that runs in the child before that has begun would write to the parent's queue. So the
 * thread that forks has no signals until then. */
static __thread struct {
    bool is;
    struct mask before;
} held __attribute__((tls_model("initial-exec")));

static void fork_call_hold_signals(void)
{
    if (!held.is)
        held.before = mask_hold();
    held.is = true;
}

void fork_call_release_signals(void)
{
    if (held.is)
        mask_set(held.before);
    held.is = false;
}

void fork_call_prepare(void)
{
    if (forking.ours) /* otherwise the C library's own, as for daemon */
        record_fork(forking.site ? thread_recording() : NULL, forking.site);
    fork_call_hold_signals();
}

void fork_call_prepared(bool registered) { prepares = registered; }

static void fork_call_end_common(long child, bool runs_handlers)
{
    int saved = errno;
    if (child == 0 && !runs_handlers)
        lifecycle_forked();
    /* the next fork may not be noticed */
    if (child != 0)
        lifecycle_forking(0, 0);
    errno = saved;
}

static pid_t fork_call_trace(uintptr_t site, pid_t (*call)(void), bool runs_handlers)
{
    struct forking outer = forking; /* a prepare handler may fork, too */
    forking = (struct forking){true, site};
    if (!runs_handlers || !prepares) {
        record_fork(site ? thread_recording() : NULL, site);
        fork_call_hold_signals();
    }
    pid_t child = call();
    forking = outer;
    fork_call_end_common(child, runs_handlers);
    int saved = errno;
    fork_call_release_signals();
    errno = saved;
    return child;
}

/* ---- by direct system calls ---- */

static uint64_t clone_flags(long number, long a, long b)
{
    uint64_t flags = number == SYS_clone ? (uint64_t)a : 0;
    /* (the kernel rejects arguments that are not valid) */
    if (number == SYS_clone3 && b >= 64 && a)
        memcpy(&flags, (const void *)a, sizeof flags);
    return flags;
}

bool fork_call_is_fork(long number, long a, long b)
{
#if defined(SYS_fork)
    if (number == SYS_fork)
        return true;
#endif
    return (number == SYS_clone || number == SYS_clone3) && !(clone_flags(number, a, b) & CLONE_VM);
}

void fork_call_begin(uintptr_t site)
{
    if (poet_process_forking)
        poet_process_forking();
    record_fork(site ? thread_recording() : NULL, site);
    fork_call_hold_signals();
}

void fork_call_end(long number, long a, long b, long child)
{
    if (child != 0 || !(clone_flags(number, a, b) & CLONE_FILES))
        fork_call_end_common(child, false);
    else
        lifecycle_disable();
    fork_call_release_signals();
}

/* ---- by the C library ---- */

/* A static C library's fork() calls the interposed _Fork(). */
static __thread bool within_fork __attribute__((tls_model("initial-exec")));

ENTRY_NONE(pid_t, fork)
{
    real_find();
    within_fork = true;
    pid_t child = fork_call_trace(site, real_functions.fork, true);
    within_fork = false;
    return child;
}

ENTRY_NONE(pid_t, _Fork)
{
    real_find();
    return within_fork ? real_functions._Fork()
                       : fork_call_trace(site, real_functions._Fork, false);
}
