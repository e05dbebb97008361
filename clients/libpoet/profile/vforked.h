/* Calls of a child of vfork, which runs in its parent's place, on its stack, and never returns from
 * them: they end when it ends or executes another program (frames_rejoin). Such a child is detected
 * at the first reading of its CPU clock (cpu_gap.c): calls that were open then are its parent's. */
#ifndef CLIENTS_LIBPOET_PROFILE_VFORKED_H
#define CLIENTS_LIBPOET_PROFILE_VFORKED_H

#include "clients/libpoet/profile/thread_profile.h"

#include <unistd.h>

#pragma GCC visibility push(hidden)

/* For the calling thread, which may be the child's parent or not be measured at all: the child
 * ends; it is about to execute another program; and that failed. */
void vforked_ends(struct thread_profile *m);
void vforked_leaves(struct thread_profile *m);
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
