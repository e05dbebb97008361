/* Calls of a child of vfork (clients/libpoet/profile/vforked.h). Its parent does not run meanwhile,
 * so no two processes write to the region at the same time. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/vforked.h"

#include "clients/libpoet/profile/call_stack.h"

static bool vforked_is_here(const struct thread_profile *m)
{
    return m && m->vforked.process && m->vforked.process == getpid();
}

void vforked_ends(struct thread_profile *m)
{
    if (vforked_is_here(m) && cpu_gap_check(m, call_stack_top(m)))
        frames_leave_child(m);
}

/* No call takes the fast path from here on. */
void vforked_leaves(struct thread_profile *m)
{
    if (!vforked_is_here(m) || !cpu_gap_check(m, call_stack_top(m)))
        return;
    m->vforked.leaves = true;
    m->room = 0;
}
