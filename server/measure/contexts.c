#include "server/measure/contexts.h"

#include "memory/memory.h"
#include "wire/region.h"

#include <stdlib.h>

#define SAVED_AT_ONCE 4096u /* contexts of one body */

struct context_thread *contexts_thread(struct contexts *all, uint32_t session, uint32_t code)
{
    uintptr_t known = (uintptr_t)map_get(&all->index, session, code);
    if (known)
        return &all->threads[known - 1];
    all->threads = grow(all->threads, &all->room, all->count + 1, sizeof *all->threads);
    all->threads[all->count++] = (struct context_thread){.session = session, .code = code};
    map_put(&all->index, session, code, (void *)(uintptr_t)all->count);
    return &all->threads[all->count - 1];
}

/* Those before it that nobody told of, in a file that is damaged, hang below the thread. */
static struct context *at(struct context_thread *thread, uint32_t index)
{
    thread->items = grow(thread->items, &thread->room, index + 1, sizeof *thread->items);
    for (; thread->count <= index; thread->count++)
        thread->items[thread->count] = (struct context){
            .sums = {.index = (uint32_t)thread->count,
                     .is = {.lands = (uint32_t)thread->count, .scope = SCOPE_OTHER},
                     .least_ns = UINT64_MAX}};
    return &thread->items[index];
}

static void take(struct context_thread *thread, const struct sums_context *sums, bool is)
{
    struct context *c = at(thread, sums->index);
    struct sums_is before = c->sums.is;
    c->sums = *sums;
    if (!is || c->known)
        c->sums.is = before;
    c->known |= is;
    c->unsaved = thread->unsaved = true;
}

bool contexts_take(struct context_thread *thread, const uint8_t *body, size_t size,
                   const char **why)
{
    struct in in = in_from(body, size);
    struct sums_context sums;
    struct sums_head head;
    uint32_t before = UINT32_MAX;
    bool is;
    if (get_sums_head(&in, &head))
        thread->head = head;
    while (get_sums_context(&in, before, &sums, &is)) {
        take(thread, &sums, is);
        before = sums.index;
    }
    *why = in.error;
    return !in.error;
}

void contexts_keep(struct contexts *all, struct context_thread *thread, const uint8_t *body,
                   size_t size)
{
    earlier_keep(&thread->earlier, &all->earlier_bytes, thread->head.time_ns, body, size);
}

/* ---- telling it again ---- */

static void save_kept(struct context_thread *thread,
                      void (*save)(void *user, const struct context_thread *thread,
                                   const struct out *body),
                      void *user)
{
    struct earlier *e = &thread->earlier;
    for (; e->saved < e->count; e->saved++) {
        struct out body = {.data = e->items[e->saved].data, .size = e->items[e->saved].size};
        save(user, thread, &body);
    }
    for (size_t i = 0; !e->full && e->count && i < thread->count; i++)
        thread->items[i].unsaved = false;
}

/* Of those from *from on; false: there are no more. */
static bool put_some(struct context_thread *thread, size_t *from, struct out *body)
{
    uint32_t before = UINT32_MAX, told = 0;
    put_sums_head(body, &thread->head);
    for (; *from < thread->count && told < SAVED_AT_ONCE; ++*from) {
        struct context *c = &thread->items[*from];
        if (!c->unsaved)
            continue;
        put_sums_context(body, before, &c->sums, c->known);
        before = c->sums.index;
        c->unsaved = false;
        told++;
    }
    return told != 0;
}

void contexts_save(struct contexts *all,
                   void (*save)(void *user, const struct context_thread *thread,
                                const struct out *body),
                   void *user)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct context_thread *thread = &all->threads[i];
        struct out body = {0};
        save_kept(thread, save, user);
        for (size_t from = 0; thread->unsaved && put_some(thread, &from, &body);) {
            save(user, thread, &body);
            body.size = 0;
        }
        thread->unsaved = false;
        out_free(&body);
    }
}

void contexts_announced(struct contexts *all, struct context_thread *thread, uint32_t line)
{
    thread->line = line;
    if (line)
        map_put(&all->lines, line, 0, (void *)(uintptr_t)(thread - all->threads + 1));
}

const struct context_thread *contexts_of_line(const struct contexts *all, uint32_t line)
{
    uintptr_t known = (uintptr_t)map_get(&all->lines, line, 0);
    return known ? &all->threads[known - 1] : NULL;
}

void contexts_free(struct contexts *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        free(all->threads[i].items);
        earlier_free(&all->threads[i].earlier);
    }
    free(all->threads);
    map_free(&all->index);
    map_free(&all->lines);
    *all = (struct contexts){0};
}
