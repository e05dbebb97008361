/* Calls that were left without a record of their end: by jumps out of signal handlers, and by
 * children of vfork that ended. */
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/count_fast_path.h"
#include "clients/libpoet/profile/vforked.h"

#include <unistd.h>

/* ---- jumps out of signal handlers ---- */

/* A call is counted before its frame is reserved, and its end before its frame is released: a jump
 * out of a handler in between leaves a call that never ends, or one that ends twice. If no calls
 * have paused, those without a frame have ended. */
void frames_settle(struct thread_profile *m)
{
    uint32_t count = atomic_load_explicit(&m->head->contexts, memory_order_relaxed);
    m->jumps = 0;
    if (m->paused || sum_of(&m->head->deep))
        return;
    for (struct profile_region_context *c = contexts_of(m) + 1; c < contexts_of(m) + count; c++)
        if (c->scope != SCOPE_COUNTED)
            sum_set(&c->ended, sum_of(&c->calls));
    for (const struct profile_region_frame *f = frames_of(m) + 1; f <= call_stack_top(m); f++) {
        uint32_t c = atomic_load_explicit(&f->context, memory_order_relaxed);
        if (c)
            sum_add(&contexts_of(m)[c].ended, UINT64_MAX);
    }
}

/* ---- children of vfork ---- */

void frames_leave_child(struct thread_profile *m)
{
    uint64_t now = m->last, ran = now - m->off;
    if (call_stack_depth(m) > REGION_FRAMES)
        fast_path_set_depth(m->head, REGION_FRAMES);
    while (call_stack_depth(m) > m->vforked.depth && call_stack_top(m)->stack != OUTERMOST)
        call_stack_drop(m, now, ran);
    m->vforked.process = 0;
}

void frames_rejoin(struct thread_profile *m)
{
    if (!m->vforked.leaves || getpid() != m->process)
        return;
    frames_leave_child(m);
    vforked_stays(m);
}
