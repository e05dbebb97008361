/* The calls of a child of vfork, which runs in its parent's place, on its stack, and never returns
 * from them: they have ended when it has, or becomes another program (frames_rejoin).
 *
 * Such a child is known from where its processor clock is looked at first (cpu_gap.c): what calls
 * were open then are its parent's. */
#ifndef CLIENTS_LIBPOET_PROFILE_VFORKED_H
#define CLIENTS_LIBPOET_PROFILE_VFORKED_H

#include "clients/libpoet/profile/thread_profile.h"

#include <unistd.h>

#pragma GCC visibility push(hidden)

/* Of the calling thread, which may be its parent's or not be measured at all: the child ends; it is
 * about to become another program; and it did not. */
void vforked_ends(struct thread_profile *m);
void vforked_leaves(struct thread_profile *m);
static inline void vforked_stays(struct thread_profile *m)
{
    if (!m || !m->vforked_leaves)
        return;
    m->vforked_leaves = false;
    m->room = m->ignored ? 0 : REGION_FRAMES;
}

/* In a child, at the innermost call. */
static inline void vforked_seen(struct thread_profile *m,
                                const struct profile_region_frame *innermost)
{
    int child = getpid();
    if (m->vforked == child)
        return;
    m->vforked = child;
    m->vforked_depth = (uint32_t)(innermost - frames_of(m)) + 1;
}

#pragma GCC visibility pop
#endif
