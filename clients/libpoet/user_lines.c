/* Implementation of poet.h: lines and tasks of the program's own. */
#include "clients/libpoet/user_lines.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/ring_slots.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "clients/libpoet/profile/cpu_clock.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/user_tasks.h"
#include "wire/limits.h"
#include "wire/replay_schedule.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Own lines by index, in blocks that are never moved. */
#define BLOCK 4096u
struct user_line {
    struct trace_line line;
    struct traced_thread *_Atomic thread; /* of a task */
};
static struct user_line *_Atomic blocks[LIMIT_LINES / BLOCK];

static struct user_line *user_line_get(poet_line_t index)
{
    struct user_line *block =
        index < LIMIT_LINES ? atomic_load_explicit(&blocks[index / BLOCK], memory_order_acquire)
                            : NULL;
    struct user_line *own = block ? &block[index % BLOCK] : NULL;
    return own && trace_line_index(&own->line) ? own : NULL;
}

struct trace_line *user_line_find(poet_line_t index)
{
    struct user_line *own = user_line_get(index);
    return own ? &own->line : NULL;
}

static struct traced_thread *user_line_thread(poet_line_t task)
{
    struct user_line *own = task ? user_line_get(task) : NULL;
    return own ? atomic_load(&own->thread) : NULL;
}

static struct user_line *user_line_create(uint32_t index)
{
    struct user_line *_Atomic *at = &blocks[index / BLOCK];
    struct user_line *block = atomic_load_explicit(at, memory_order_acquire);
    if (!block) {
        struct user_line *fresh = tracer_arena_alloc(BLOCK * sizeof *fresh);
        if (!fresh)
            return NULL;
        block = atomic_compare_exchange_strong(at, &block, fresh) ? fresh : block;
    }
    return &block[index % BLOCK];
}

/* Announces a line of the program's own through a thread. Returns NULL if it does not fit. */
static struct user_line *user_line_open(struct traced_thread *t, const char *kind, const char *name,
                                        const void *object, unsigned flags,
                                        const uint64_t *identity, uintptr_t site)
{
    busy_begin(t);
    uint32_t index = trace_line_announce(t, kind, name ? name : "", object, site, flags, identity);
    struct user_line *own = index ? user_line_create(index) : NULL;
    if (own) { /* it may have been another line in an earlier lifetime */
        atomic_store(&own->line.number, 0);
        atomic_store(&own->line.remote, NULL);
        trace_line_set_opened(&own->line, t, index);
    }
    busy_end(t);
    if (!own &&
        t->life == atomic_load(&tracer.lifetime.number)) { /* events on it cannot be named */
        thread_note_loss(t, UNTRACED_LOST);
        untraced_use_report(UNTRACED_LOST, "a user-defined line could not be created");
    }
    return own;
}

poet_line_t poet_line_at(const char *kind, const char *name, const void *object, unsigned flags,
                         const void *site)
{
    struct traced_thread *t = thread_recording();
    if (!t || !kind)
        return 0;
    struct user_line *own = user_line_open(t, kind, name, object,
                                           (flags & POET_SHARED ? LINE_SHARED : 0) | LINE_FOLLOWS,
                                           NULL, (uintptr_t)site);
    return own ? trace_line_index(&own->line) : 0;
}

poet_line_t poet_line(const char *kind, const char *name, const void *object, unsigned flags)
{
    return poet_line_at(kind, name, object, flags, NULL);
}

/* ---- tasks ---- */

/* Opens the line of a task without a creator, which announces itself. */
static struct user_line *user_line_open_itself(const char *kind, const char *name,
                                               const void *object, uintptr_t site,
                                               struct traced_thread **thread)
{
    static struct trace_line none;
    struct traced_thread *t = *thread =
        atomic_load(&tracer.lifetime.number) ? thread_create_user_task(&none) : NULL;
    struct user_line *own = t ? user_line_open(t, kind, name, object, 0, NULL, site) : NULL;
    if (own) {
        t->own = &own->line;
        t->queue->thread = trace_line_index(&own->line);
    } else if (t) {
        thread_end(t);
    }
    return own;
}

poet_line_t poet_task_at(const char *kind, const char *name, const void *object, const void *site)
{
    struct traced_thread *by = thread_recording(), *t = NULL;
    if (!kind || (!by && !thread_runtime()))
        return 0;
    int saved = errno;
    struct user_line *own =
        by ? user_line_open(by, kind, name, object, LINE_FOLLOWS, NULL, (uintptr_t)site)
           : user_line_open_itself(kind, name, object, (uintptr_t)site, &t);
    bool is_new = own && !t;
    if (is_new)
        t = thread_create_user_task(&own->line);
    if (is_new && !t)
        untraced_use_report(UNTRACED_LOST, "a task could not be recorded");
    if (own && t) {
        const char *called = name ? name : "";
        t->name_hash = schedule_text_hash(called, strlen(called));
    }
    if (own)
        atomic_store(&own->thread, t);
    errno = saved;
    return own && t ? trace_line_index(&own->line) : 0;
}

poet_line_t poet_task(const char *kind, const char *name, const void *object)
{
    return poet_task_at(kind, name, object, NULL);
}

/* Pauses the measurements of a thread while another one is in its place; usually there are none. */
static inline void user_line_pause_task(struct traced_thread *t)
{
    if (UNLIKELY(t->profile))
        region_pause(t);
    if (UNLIKELY(t->cpu_clock.gap))
        cpu_clock_away(&t->cpu_clock);
}

static inline void user_line_resume_task(struct traced_thread *t)
{
    if (UNLIKELY(t->profile))
        region_resume(t);
    if (UNLIKELY(t->cpu_clock.gap))
        cpu_clock_back(&t->cpu_clock);
}

void poet_task_switch(poet_line_t task)
{
    struct traced_thread *t = user_line_thread(task);
    struct traced_thread *from = thread_mine, *to = t ? t : thread_base;
    if (from != to) {
        carrier_switch(from, to);
        if (from)
            user_line_pause_task(from);
        if (to)
            user_line_resume_task(to);
        if (!from != !to)
            atomic_fetch_add(&tracer.threads.running, to ? 1 : UINT32_MAX);
    }
    thread_mine = to;
    poet_progress++;
}

int poet_busy(void)
{
    const struct traced_thread *t = thread_mine;
    return t && (t->busy || region_is_changing(t));
}

void poet_task_stack(poet_line_t task, const void *memory, size_t bytes)
{
    struct traced_thread *t = user_line_thread(task);
    if (!t)
        return;
    t->stacks.own_from = (uintptr_t)memory;
    t->stacks.own_bytes = memory ? bytes : 0;
}

static void user_line_await_end(poet_line_t awaited, uintptr_t site)
{
    struct traced_thread *t = thread_recording();
    if (!t || !user_line_thread(awaited) || !trace_line_is_current(awaited))
        return;
    int saved = errno;
    uint8_t bytes[40];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    busy_begin(t);
    struct event_id last = ring_slots_last(t);
    encode_awaits(&body, &(struct awaits_message){awaited, last.line, last.number,
                                                  tracer_clock_now_in_unit(QUEUE_CLOCK_NS), site});
    if (last.line)
        message_queue_send(t, MESSAGE_AWAITS, &body);
    busy_end(t);
    errno = saved;
}

void poet_wait_end(poet_line_t awaited) { user_line_await_end(awaited, SITE); }

void poet_wait_end_at(poet_line_t awaited, const void *site)
{
    user_line_await_end(awaited, site ? (uintptr_t)site : SITE);
}

void poet_task_release(poet_line_t task)
{
    struct user_line *own = user_line_get(task);
    struct traced_thread *t = own ? atomic_exchange(&own->thread, NULL) : NULL;
    if (!t)
        return;
    if (t == thread_mine) {
        carrier_switch(t, thread_base);
        thread_mine = thread_base;
        poet_progress++;
    }
    int saved = errno;
    stack_forget_all(t);
    thread_end(t);
    errno = saved;
}

/* ---- lookup of lines ---- */

struct trace_line *trace_line_by_code(struct traced_thread *t, uint32_t index)
{
    if (index == 0 || index == trace_line_index(t->own))
        return index ? t->own : thread_place(t);
    struct trace_line *place = thread_place(t);
    return atomic_load(&place->index) == index ? place : user_line_find(index);
}

/* ---- lines that several processes share ---- */

int poet_identity(poet_line_t line, uint64_t identity[2])
{
    struct traced_thread *t = thread_recording();
    const struct trace_line *place = t ? thread_place(t) : NULL;
    bool of_all = place && trace_line_index(place) == line && atomic_load(&place->remote);
    identity[0] = tracer.process.instance;
    identity[1] = line;
    return t && trace_line_is_current(line) && !of_all;
}

poet_line_t poet_line_by_identity(const char *kind, const char *name, const uint64_t identity[2])
{
    struct traced_thread *t = thread_recording();
    struct user_line *own = t && kind ? user_line_open(t, kind, name, NULL, 0, identity, 0) : NULL;
    return own ? trace_line_index(&own->line) : 0;
}

poet_line_t poet_line_shared(const char *kind, const char *name, uint64_t key)
{
    struct traced_thread *t = thread_recording();
    uint64_t *remote = t && kind ? poet_counter(key ^ SHARED_KEYS, 1) : NULL;
    struct user_line *own =
        remote ? user_line_open(t, kind, name, NULL, LINE_SHARED,
                                (const uint64_t[]){key ^ poet_host_id(), SHARED_KEYS}, 0)
               : NULL;
    if (!own)
        return 0;
    atomic_store(&own->line.remote, (_Atomic uint64_t *)remote);
    return trace_line_index(&own->line);
}
