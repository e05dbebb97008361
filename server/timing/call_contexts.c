#include "server/timing/call_contexts.h"

#include "base/alloc.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>

#define SAVED_AT_ONCE 4096u /* maximum number of contexts in one body */

struct call_context_thread *call_contexts_thread(struct call_contexts *all, uint32_t session,
                                                 uint32_t code)
{
    uintptr_t known = (uintptr_t)map_get(&all->index, session, code);
    if (known)
        return &all->threads[known - 1];
    all->threads = array_reserve(all->threads, &all->room, all->count + 1, sizeof *all->threads);
    all->threads[all->count++] = (struct call_context_thread){.session = session, .code = code};
    map_put(&all->index, session, code, (void *)(uintptr_t)all->count);
    return &all->threads[all->count - 1];
}

/* Returns a context, made on first use.  In a damaged file contexts before it may be missing; they
 * become children of the thread. */
static struct call_context *call_contexts_get(struct call_context_thread *thread, uint32_t index)
{
    thread->items = array_reserve(thread->items, &thread->room, index + 1, sizeof *thread->items);
    for (; thread->count <= index; thread->count++)
        thread->items[thread->count] = (struct call_context){
            .sums = {.index = (uint32_t)thread->count,
                     .is = {.lands = (uint32_t)thread->count, .scope = SCOPE_OTHER},
                     .least_ns = UINT64_MAX}};
    return &thread->items[index];
}

static void call_contexts_set_sums(struct call_context_thread *thread,
                                   const struct snapshot_context *sums, bool is)
{
    struct call_context *c = call_contexts_get(thread, sums->index);
    struct snapshot_scope before = c->sums.is;
    c->sums = *sums;
    if (!is || c->known)
        c->sums.is = before;
    c->known |= is;
    c->unsaved = thread->unsaved = true;
}

bool call_contexts_update(struct call_context_thread *thread, const uint8_t *body, size_t size,
                          const char **why)
{
    struct decoder in = decoder_init(body, size);
    struct snapshot_context sums;
    struct snapshot_head head;
    uint32_t before = UINT32_MAX;
    bool is;
    if (decode_snapshot_head(&in, &head))
        thread->head = head;
    while (decode_snapshot_context(&in, before, &sums, &is)) {
        call_contexts_set_sums(thread, &sums, is);
        before = sums.index;
    }
    *why = in.error;
    return !in.error;
}

void call_contexts_keep(struct call_contexts *all, struct call_context_thread *thread,
                        const uint8_t *body, size_t size)
{
    struct earlier_snapshots *e = &thread->earlier;
    e->full |= all->earlier_bytes + size > EARLIER_SNAPSHOTS_BYTES || size > UINT32_MAX;
    if (e->full || !size)
        return;
    struct earlier_body one = {thread->head.time_ns, xmalloc(size), (uint32_t)size};
    memcpy(one.data, body, size);
    ARRAY_PUSH(e->items, e->count, one);
    all->earlier_bytes += size;
}

uint32_t call_contexts_times(const struct call_context_thread *thread)
{
    const struct earlier_snapshots *e = &thread->earlier;
    uint32_t times = 0;
    for (uint32_t i = 0; i < e->count; i++)
        times += !i || e->items[i].time_ns != e->items[i - 1].time_ns;
    return times;
}

/* ---- saving ---- */

static void save_kept(struct call_context_thread *thread,
                      void (*save)(void *user, const struct call_context_thread *thread,
                                   const struct encoder *body),
                      void *user)
{
    struct earlier_snapshots *e = &thread->earlier;
    for (; e->saved < e->count; e->saved++) {
        struct encoder body = {.data = e->items[e->saved].data, .size = e->items[e->saved].size};
        save(user, thread, &body);
    }
    for (size_t i = 0; !e->full && e->count && i < thread->count; i++)
        thread->items[i].unsaved = false;
}

/* Encodes changed contexts from *from on, at most SAVED_AT_ONCE; returns false if there are
 * none. */
static bool put_some(struct call_context_thread *thread, size_t *from, struct encoder *body)
{
    uint32_t before = UINT32_MAX, count = 0;
    encode_snapshot_head(body, &thread->head);
    for (; *from < thread->count && count < SAVED_AT_ONCE; ++*from) {
        struct call_context *c = &thread->items[*from];
        if (!c->unsaved)
            continue;
        encode_snapshot_context(body, before, &c->sums, c->known);
        before = c->sums.index;
        c->unsaved = false;
        count++;
    }
    return count != 0;
}

void call_contexts_save(struct call_contexts *all,
                        void (*save)(void *user, const struct call_context_thread *thread,
                                     const struct encoder *body),
                        void *user)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct call_context_thread *thread = &all->threads[i];
        struct encoder body = {0};
        save_kept(thread, save, user);
        for (size_t from = 0; thread->unsaved && put_some(thread, &from, &body);) {
            save(user, thread, &body);
            body.size = 0;
        }
        thread->unsaved = false;
        encoder_free(&body);
    }
}

void call_contexts_announced(struct call_contexts *all, struct call_context_thread *thread,
                             uint32_t line)
{
    thread->line = line;
    if (line)
        map_put(&all->lines, line, 0, (void *)(uintptr_t)(thread - all->threads + 1));
}

const struct call_context_thread *call_contexts_of_line(const struct call_contexts *all,
                                                        uint32_t line)
{
    uintptr_t known = (uintptr_t)map_get(&all->lines, line, 0);
    return known ? &all->threads[known - 1] : NULL;
}

static void call_contexts_free_earlier(struct earlier_snapshots *e)
{
    for (uint32_t i = 0; i < e->count; i++)
        free(e->items[i].data);
    free(e->items);
}

void call_contexts_free(struct call_contexts *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        free(all->threads[i].items);
        call_contexts_free_earlier(&all->threads[i].earlier);
    }
    free(all->threads);
    map_free(&all->index);
    map_free(&all->lines);
    *all = (struct call_contexts){0};
}
