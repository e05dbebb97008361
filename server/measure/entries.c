#include "server/measure/entries.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

static struct entries_thread *thread_of(struct entries *all, uint32_t session, uint32_t code)
{
    uintptr_t known = (uintptr_t)map_get(&all->index, session, code);
    if (known)
        return all->threads[known - 1];
    struct entries_thread *t = memory_zeroed(1, sizeof *t);
    t->session = session;
    t->code = code;
    all->threads = grow(all->threads, &all->room, all->count + 1, sizeof(void *));
    all->threads[all->count++] = t;
    map_put(&all->index, session, code, (void *)(uintptr_t)all->count);
    return t;
}

const struct entries_thread *entries_of(const struct entries *all, uint32_t session, uint32_t code)
{
    uintptr_t known = (uintptr_t)map_get(&all->index, session, code);
    return known ? all->threads[known - 1] : NULL;
}

/* Onto a stack, or above what there is room for. */
#define PUSH_OPEN(of, one) push(&(of)->open, &(of)->open_count, &(of)->open_room, &(of)->above, one)

static void push(struct entry_open **open, size_t *count, size_t *room, uint64_t *above,
                 struct entry_open one)
{
    if (*count >= ENTRIES_DEEPEST) {
        ++*above;
        return;
    }
    *open = grow(*open, room, *count + 1, sizeof **open);
    (*open)[(*count)++] = one;
}

/* The innermost one, whose end was told; NULL: it is not known. */
static const struct entry_open *pop(const struct entry_open *open, size_t *count, uint64_t *above)
{
    if (*above) {
        --*above;
        return NULL;
    }
    return *count ? &open[--*count] : NULL;
}

/* ---- taking ---- */

/* What a body says of a thread; false: it cannot be believed, and nothing changed. */
struct said {
    uint64_t first_ns, last_ns, begins, lost;
};

static bool read_all(const uint8_t *body, size_t size, struct said *said, const char **why)
{
    struct in in = in_from(body, size);
    struct entry e;
    *said = (struct said){.first_ns = get_entries_head(&in)};
    said->last_ns = said->first_ns;
    while (get_entry(&in, &said->last_ns, &e)) {
        said->begins += e.is == ENTRY_BEGINS;
        said->lost += e.lost;
    }
    *why = in.error;
    return !in.error;
}

static void follow(struct entries_thread *t, const uint8_t *body, size_t size)
{
    struct in in = in_from(body, size);
    uint64_t ns = get_entries_head(&in);
    struct entry e;
    while (get_entry(&in, &ns, &e))
        if (e.is == ENTRY_BEGINS)
            PUSH_OPEN(t, ((struct entry_open){e.context, e.time_ns}));
        else if (e.is == ENTRY_ENDED)
            pop(t->open, &t->open_count, &t->above);
}

static struct entries_block block_of(const struct entries_thread *t, const struct said *said,
                                     const uint8_t *body, size_t size)
{
    struct entries_block block = {.first_ns = said->first_ns,
                                  .last_ns = said->last_ns,
                                  .bytes = memory_bytes(size),
                                  .size = (uint32_t)size,
                                  .open_count = (uint32_t)t->open_count,
                                  .above = t->above,
                                  .begins = said->begins};
    memcpy(block.bytes, body, size);
    block.open = memory_resized(NULL, t->open_count + 1, sizeof *block.open);
    if (t->open_count)
        memcpy(block.open, t->open, t->open_count * sizeof *block.open);
    return block;
}

bool entries_take(struct entries *all, uint32_t session, uint32_t code, const uint8_t *body,
                  size_t size, const char **why)
{
    struct said said;
    if (!read_all(body, size, &said, why))
        return false;
    struct entries_thread *t = thread_of(all, session, code);
    uint64_t bytes = size + t->open_count * sizeof *t->open;
    uint64_t until_ns = t->count ? t->blocks[t->count - 1].last_ns : 0;
    if (said.first_ns < until_ns) {
        *why = said.last_ns <= until_ns ? NULL : "entries that run back";
        return !*why; /* told before */
    }
    t->lost += said.lost;
    if (all->bytes + bytes > ENTRIES_KEPT) {
        all->left += said.begins;
        return true;
    }
    all->bytes += bytes;
    t->begins += said.begins;
    t->blocks = grow(t->blocks, &t->room, t->count + 1, sizeof *t->blocks);
    t->blocks[t->count] = block_of(t, &said, body, size);
    t->blocks[t->count++].told = all->events;
    follow(t, body, size);
    return true;
}

/* ---- forgetting ---- */

#define FORGET_THREADS 16u /* at once */

static uint64_t bytes_of(const struct entries_block *block)
{
    return block->size + block->open_count * sizeof *block->open;
}

static void forget(struct entries *all, struct entries_thread *t, uint64_t events)
{
    size_t gone = 0;
    for (; gone + 1 < t->count && t->blocks[gone].told <= events; gone++) {
        all->bytes -= bytes_of(&t->blocks[gone]);
        t->begins -= t->blocks[gone].begins;
        free(t->blocks[gone].bytes);
        free(t->blocks[gone].open);
    }
    t->count -= gone;
    if (gone)
        memmove(t->blocks, t->blocks + gone, t->count * sizeof *t->blocks);
}

bool entries_forget_step(struct entries *all, uint64_t events, uint32_t *thread)
{
    for (unsigned n = 0; n < FORGET_THREADS && *thread < all->count; n++, ++*thread)
        if (!all->threads[*thread]->walks)
            forget(all, all->threads[*thread], events);
    return *thread >= all->count;
}

/* It begins at no time, so that it is no news where more of the thread is known (entries_take). */
bool entries_put_open(const struct entries *all, uint32_t session, uint32_t code, uint64_t first_ns,
                      struct out *out)
{
    const struct entries_thread *t = entries_of(all, session, code);
    const struct entries_block *last = t && t->count ? &t->blocks[t->count - 1] : NULL;
    uint64_t ns = 0;
    if (!last || last->first_ns != first_ns || !last->open_count)
        return false;
    put_entries_head(out, ns);
    for (uint32_t i = 0; i < last->open_count; i++)
        put_entry(out, &ns,
                  &(struct entry){.is = ENTRY_BEGINS,
                                  .context = last->open[i].context,
                                  .time_ns = last->open[i].began_ns});
    return true;
}

void entries_free(struct entries *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct entries_thread *t = all->threads[i];
        for (size_t k = 0; k < t->count; k++) {
            free(t->blocks[k].bytes);
            free(t->blocks[k].open);
        }
        free(t->blocks);
        free(t->open);
        free(t);
    }
    free(all->threads);
    map_free(&all->index);
    *all = (struct entries){0};
}

/* ---- looking ---- */

static void enter_block(struct entries_walk *walk)
{
    const struct entries_block *block = &walk->thread->blocks[walk->block++];
    walk->in = in_from(block->bytes, block->size);
    walk->last_ns = get_entries_head(&walk->in);
}

struct entries_walk entries_walk(const struct entries_thread *thread, uint64_t from_ns)
{
    struct entries_walk walk = {.thread = thread, .end = thread->count};
    size_t low = 0, high = thread->count; /* the last block that begins before, or the first */
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (thread->blocks[middle].first_ns < from_ns)
            low = middle;
        else
            high = middle;
    }
    walk.block = low;
    ((struct entries_thread *)(uintptr_t)thread)->walks++;
    if (low < thread->count) {
        const struct entries_block *block = &thread->blocks[low];
        for (uint32_t i = 0; i < block->open_count; i++)
            PUSH_OPEN(&walk, block->open[i]);
        walk.above = block->above;
        enter_block(&walk);
    }
    return walk;
}

bool entries_next(struct entries_walk *walk, struct entry_seen *seen)
{
    struct entry *e = &seen->entry;
    *seen = (struct entry_seen){0};
    while (!get_entry(&walk->in, &walk->last_ns, e)) {
        if (walk->block >= walk->end)
            return false;
        enter_block(walk);
    }
    const struct entry_open *open =
        e->is == ENTRY_ENDED ? pop(walk->open, &walk->open_count, &walk->above) : NULL;
    if (open) {
        e->context = open->context;
        seen->began_ns = open->began_ns;
    }
    seen->depth = walk->open_count + walk->above;
    if (e->is == ENTRY_BEGINS)
        PUSH_OPEN(walk, ((struct entry_open){e->context, e->time_ns}));
    return true;
}

void entries_walk_end(struct entries_walk *walk)
{
    if (walk->thread)
        ((struct entries_thread *)(uintptr_t)walk->thread)->walks--;
    free(walk->open);
    *walk = (struct entries_walk){0};
}
