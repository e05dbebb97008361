/* Call stacks of coroutines: a thread runs each on a stack of its own, in intervals. While it runs,
 * its frames are above the thread's, over one that stands for the thread itself; in between they
 * are saved. Calls are counted where they began and where they ended; their times add up, and
 * minimum and maximum are those of intervals. If a coroutine moves to another thread, each thread
 * has the time that it ran it. */
#include "clients/libpoet/profile/coroutine_stacks.h"

#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/profile/count_fast_path.h"

#include <string.h>

#define MOST_KEPT 4096u

struct coroutine_calls {
    uint32_t count, room;
    uint32_t serial; /* of the region in which they were */
    struct kept_call {
        uint64_t function, site, stack;
        uint32_t context, scope;
    } calls[];
};

/* Returns the frame of the thread under the innermost coroutine; its first one if that began before
 * the region. */
static struct profile_region_frame *coroutine_stack_base(const struct thread_profile *m)
{
    struct profile_region_frame *f = call_stack_top(m);
    while (f->stack != OUTERMOST)
        f--;
    return f;
}

static struct coroutine_calls *coroutine_stack_with_space(struct coroutine_calls *kept,
                                                          uint32_t count)
{
    if (kept && kept->room >= count)
        return kept;
    uint32_t room = 16;
    while (room < count)
        room *= 2;
    struct coroutine_calls *more =
        room <= MOST_KEPT ? tracer_arena_alloc(sizeof *more + room * sizeof *more->calls) : NULL;
    if (more)
        more->room = room;
    return more ? more : kept;
}

static void coroutine_stack_save(const struct thread_profile *m,
                                 const struct profile_region_frame *base,
                                 struct coroutine_calls *kept)
{
    kept->count = 0;
    kept->serial = m->serial;
    for (const struct profile_region_frame *f = base + 1; f <= call_stack_top(m); f++) {
        uint32_t c = atomic_load_explicit(&f->context, memory_order_relaxed);
        if (kept->count < kept->room)
            kept->calls[kept->count++] = (struct kept_call){f->function, contexts_of(m)[c].site,
                                                            f->stack, c, contexts_of(m)[c].scope};
    }
}

void coroutine_stack_leave(struct traced_thread *t, struct coroutine_calls **kept)
{
    struct thread_profile *m = t->profile;
    if (!m)
        return;
    const struct profile_region_frame *base = coroutine_stack_base(m);
    /* an ignored call is ignored up to here: other calls come in between */
    call_stack_end_ignored(m);
    *kept = coroutine_stack_with_space(*kept, (uint32_t)(call_stack_top(m) - base));
    if (*kept)
        coroutine_stack_save(m, base, *kept);
    uint64_t ran, now = call_stack_now(m, t->queue, &ran);
    while (call_stack_top(m) > base)
        call_stack_pause(m, now, ran);
    call_stack_base_leave(m, ran);
}

/* Returns its context in this thread's region: the one in which it was, or an equal one. */
static uint32_t coroutine_stack_context(struct thread_profile *m, const struct kept_call *call,
                                        bool same)
{
    return same ? call->context
                : context_tree_find_cached(m, call_stack_top(m)->lands, call->function, call->site,
                                           call->scope);
}

void coroutine_stack_enter(struct traced_thread *t, struct coroutine_calls *kept)
{
    uint32_t wanted;
    struct thread_profile *m = instrument_get_measured(t, &wanted);
    if (m)
        call_stack_end_ignored(m);
    if (!m || !call_stack_base_enter(m, wanted))
        return;
    for (uint32_t i = 0; kept && i < kept->count; i++) {
        const struct kept_call *call = &kept->calls[i];
        call_stack_resume(m, wanted, coroutine_stack_context(m, call, kept->serial == m->serial),
                          call->function, call->stack);
    }
}

void coroutine_stack_end(struct traced_thread *t)
{
    struct thread_profile *m = t->profile;
    if (!m)
        return;
    const struct profile_region_frame *base = coroutine_stack_base(m);
    call_stack_end_ignored(m);
    uint64_t ran, now = call_stack_now(m, t->queue, &ran);
    while (call_stack_top(m) > base)
        call_stack_drop(m, now, ran);
    call_stack_base_leave(m, ran);
}

void coroutine_stack_call_again(struct traced_thread *t)
{
    struct thread_profile *m = t->profile;
    const struct profile_region_frame *base = m ? coroutine_stack_base(m) : NULL;
    if (!base || base == frames_of(m) || base >= call_stack_top(m))
        return;
    struct profile_region_context *c =
        &contexts_of(m)[atomic_load_explicit(&base[1].context, memory_order_relaxed)];
    fast_path_count_call(c);
    sum_add(&c->ended, 1);
}

void coroutine_stack_forget(struct coroutine_calls *kept) { kept->count = 0; }
