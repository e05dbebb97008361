/* poet.h: lines and tasks of the program's own. */
#include "clients/trace/own.h"

#include "clients/trace/carrier.h"
#include "clients/trace/core/arena.h"
#include "clients/trace/core/clock.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/slots.h"
#include "clients/trace/core/tell.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/core/unseen.h"
#include "clients/trace/measure/cpuclock.h"
#include "clients/trace/measure/region.h"
#include "clients/trace/poet.h"
#include "clients/trace/stack.h"
#include "wire/limits.h"
#include "wire/script.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Own lines by index, in blocks that are never moved. */
#define BLOCK 4096u
struct own {
    struct line line;
    struct thread *_Atomic thread; /* of a task */
};
static struct own *_Atomic blocks[LIMIT_LINES / BLOCK];

static struct own *own_at(poet_line_t index)
{
    struct own *block = index < LIMIT_LINES
                            ? atomic_load_explicit(&blocks[index / BLOCK], memory_order_acquire)
                            : NULL;
    struct own *own = block ? &block[index % BLOCK] : NULL;
    return own && line_index(&own->line) ? own : NULL;
}

struct line *own_line(poet_line_t index)
{
    struct own *own = own_at(index);
    return own ? &own->line : NULL;
}

static struct thread *own_thread(poet_line_t task)
{
    struct own *own = task ? own_at(task) : NULL;
    return own ? atomic_load(&own->thread) : NULL;
}

static struct own *own_make(uint32_t index)
{
    struct own *_Atomic *at = &blocks[index / BLOCK];
    struct own *block = atomic_load_explicit(at, memory_order_acquire);
    if (!block) {
        struct own *fresh = arena_take(BLOCK * sizeof *fresh);
        if (!fresh)
            return NULL;
        block = atomic_compare_exchange_strong(at, &block, fresh) ? fresh : block;
    }
    return &block[index % BLOCK];
}

/* Announces a line of the program's own through a thread; NULL if it does not fit. */
static struct own *open_line_as(struct thread *t, const char *kind, const char *name,
                                const void *object, unsigned flags, const uint64_t *identity,
                                uintptr_t site)
{
    busy_begin(t);
    uint32_t index = line_announce(t, kind, name ? name : "", object, site, flags, identity);
    struct own *own = index ? own_make(index) : NULL;
    if (own) { /* it may have been another line in an earlier life */
        atomic_store(&own->line.number, 0);
        atomic_store(&own->line.far, NULL);
        line_opened(&own->line, t, index);
    }
    busy_end(t);
    if (!own && t->life == atomic_load(&live)) { /* what is done there has no name */
        thread_missed(t, UNSEEN_LOST);
        unseen_tell(UNSEEN_LOST, "a line of the program's own could not be announced");
    }
    return own;
}

poet_line_t poet_line_at(const char *kind, const char *name, const void *object, unsigned flags,
                         const void *site)
{
    struct thread *t = thread_recording();
    if (!t || !kind)
        return 0;
    struct own *own =
        open_line_as(t, kind, name, object, (flags & POET_SHARED ? LINE_SHARED : 0) | LINE_FOLLOWS,
                     NULL, (uintptr_t)site);
    return own ? line_index(&own->line) : 0;
}

poet_line_t poet_line(const char *kind, const char *name, const void *object, unsigned flags)
{
    return poet_line_at(kind, name, object, flags, NULL);
}

/* ---- tasks ---- */

/* One that nobody creates announces itself. */
static struct own *open_by_itself(const char *kind, const char *name, const void *object,
                                  uintptr_t site, struct thread **thread)
{
    static struct line none;
    struct thread *t = *thread = atomic_load(&live) ? thread_make_own(&none) : NULL;
    struct own *own = t ? open_line_as(t, kind, name, object, 0, NULL, site) : NULL;
    if (own) {
        t->own = &own->line;
        t->queue->thread = line_index(&own->line);
    } else if (t) {
        thread_end(t);
    }
    return own;
}

poet_line_t poet_task_at(const char *kind, const char *name, const void *object, const void *site)
{
    struct thread *by = thread_recording(), *t = NULL;
    if (!kind || (!by && !thread_runtime()))
        return 0;
    int saved = errno;
    struct own *own = by ? open_line_as(by, kind, name, object, LINE_FOLLOWS, NULL, (uintptr_t)site)
                         : open_by_itself(kind, name, object, (uintptr_t)site, &t);
    if (own && !t)
        t = thread_make_own(&own->line);
    if (own && t) {
        const char *called = name ? name : "";
        t->named = script_text(called, strlen(called));
    }
    if (own)
        atomic_store(&own->thread, t);
    errno = saved;
    return own && t ? line_index(&own->line) : 0;
}

poet_line_t poet_task(const char *kind, const char *name, const void *object)
{
    return poet_task_at(kind, name, object, NULL);
}

/* What a thread measures of itself stands still while another one is in its place; mostly that is nothing. */
static inline void go_away(struct thread *t)
{
    if (!LIKELY(!t->measured))
        region_away(t);
    if (!LIKELY(!t->clock_gap))
        cpuclock_away(t);
}

static inline void come_back(struct thread *t)
{
    if (!LIKELY(!t->measured))
        region_back(t);
    if (!LIKELY(!t->clock_gap))
        cpuclock_back(t);
}

void poet_become(poet_line_t task)
{
    struct thread *t = own_thread(task);
    struct thread *from = thread_mine, *to = t ? t : thread_base;
    if (from != to) {
        carrier_switch(from, to);
        if (from)
            go_away(from);
        if (to)
            come_back(to);
        if (!from != !to)
            atomic_fetch_add(&threads_running, to ? 1 : UINT32_MAX);
    }
    thread_mine = to;
}

void poet_task_stack(poet_line_t task, const void *memory, size_t bytes)
{
    struct thread *t = own_thread(task);
    if (!t)
        return;
    t->stack_from = (uintptr_t)memory;
    t->stack_bytes = memory ? bytes : 0;
}

void poet_wait_end(poet_line_t awaited)
{
    struct thread *t = thread_recording();
    if (!t || !server_awaits || !own_thread(awaited) || !line_current(awaited))
        return;
    int saved = errno;
    uint8_t bytes[32];
    struct out body = {.data = bytes, .room = sizeof bytes};
    busy_begin(t);
    struct ref last = slots_last(t);
    put_told_awaits(&body, &(struct told_awaits){awaited, last.line, last.number,
                                                 clock_instead(QUEUE_CLOCK_NS)});
    if (last.line)
        tell_control(t, MESSAGE_AWAITS, &body);
    busy_end(t);
    errno = saved;
}

void poet_task_gone(poet_line_t task)
{
    struct own *own = own_at(task);
    struct thread *t = own ? atomic_exchange(&own->thread, NULL) : NULL;
    if (!t)
        return;
    if (t == thread_mine) {
        carrier_switch(t, thread_base);
        thread_mine = thread_base;
    }
    int saved = errno;
    stack_forget_all(t);
    thread_end(t);
    errno = saved;
}

/* ---- which line is meant ---- */

struct line *line_by_code(struct thread *t, uint32_t index)
{
    if (index == 0 || index == line_index(t->own))
        return index ? t->own : thread_place(t);
    struct line *place = thread_place(t);
    return atomic_load(&place->index) == index ? place : own_line(index);
}

/* ---- lines that several processes share ---- */

int poet_identity(poet_line_t line, uint64_t identity[2])
{
    struct thread *t = thread_recording();
    const struct line *place = t ? thread_place(t) : NULL;
    bool of_all = place && line_index(place) == line && atomic_load(&place->far);
    identity[0] = instance;
    identity[1] = line;
    return t && line_current(line) && !of_all;
}

poet_line_t poet_line_of(const char *kind, const char *name, const uint64_t identity[2])
{
    struct thread *t = thread_recording();
    struct own *own = t && kind ? open_line_as(t, kind, name, NULL, 0, identity, 0) : NULL;
    return own ? line_index(&own->line) : 0;
}

poet_line_t poet_line_shared(const char *kind, const char *name, uint64_t key)
{
    struct thread *t = thread_recording();
    uint64_t *far = t && kind ? poet_counter(key ^ SHARED_KEYS, 1) : NULL;
    struct own *own = far ? open_line_as(t, kind, name, NULL, LINE_SHARED,
                                         (const uint64_t[]){key ^ poet_machine(), SHARED_KEYS}, 0)
                          : NULL;
    if (!own)
        return 0;
    atomic_store(&own->line.far, (_Atomic uint64_t *)far);
    return line_index(&own->line);
}
