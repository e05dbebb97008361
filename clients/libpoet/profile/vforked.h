/* Calls of a child of vfork, which runs in its parent's place, on its stack, and never returns from
 * them: they end when it ends or executes another program (frames_rejoin). Such a child is detected
 * at the first reading of its CPU clock (cpu_gap.c): calls that were open then are its parent's.
 * The parent does not run meanwhile, so no two processes write to the region at the same time. */
#ifndef CLIENTS_LIBPOET_PROFILE_VFORKED_H
#define CLIENTS_LIBPOET_PROFILE_VFORKED_H

#include "clients/libpoet/profile/call_stack.h"

#include <unistd.h>

#pragma GCC visibility push(hidden)

static inline bool vforked_is_here(const struct thread_profile *m)
{
    return m && m->vforked.process && m->vforked.process == getpid();
}

/* For the calling thread, which may be the child's parent or not be measured at all: the child
 * ends; it is about to execute another program; and that failed. */
static inline void vforked_ends(struct thread_profile *m)
{
    if (vforked_is_here(m) && cpu_gap_check(m, call_stack_top(m)))
        frames_leave_child(m);
}

/* No call takes the fast path from here on. */
static inline void vforked_leaves(struct thread_profile *m)
{
    if (!vforked_is_here(m) || !cpu_gap_check(m, call_stack_top(m)))
        return;
    m->vforked.leaves = true;
    m->room = 0;
}

static inline void vforked_stays(struct thread_profile *m)
{
    if (!m || !m->vforked.leaves)
        return;
    m->vforked.leaves = false;
    m->room = m->ignored ? 0 : REGION_FRAMES;
}

/* Called in a child, at the innermost call. */
static inline void vforked_seen(struct thread_profile *m,
                                const struct profile_region_frame *innermost)
{
    int child = getpid();
    if (m->vforked.process == child)
        return;
    m->vforked.process = child;
    m->vforked.depth = (uint32_t)(innermost - frames_of(m)) + 1;
}

#pragma GCC visibility pop
#endif
