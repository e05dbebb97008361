/* Coroutines of <ucontext.h>.  Each context that makecontext makes is a line, on which a thread is
 * while it runs there.  Going to one is a pair, recorded before the switch, by the thread that
 * makes it:
 *   resume    to a coroutine that nobody waits for
 *   suspend   back to whoever resumed this one
 *   transfer  to one that waits for another, or to the thread's own stack: who is passed over
 *             waits for nobody any more */
#define _GNU_SOURCE
#include "clients/trace/core/arena.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/module.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/measure/strands.h"
#include "wire/slot.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <ucontext.h>

#define ARGUMENTS 8

struct coroutine {
    struct object *context;     /* where it was made */
    bool waited_for;
    struct coroutine *resumer;  /* by whom; NULL: a thread on its own stack */
    void (*function)(void);
    long arguments[ARGUMENTS];
    struct strand_calls *calls; /* that are open in it, while nobody runs it */
};

/* What runs on, when a context is switched to; NULL a thread's own stack. */
static struct coroutine *strand_of(const void *context, bool *known)
{
    struct object *o = object_find(context, OBJECT_COROUTINE);
    *known = o != NULL;
    return o ? atomic_load(&o->strand) : NULL;
}

static void remember(const void *context, struct coroutine *strand)
{
    struct object *o = object_get(context, OBJECT_COROUTINE);
    if (o)
        atomic_store(&o->strand, strand);
}

static struct hold *hold_of(struct thread *t, const struct coroutine *c)
{
    for (size_t i = t->hold_count; c && i-- > 0;)
        if (t->holds[i].object == c->context)
            return &t->holds[i];
    return NULL;
}

static void leave_line(struct thread *t, const struct coroutine *c)
{
    struct hold *hold = hold_of(t, c);
    if (hold)
        thread_pop(t, hold);
}

/* All that the thread was in, from this one to its own stack. */
static void leave_all(struct thread *t, struct coroutine *c)
{
    while (c) {
        struct coroutine *next = c->waited_for ? c->resumer : NULL;
        leave_line(t, c);
        strand_leave(t, &c->calls);
        c->waited_for = false;
        c->resumer = NULL;
        c = next;
    }
}

static void enter_line(struct thread *t, struct coroutine *c)
{
    if (!hold_of(t, c))
        thread_push(t, c->context, &c->context->line);
}

static void go(struct thread *t, uint16_t shape, struct line *a, struct line *b, uintptr_t site)
{
    if (a != b)
        record_pair(t, shape, a, 1, b, site);
    note_recorded();
}

/* The calling thread leaves one strand for another. */
static void switch_strand(struct thread *t, struct coroutine *from, struct coroutine *to,
                          uintptr_t site)
{
    busy_begin(t);
    struct line *here = thread_place(t);
    if (from && from->waited_for && from->resumer == to) {
        from->waited_for = false;
        leave_line(t, from);
        go(t, SHAPE_SUSPEND, thread_place(t), &from->context->line, site);
        strand_leave(t, &from->calls);
    } else if (to && !to->waited_for) {
        to->waited_for = true;
        to->resumer = from;
        enter_line(t, to);
        go(t, SHAPE_RESUME, here, &to->context->line, site);
        strand_enter(t, to->calls);
    } else {
        leave_all(t, from);
        if (to)
            enter_line(t, to);
        go(t, SHAPE_TRANSFER, here, thread_place(t), site);
        if (to)
            strand_enter(t, to->calls);
    }
    t->strand = to;
    busy_end(t);
}

static bool is_followed(struct thread *t, struct coroutine *c)
{
    return !c || object_line(t, c->context, false);
}

static void before_switch(const ucontext_t *save, const ucontext_t *target, uintptr_t site)
{
    struct thread *t = site && !thread_runtime() ? thread_recording() : NULL;
    if (!t)
        return;
    int saved = errno;
    bool known;
    struct coroutine *from = t->strand, *to = strand_of(target, &known);
    if (save)
        remember(save, from);
    if (known && to != from && is_followed(t, from) && is_followed(t, to))
        switch_strand(t, from, to, site);
    errno = saved;
}

ENTRY(int, swapcontext, (ucontext_t * save, const ucontext_t *target), save, target)
{
    real_find();
    before_switch(save, target, site);
    return real.swapcontext(save, target);
}

ENTRY(int, setcontext, (const ucontext_t *target), target)
{
    real_find();
    before_switch(NULL, target, site);
    return real.setcontext(target);
}

/* ---- making one ---- */

static void ended(struct coroutine *c)
{
    struct thread *t = thread_present();
    if (!t || t->strand != c || !line_index(&c->context->line))
        return;
    int saved = errno;
    busy_begin(t);
    leave_line(t, c);
    record_write(t,
                 &(struct record){.shape = SHAPE_FINISH,
                                  .flags = SLOT_CLOSES,
                                  .a = &c->context->line,
                                  .b = thread_place(t),
                                  .take_a = 1,
                                  .take_b = 1,
                                  .site = (uintptr_t)c->function},
                 NULL);
    strand_end(t);
    t->strand = c->waited_for ? c->resumer : NULL;
    c->waited_for = false;
    object_destroy(c->context->address, OBJECT_COROUTINE);
    busy_end(t);
    errno = saved;
}

/* Calls what the program gave; as makecontext does, with words for arguments. */
static void run(unsigned high, unsigned low)
{
    struct coroutine *c = (struct coroutine *)((uintptr_t)high << 16 << 16 | low);
    const long *a = c->arguments;
    ((void (*)(long, long, long, long, long, long, long, long))(uintptr_t)c->function)(
        a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    ended(c);
}

/* The one that was made in the same place before is used again. */
static struct coroutine *coroutine_at(ucontext_t *context, void (*function)(void), uintptr_t site)
{
    struct thread *t = !thread_runtime() ? thread_at(site) : NULL;
    struct object *o = t ? object_get(context, OBJECT_COROUTINE) : NULL;
    if (!o)
        return NULL;
    struct coroutine *c = o->made ? o->made : arena_take(sizeof *c);
    if (!c)
        return NULL;
    object_destroy(context, OBJECT_COROUTINE);
    if (c->calls)
        strand_forget(c->calls);
    *c = (struct coroutine){.context = o, .function = function, .calls = c->calls};
    o->made = c;
    o->entry = (uintptr_t)function;
    struct line *line = object_line(t, o, true);
    if (!line)
        return NULL;
    atomic_store(&o->strand, c);
    record_event(t, TYPE_CREATE, line, 0, site);
    note_recorded();
    return c;
}

static void make(uintptr_t site, ucontext_t *context, void (*function)(void), int count,
                 va_list more)
{
    long words[ARGUMENTS] = {0};
    real_find();
    for (int i = 0; i < count && i < ARGUMENTS; i++)
        words[i] = va_arg(more, long);
    int saved = errno;
    struct coroutine *c = site && count <= ARGUMENTS ? coroutine_at(context, function, site) : NULL;
    errno = saved;
    if (!c) {
        real.makecontext(context, function, count, words[0], words[1], words[2], words[3], words[4],
                         words[5], words[6], words[7]);
        return;
    }
    for (int i = 0; i < ARGUMENTS; i++)
        c->arguments[i] = words[i];
    real.makecontext(context, (void (*)(void))(uintptr_t)run, 2,
                     (unsigned)((uintptr_t)c >> 16 >> 16), (unsigned)(uintptr_t)c);
}

#define MAKE(...) MAKE_AS(__VA_ARGS__)
#define MAKE_AS(name, its_site)                                                                    \
    __attribute__((visibility("default"))) void name(ucontext_t *, void (*)(void), int, ...);      \
    void name(ucontext_t *context, void (*function)(void), int count, ...)                         \
    {                                                                                              \
        va_list more;                                                                              \
        va_start(more, count);                                                                     \
        make(its_site, context, function, count, more);                                            \
        va_end(more);                                                                              \
    }
MAKE(PLAIN(makecontext), site_of_untraced(SITE))
MAKE(poet_link_with_poetcc_trace__makecontext, site_of_traced(SITE))
