/* Implementation of poet.h: additional stacks of tasks. */
#include "clients/libpoet/stack.h"

#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/heap_channel.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/coroutine_stacks.h"
#include "clients/libpoet/poet.h"

#include <errno.h>

/* The stacks that a task has entered and not left form a chain: below each is the one from which
 * the task entered it. */
struct poet_stack {
    struct coroutine_calls *calls; /* that are open on it, while no task runs it */
    struct traced_thread *by;          /* the task that has it in its chain; NULL none */
    struct poet_stack *below;   /* NULL: the task's own stack */
    uint32_t life;              /* in which it was entered last */
    uintptr_t from, bytes;      /* its memory; 0 bytes: not known */
    struct poet_stack *next_free;
};

static latch pool_lock;
static struct poet_stack *pool;

poet_stack_t poet_stack(const void *memory, size_t bytes)
{
    if (!thread_recording())
        return NULL;
    int saved = errno;
    latch_lock(&pool_lock);
    struct poet_stack *s = pool;
    if (s)
        pool = s->next_free;
    latch_unlock(&pool_lock);
    struct coroutine_calls *calls = s ? s->calls : NULL;
    s = s ? s : tracer_arena_alloc(sizeof *s);
    if (s)
        *s = (struct poet_stack){
            .calls = calls, .from = (uintptr_t)memory, .bytes = memory ? bytes : 0};
    errno = saved;
    return s;
}

/* A stack that was entered under an earlier server, or by the parent of a child of fork, is in no
 * chain. */
static void stack_renew(struct traced_thread *t, struct poet_stack *s)
{
    if (s->life == t->life)
        return;
    if (s->calls)
        coroutine_stack_forget(s->calls);
    s->by = NULL;
    s->below = NULL;
    s->life = t->life;
}

static void stack_leave(struct traced_thread *t)
{
    struct poet_stack *s = t->stacks.innermost;
    coroutine_stack_leave(t, &s->calls);
    t->stacks.innermost = s->below;
    s->by = NULL;
    s->below = NULL;
}

static void stack_enter(struct traced_thread *t, struct poet_stack *s)
{
    s->by = t;
    s->below = t->stacks.innermost;
    t->stacks.innermost = s;
    coroutine_stack_enter(t, s->calls);
}

static void stack_run(struct traced_thread *t, struct poet_stack *s, unsigned flags)
{
    if (s)
        stack_renew(t, s);
    /* another task runs on it: the program's request is wrong */
    if (s && s->by && s->by != t)
        return;
    if (s && !s->by)
        stack_enter(t, s);
    while (t->stacks.innermost && t->stacks.innermost != s)
        stack_leave(t);
    if (s && flags & POET_STACK_CALLED)
        coroutine_stack_call_again(t);
}

/* A task has not entered in this lifetime what it had entered in an earlier one. */
static struct traced_thread *stack_thread(void)
{
    struct traced_thread *t = thread_self();
    if (t && t->stacks.innermost && t->stacks.innermost->life != t->life)
        t->stacks.innermost = NULL;
    return t;
}

void poet_stack_run(poet_stack_t stack, unsigned flags)
{
    struct traced_thread *t = stack_thread();
    if (!t || (t->stacks.innermost == stack && !(flags & POET_STACK_CALLED)))
        return;
    int saved = errno;
    busy_begin(t);
    stack_run(t, stack, flags);
    busy_end(t);
    errno = saved;
}

/* Stacks that the task entered from it are left first. */
static void stack_end(struct traced_thread *t, struct poet_stack *s)
{
    while (t->stacks.innermost && t->stacks.innermost != s)
        stack_leave(t);
    if (!t->stacks.innermost)
        return;
    coroutine_stack_end(t);
    t->stacks.innermost = s->below;
    s->by = NULL;
}

void poet_stack_gone(poet_stack_t s)
{
    struct traced_thread *t = stack_thread();
    if (!s)
        return;
    int saved = errno;
    if (t) {
        busy_begin(t);
        stack_renew(t, s);
        if (s->by == t)
            stack_end(t, s);
        busy_end(t);
    }
    if (s->calls)
        coroutine_stack_forget(s->calls);
    latch_lock(&pool_lock);
    s->next_free = pool;
    pool = s;
    latch_unlock(&pool_lock);
    errno = saved;
}

void stack_forget_all(struct traced_thread *t)
{
    for (struct poet_stack *s = t->stacks.innermost, *below; s && s->life == t->life; s = below) {
        below = s->below;
        s->by = NULL;
        s->below = NULL;
    }
    t->stacks.innermost = NULL;
}

/* ---- for libpoet-memory ---- */

uintptr_t poet_heap_stack_end(uintptr_t at)
{
    const struct traced_thread *t = thread_self();
    const struct poet_stack *s = t ? t->stacks.innermost : NULL;
    if (s && s->life == t->life && at - s->from < s->bytes)
        return s->from + s->bytes;
    return t && at - t->stacks.own_from < t->stacks.own_bytes
               ? t->stacks.own_from + t->stacks.own_bytes
               : 0;
}
