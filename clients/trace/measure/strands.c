/* The calls of coroutines: a thread runs them on a stack of their own, under its root, in stretches.
 *
 * While it does, they lie above its own frames, over one that stands for the thread itself.  In between they are kept
 * aside.  They are counted where they began and where they ended; their times add up, and the least
 * and the most of these are those of stretches.  Of a coroutine that moves to another thread each
 * thread has the time that it ran it. */
#include "clients/trace/measure/strands.h"

#include "clients/trace/core/arena.h"
#include "clients/trace/measure/frames.h"
#include "clients/trace/measure/hooks.h"
#include "clients/trace/measure/straight.h"

#include <string.h>

#define MOST_KEPT 4096u

struct strand_calls {
    uint32_t count, room;
    uint32_t serial; /* of the region in which they were */
    struct kept {
        uint64_t function, site, stack;
        uint32_t context, scope;
    } calls[];
};

/* The frame of the thread under the innermost coroutine; its first one where that began before the region. */
static struct region_frame *base_of(const struct measured *m)
{
    struct region_frame *f = frames_top(m);
    while (f->stack != OUTERMOST)
        f--;
    return f;
}

static struct strand_calls *with_room(struct strand_calls *kept, uint32_t count)
{
    if (kept && kept->room >= count)
        return kept;
    uint32_t room = 16;
    while (room < count)
        room *= 2;
    struct strand_calls *more =
        room <= MOST_KEPT ? arena_take(sizeof *more + room * sizeof *more->calls) : NULL;
    if (more)
        more->room = room;
    return more ? more : kept;
}

static void keep(const struct measured *m, const struct region_frame *base,
                 struct strand_calls *kept)
{
    kept->count = 0;
    kept->serial = m->serial;
    for (const struct region_frame *f = base + 1; f <= frames_top(m); f++) {
        uint32_t c = atomic_load_explicit(&f->context, memory_order_relaxed);
        if (kept->count < kept->room)
            kept->calls[kept->count++] = (struct kept){f->function, contexts_of(m)[c].site,
                                                       f->stack, c, contexts_of(m)[c].scope};
    }
}

void strand_leave(struct thread *t, struct strand_calls **kept)
{
    struct measured *m = t->measured;
    if (!m)
        return;
    const struct region_frame *base = base_of(m);
    frames_heed(m); /* an ignored call is ignored up to here: others come between */
    *kept = with_room(*kept, (uint32_t)(frames_top(m) - base));
    if (*kept)
        keep(m, base, *kept);
    uint64_t ran, now = frames_now(m, t->queue, &ran);
    while (frames_top(m) > base)
        frames_pause(m, now, ran);
    frames_base_leave(m, ran);
}

/* In this thread's region: the one in which it was, or one like it. */
static uint32_t context_here(struct measured *m, const struct kept *call, bool same)
{
    return same ? call->context
                : context_of(m, frames_top(m)->lands, call->function, call->site, call->scope);
}

void strand_enter(struct thread *t, struct strand_calls *kept)
{
    uint32_t wanted;
    struct measured *m = hooks_measured(t, &wanted);
    if (m)
        frames_heed(m);
    if (!m || !frames_base_enter(m, wanted))
        return;
    for (uint32_t i = 0; kept && i < kept->count; i++) {
        const struct kept *call = &kept->calls[i];
        frames_go_on(m, wanted, context_here(m, call, kept->serial == m->serial), call->function,
                     call->stack);
    }
}

void strand_end(struct thread *t)
{
    struct measured *m = t->measured;
    if (!m)
        return;
    const struct region_frame *base = base_of(m);
    frames_heed(m);
    uint64_t ran, now = frames_now(m, t->queue, &ran);
    while (frames_top(m) > base)
        frames_drop(m, now, ran);
    frames_base_leave(m, ran);
}

void strand_call_again(struct thread *t)
{
    struct measured *m = t->measured;
    const struct region_frame *base = m ? base_of(m) : NULL;
    if (!base || base == frames_of(m) || base >= frames_top(m))
        return;
    struct region_context *c =
        &contexts_of(m)[atomic_load_explicit(&base[1].context, memory_order_relaxed)];
    count_in(c);
    sum_add(&c->ended, 1);
}

void strand_forget(struct strand_calls *kept) { kept->count = 0; }
