/* Call stacks of coroutines: a thread runs each on a stack of its own, in intervals. While it runs,
 * its frames are above the thread's, over one that stands for the thread itself; in between they
 * are saved. Calls are counted where they began and where they ended; the intervals of each add up
 * for the minimum and maximum. If a coroutine moves to another thread, each thread has the time
 * that it ran it, and the last one the duration of the call. */
#include "clients/libpoet/profile/coroutine_stacks.h"

#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/profile/count_fast_path.h"

#include <string.h>

#define MOST_KEPT 4096u

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

/* Since when times of calls may be known that count in this region. */
static uint64_t coroutine_stack_since(const struct thread_profile *m,
                                      const struct coroutine_calls *kept)
{
    bool earlier = kept->count && kept->clock == m->clock && kept->since < m->head->began;
    return earlier ? kept->since : m->head->began;
}

static void coroutine_stack_save(const struct thread_profile *m,
                                 const struct profile_region_frame *base,
                                 struct coroutine_calls *kept)
{
    kept->since = coroutine_stack_since(m, kept);
    kept->clock = m->clock;
    kept->serial = m->serial;
    kept->count = 0;
    for (const struct profile_region_frame *f = base + 1; f <= call_stack_top(m); f++) {
        uint32_t c = atomic_load_explicit(&f->context, memory_order_relaxed);
        if (kept->count == kept->room)
            break;
        struct kept_call *call = &kept->calls[kept->count++];
        *call = (struct kept_call){f->function, contexts_of(m)[c].site,  f->stack,
                                   c,           contexts_of(m)[c].scope, call->earlier};
    }
}

/* The calls above that frame are no longer those of a coroutine that was resumed. */
static void coroutine_stack_forget_resumed(struct thread_profile *m,
                                           const struct profile_region_frame *base)
{
    if (m->resumed && m->resumed->base == (uint32_t)(base + 1 - frames_of(m)))
        m->resumed = m->resumed->outer;
}

void coroutine_stack_leave(struct traced_thread *t, struct coroutine_calls **kept, bool returns)
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
    while (call_stack_top(m) > base) {
        uint32_t number = (uint32_t)(call_stack_top(m) - base) - 1;
        struct call_intervals intervals = call_stack_pause(m, now, ran, returns && number == 0);
        if (*kept && number < (*kept)->count)
            (*kept)->calls[number].earlier = intervals;
    }
    coroutine_stack_forget_resumed(m, base);
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

/* Restores one call, the next of the innermost coroutine. */
static void coroutine_stack_resume(struct thread_profile *m, uint32_t wanted,
                                   const struct coroutine_calls *of, struct kept_call *call)
{
    call_stack_resume(m, wanted, coroutine_stack_context(m, call, of->serial == m->serial),
                      call->function, call->stack);
    call->earlier.began = sum_of(&call_stack_top(m)->began);
    if (of->clock != m->clock)
        call->earlier.real = call->earlier.own = 0;
}

static void coroutine_stack_restore(struct traced_thread *t, struct coroutine_calls *kept,
                                    bool timed)
{
    uint32_t wanted;
    struct thread_profile *m = instrument_get_measured(t, &wanted);
    if (m)
        call_stack_end_ignored(m);
    if (!m || !call_stack_base_enter(m, wanted))
        return;
    wanted &= timed ? UINT32_MAX : ~(uint32_t)(WANTED_REAL | WANTED_CPU);
    if (!kept)
        return;
    m->head->began = coroutine_stack_since(m, kept);
    kept->base = call_stack_depth(m);
    kept->outer = m->resumed;
    for (uint32_t i = 0; i < kept->count; i++)
        coroutine_stack_resume(m, wanted, kept, &kept->calls[i]);
    m->resumed = kept;
}

void coroutine_stack_enter(struct traced_thread *t, struct coroutine_calls *kept)
{
    coroutine_stack_restore(t, kept, true);
}

void coroutine_stack_enter_to_end(struct traced_thread *t, struct coroutine_calls *kept)
{
    coroutine_stack_restore(t, kept, false);
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
    coroutine_stack_forget_resumed(m, base);
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
