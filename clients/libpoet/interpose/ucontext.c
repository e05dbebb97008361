/* Coroutines of <ucontext.h>. Each context that makecontext creates is a line, on which a thread is
 * while it runs there. A switch is a pair, recorded before it, by the thread that makes it:
 *   resume    to a coroutine that no context waits for
 *   suspend   to the context that resumed this one
 *   transfer  to one that waits for another, or to the thread's own stack: the contexts in between
 *             no longer wait */
#define _GNU_SOURCE
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/coroutine_stacks.h"
#include "wire/slot.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <ucontext.h>

#define ARGUMENTS 8

struct coroutine {
    struct sync_object *context; /* where it was created */
    bool waited_for;
    struct coroutine *resumer; /* the context that resumed it; NULL: a thread on its own stack */
    void (*function)(void);
    long arguments[ARGUMENTS];
    struct coroutine_calls *calls; /* that are open in it, while no thread runs it */
};

/* Returns the coroutine that a context belongs to; NULL: a thread's own stack. */
static struct coroutine *ucontext_coroutine(const void *context, bool *known)
{
    struct sync_object *o = sync_object_find(context, SYNC_COROUTINE);
    *known = o != NULL;
    return o ? atomic_load(&o->strand) : NULL;
}

static void ucontext_remember_coroutine(const void *context, struct coroutine *strand)
{
    struct sync_object *o = sync_object_get(context, SYNC_COROUTINE);
    if (o)
        atomic_store(&o->strand, strand);
}

static struct object_hold *ucontext_hold(struct traced_thread *t, const struct coroutine *c)
{
    for (size_t i = t->hold_stack.count; c && i-- > 0;)
        if (t->hold_stack.holds[i].object == c->context)
            return &t->hold_stack.holds[i];
    return NULL;
}

static void ucontext_leave_line(struct traced_thread *t, const struct coroutine *c)
{
    struct object_hold *hold = ucontext_hold(t, c);
    if (hold)
        thread_pop(t, hold);
}

/* Leaves all coroutines that the thread was in, from this one to its own stack. */
static void ucontext_leave_all(struct traced_thread *t, struct coroutine *c)
{
    while (c) {
        struct coroutine *next = c->waited_for ? c->resumer : NULL;
        ucontext_leave_line(t, c);
        coroutine_stack_leave(t, &c->calls, false);
        c->waited_for = false;
        c->resumer = NULL;
        c = next;
    }
}

static void ucontext_enter_line(struct traced_thread *t, struct coroutine *c)
{
    if (!ucontext_hold(t, c))
        thread_push(t, c->context, &c->context->line);
}

static void ucontext_record_move(struct traced_thread *t, uint16_t shape, struct trace_line *a,
                                 struct trace_line *b, uintptr_t site)
{
    if (a != b)
        record_pair(t, shape, a, 1, b, site);
    record_mark_nonempty();
}

/* The calling thread switches from one coroutine to another. */
static void ucontext_switch_coroutine(struct traced_thread *t, struct coroutine *from,
                                      struct coroutine *to, uintptr_t site)
{
    busy_begin(t);
    struct trace_line *here = thread_place(t);
    if (from && from->waited_for && from->resumer == to) {
        from->waited_for = false;
        ucontext_leave_line(t, from);
        ucontext_record_move(t, SHAPE_SUSPEND, thread_place(t), &from->context->line, site);
        coroutine_stack_leave(t, &from->calls, false);
    } else if (to && !to->waited_for) {
        to->waited_for = true;
        to->resumer = from;
        ucontext_enter_line(t, to);
        ucontext_record_move(t, SHAPE_RESUME, here, &to->context->line, site);
        coroutine_stack_enter(t, to->calls);
    } else {
        ucontext_leave_all(t, from);
        if (to)
            ucontext_enter_line(t, to);
        ucontext_record_move(t, SHAPE_TRANSFER, here, thread_place(t), site);
        if (to)
            coroutine_stack_enter(t, to->calls);
    }
    t->coroutine = to;
    busy_end(t);
}

static bool ucontext_is_traced(struct traced_thread *t, struct coroutine *c)
{
    return !c || sync_object_line(t, c->context, false);
}

static void ucontext_before_switch(const ucontext_t *save, const ucontext_t *target, uintptr_t site)
{
    struct traced_thread *t = site && !thread_runtime() ? thread_recording() : NULL;
    if (!t)
        return;
    int saved = errno;
    bool known;
    struct coroutine *from = t->coroutine, *to = ucontext_coroutine(target, &known);
    if (save)
        ucontext_remember_coroutine(save, from);
    if (known && to != from && ucontext_is_traced(t, from) && ucontext_is_traced(t, to))
        ucontext_switch_coroutine(t, from, to, site);
    errno = saved;
}

ENTRY(int, swapcontext, (ucontext_t * save, const ucontext_t *target), save, target)
{
    real_find();
    ucontext_before_switch(save, target, site);
    return real_functions.swapcontext(save, target);
}

ENTRY(int, setcontext, (const ucontext_t *target), target)
{
    real_find();
    ucontext_before_switch(NULL, target, site);
    return real_functions.setcontext(target);
}

/* ---- making one ---- */

static void ucontext_record_end(struct coroutine *c)
{
    struct traced_thread *t = thread_present();
    if (!t || t->coroutine != c || !trace_line_index(&c->context->line))
        return;
    int saved = errno;
    busy_begin(t);
    ucontext_leave_line(t, c);
    record_write(t,
                 &(struct record){.shape = SHAPE_FINISH,
                                  .flags = SLOT_CLOSES,
                                  .a = &c->context->line,
                                  .b = thread_place(t),
                                  .take_a = 1,
                                  .take_b = 1,
                                  .site = (uintptr_t)c->function},
                 NULL);
    coroutine_stack_end(t);
    t->coroutine = c->waited_for ? c->resumer : NULL;
    c->waited_for = false;
    sync_object_destroy(c->context->address, SYNC_COROUTINE);
    busy_end(t);
    errno = saved;
}

/* Calls the program's function; like makecontext, with words as arguments. */
static void ucontext_run(unsigned high, unsigned low)
{
    struct coroutine *c = (struct coroutine *)((uintptr_t)high << 16 << 16 | low);
    const long *a = c->arguments;
    ((void (*)(long, long, long, long, long, long, long, long))(uintptr_t)c->function)(
        a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    ucontext_record_end(c);
}

/* Reuses the one that was created in the same place before. */
static struct coroutine *ucontext_create_coroutine(ucontext_t *context, void (*function)(void),
                                                   uintptr_t site)
{
    struct traced_thread *t = !thread_runtime() ? thread_at(site) : NULL;
    struct sync_object *o = t ? sync_object_get(context, SYNC_COROUTINE) : NULL;
    if (!o)
        return NULL;
    struct coroutine *c = o->made ? o->made : tracer_arena_alloc(sizeof *c);
    if (!c)
        return NULL;
    sync_object_destroy(context, SYNC_COROUTINE);
    if (c->calls)
        coroutine_stack_forget(c->calls);
    *c = (struct coroutine){.context = o, .function = function, .calls = c->calls};
    o->made = c;
    o->entry = (uintptr_t)function;
    struct trace_line *line = sync_object_line(t, o, true);
    if (!line)
        return NULL;
    atomic_store(&o->strand, c);
    record_event(t, TYPE_CREATE, line, 0, site);
    record_mark_nonempty();
    return c;
}

static void ucontext_make(uintptr_t site, ucontext_t *context, void (*function)(void), int count,
                          va_list more)
{
    long words[ARGUMENTS] = {0};
    real_find();
    for (int i = 0; i < count && i < ARGUMENTS; i++)
        words[i] = va_arg(more, long);
    int saved = errno;
    struct coroutine *c =
        site && count <= ARGUMENTS ? ucontext_create_coroutine(context, function, site) : NULL;
    errno = saved;
    if (!c) {
        real_functions.makecontext(context, function, count, words[0], words[1], words[2], words[3],
                                   words[4], words[5], words[6], words[7]);
        return;
    }
    for (int i = 0; i < ARGUMENTS; i++)
        c->arguments[i] = words[i];
    real_functions.makecontext(context, (void (*)(void))(uintptr_t)ucontext_run, 2,
                               (unsigned)((uintptr_t)c >> 16 >> 16), (unsigned)(uintptr_t)c);
}

#define MAKE(...) MAKE_AS(__VA_ARGS__)
#define MAKE_AS(name, its_site)                                                                    \
    __attribute__((visibility("default"))) void name(ucontext_t *, void (*)(void), int, ...);      \
    void name(ucontext_t *context, void (*function)(void), int count, ...)                         \
    {                                                                                              \
        va_list more;                                                                              \
        va_start(more, count);                                                                     \
        ucontext_make(its_site, context, function, count, more);                                   \
        va_end(more);                                                                              \
    }
MAKE(PLAIN(makecontext), site_of_untraced(SITE))
MAKE(poet_link_with_poetcc_trace__makecontext, site_of_traced(SITE))
