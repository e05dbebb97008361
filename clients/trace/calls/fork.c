/* Forks. */
#define _GNU_SOURCE
#include "clients/trace/calls/child.h"
#include "clients/trace/core/allowed.h"
#include "clients/trace/core/attach.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/thread.h"
#include "wire/event.h"
#include "wire/slot.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#define FORK_KEYS 0xf0f0f0f0f0f0f0f0u /* apart from other keys of this process */

/* ---- fork ---- */

/* A message to the child, which receives it when it begins to record.  Where it does not fit
 * there is none, or the child would wait for it. */
static pid_t follow_fork(uintptr_t site, pid_t (*call)(void), bool runs_handlers)
{
    struct thread *t = site ? thread_recording() : NULL;
    static _Atomic uint64_t serial;
    int saved = errno;
    if (t && !allowed(ALLOWED_CONNECTING)) /* the child will reach no server */
        thread_unfollowed(t, UNSEEN_THREAD);
    uint64_t low = t ? child_serial() : 0, high = low ? child_keys() : instance ^ FORK_KEYS;
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
    bool told = number && !t->lost_count;
    attach_forking(told ? high : 0, told ? low : 0);
    errno = saved;
    pid_t child = call();
    saved = errno;
    if (child == 0 && !runs_handlers)
        attach_forked();
    if (child != 0)
        attach_forking(0, 0); /* the next one may come from where we do not see it */
    errno = saved;
    return child;
}

/* A static C library's fork() comes to our _Fork(). */
static __thread bool within_fork __attribute__((tls_model("initial-exec")));

ENTRY_NONE(pid_t, fork)
{
    real_find();
    within_fork = true;
    pid_t child = follow_fork(site, real.fork, true);
    within_fork = false;
    return child;
}

ENTRY_NONE(pid_t, _Fork)
{
    real_find();
    return within_fork ? real._Fork() : follow_fork(site, real._Fork, false);
}
