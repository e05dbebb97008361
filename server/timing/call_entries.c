#include "server/timing/call_entries.h"

#include "base/alloc.h"
#include "base/lower_bound.h"

#include <stdlib.h>
#include <string.h>

static struct call_entries_thread *thread_of(struct call_entries *all, uint32_t session,
                                             uint32_t code)
{
    uintptr_t known = (uintptr_t)map_get(&all->index, session, code);
    if (known)
        return all->threads[known - 1];
    struct call_entries_thread *t = xcalloc(1, sizeof *t);
    t->session = session;
    t->code = code;
    all->threads = array_reserve(all->threads, &all->room, all->count + 1, sizeof(void *));
    all->threads[all->count++] = t;
    map_put(&all->index, session, code, (void *)(uintptr_t)all->count);
    return t;
}

const struct call_entries_thread *call_entries_for_thread(const struct call_entries *all,
                                                          uint32_t session, uint32_t code)
{
    uintptr_t known = (uintptr_t)map_get(&all->index, session, code);
    return known ? all->threads[known - 1] : NULL;
}

/* Pushes an open call, or counts it if the stack is full. */
#define PUSH_OPEN(of, one)                                                                         \
    call_entries_push_open(&(of)->open, &(of)->open_count, &(of)->open_room, &(of)->above, one)

static void call_entries_push_open(struct call_entry_open **open, size_t *count, size_t *room,
                                   uint64_t *above, struct call_entry_open one)
{
    if (*count >= CALL_ENTRIES_DEPTH_MAX) {
        ++*above;
        return;
    }
    *open = array_reserve(*open, room, *count + 1, sizeof **open);
    (*open)[(*count)++] = one;
}

/* Pops the innermost open call, as its end was received; returns NULL if it is not known. */
static const struct call_entry_open *call_entries_pop_open(const struct call_entry_open *open,
                                                           size_t *count, uint64_t *above)
{
    if (*above) {
        --*above;
        return NULL;
    }
    return *count ? &open[--*count] : NULL;
}

/* ---- appending ---- */

/* Values of a body, which is scanned before anything is changed, as it may be invalid. */
struct entries_scan {
    uint64_t first_ns, last_ns, begins, lost;
};

static bool read_all(const uint8_t *body, size_t size, struct entries_scan *scan, const char **why)
{
    struct decoder in = decoder_init(body, size);
    struct call_record e;
    *scan = (struct entries_scan){.first_ns = decode_call_records_head(&in)};
    scan->last_ns = scan->first_ns;
    while (decode_call_record(&in, &scan->last_ns, &e)) {
        scan->begins += e.is == CALL_RECORD_BEGINS;
        scan->lost += e.lost;
    }
    *why = in.error;
    return !in.error;
}

static void call_entries_track_open(struct call_entries_thread *t, const uint8_t *body, size_t size)
{
    struct decoder in = decoder_init(body, size);
    uint64_t ns = decode_call_records_head(&in);
    struct call_record e;
    while (decode_call_record(&in, &ns, &e))
        if (e.is == CALL_RECORD_BEGINS)
            PUSH_OPEN(t, ((struct call_entry_open){e.context, e.time_ns}));
        else if (e.is == CALL_RECORD_ENDED)
            call_entries_pop_open(t->open, &t->open_count, &t->above);
}

static struct call_entries_block block_of(const struct call_entries_thread *t,
                                          const struct entries_scan *scan, const uint8_t *body,
                                          size_t size)
{
    struct call_entries_block block = {.first_ns = scan->first_ns,
                                       .last_ns = scan->last_ns,
                                       .bytes = xmalloc(size),
                                       .size = (uint32_t)size,
                                       .open_count = (uint32_t)t->open_count,
                                       .above = t->above,
                                       .begins = scan->begins};
    memcpy(block.bytes, body, size);
    block.open = xreallocarray(NULL, t->open_count + 1, sizeof *block.open);
    if (t->open_count)
        memcpy(block.open, t->open, t->open_count * sizeof *block.open);
    return block;
}

bool call_entries_append(struct call_entries *all, uint32_t session, uint32_t code,
                         const uint8_t *body, size_t size, const char **why)
{
    struct entries_scan scan;
    if (!read_all(body, size, &scan, why))
        return false;
    struct call_entries_thread *t = thread_of(all, session, code);
    uint64_t bytes = size + t->open_count * sizeof *t->open;
    uint64_t until_ns = t->count ? t->blocks[t->count - 1].last_ns : 0;
    if (scan.first_ns < until_ns) {
        *why = scan.last_ns <= until_ns ? NULL : "entries that run back";
        return !*why; /* all of it was received before */
    }
    t->lost += scan.lost;
    if (all->bytes + bytes > CALL_ENTRIES_KEPT) {
        all->left += scan.begins;
        return true;
    }
    all->bytes += bytes;
    t->begins += scan.begins;
    t->blocks = array_reserve(t->blocks, &t->room, t->count + 1, sizeof *t->blocks);
    t->blocks[t->count] = block_of(t, &scan, body, size);
    t->blocks[t->count++].run_events = all->events;
    call_entries_track_open(t, body, size);
    return true;
}

/* ---- discarding ---- */

#define FORGET_THREADS 16u /* threads per step */

static uint64_t bytes_of(const struct call_entries_block *block)
{
    return block->size + block->open_count * sizeof *block->open;
}

static void call_entries_discard_blocks(struct call_entries *all, struct call_entries_thread *t,
                                        uint64_t events)
{
    size_t gone = 0;
    for (; gone + 1 < t->count && t->blocks[gone].run_events <= events; gone++) {
        all->bytes -= bytes_of(&t->blocks[gone]);
        t->begins -= t->blocks[gone].begins;
        free(t->blocks[gone].bytes);
        free(t->blocks[gone].open);
    }
    t->count -= gone;
    if (gone)
        memmove(t->blocks, t->blocks + gone, t->count * sizeof *t->blocks);
}

bool call_entries_discard_step(struct call_entries *all, uint64_t events, uint32_t *thread)
{
    for (unsigned n = 0; n < FORGET_THREADS && *thread < all->count; n++, ++*thread)
        if (!all->threads[*thread]->walks)
            call_entries_discard_blocks(all, all->threads[*thread], events);
    return *thread >= all->count;
}

/* Encodes the open calls with 0 as the begin time of the body, so that call_entries_append()
 * ignores it if more of the thread is known. */
bool call_entries_encode_open(const struct call_entries *all, uint32_t session, uint32_t code,
                              uint64_t first_ns, struct encoder *out)
{
    const struct call_entries_thread *t = call_entries_for_thread(all, session, code);
    const struct call_entries_block *last = t && t->count ? &t->blocks[t->count - 1] : NULL;
    uint64_t ns = 0;
    if (!last || last->first_ns != first_ns || !last->open_count)
        return false;
    encode_call_records_head(out, ns);
    for (uint32_t i = 0; i < last->open_count; i++)
        encode_call_record(out, &ns,
                           &(struct call_record){.is = CALL_RECORD_BEGINS,
                                                 .context = last->open[i].context,
                                                 .time_ns = last->open[i].began_ns});
    return true;
}

void call_entries_free(struct call_entries *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct call_entries_thread *t = all->threads[i];
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
    *all = (struct call_entries){0};
}

/* ---- reading ---- */

static void enter_block(struct call_entries_walk *walk)
{
    const struct call_entries_block *block = &walk->thread->blocks[walk->block++];
    walk->in = decoder_init(block->bytes, block->size);
    walk->last_ns = decode_call_records_head(&walk->in);
}

struct call_entries_walk call_entries_walk(const struct call_entries_thread *thread,
                                           uint64_t from_ns)
{
    struct call_entries_walk walk = {.thread = thread, .end = thread->count};
    /* finds the last block that begins before from_ns, or else the first */
    size_t low = LOWER_BOUND(i, 1, thread->count, thread->blocks[i].first_ns < from_ns) - 1;
    walk.block = low;
    ((struct call_entries_thread *)(uintptr_t)thread)->walks++;
    if (low < thread->count) {
        const struct call_entries_block *block = &thread->blocks[low];
        for (uint32_t i = 0; i < block->open_count; i++)
            PUSH_OPEN(&walk, block->open[i]);
        walk.above = block->above;
        enter_block(&walk);
    }
    return walk;
}

bool call_entries_next(struct call_entries_walk *walk, struct call_entry_seen *seen)
{
    struct call_record *e = &seen->entry;
    *seen = (struct call_entry_seen){0};
    while (!decode_call_record(&walk->in, &walk->last_ns, e)) {
        if (walk->block >= walk->end)
            return false;
        enter_block(walk);
    }
    const struct call_entry_open *open =
        e->is == CALL_RECORD_ENDED
            ? call_entries_pop_open(walk->open, &walk->open_count, &walk->above)
            : NULL;
    if (open) {
        e->context = open->context;
        seen->began_ns = open->began_ns;
    }
    seen->depth = walk->open_count + walk->above;
    if (e->is == CALL_RECORD_BEGINS)
        PUSH_OPEN(walk, ((struct call_entry_open){e->context, e->time_ns}));
    return true;
}

void call_entries_walk_end(struct call_entries_walk *walk)
{
    if (walk->thread)
        ((struct call_entries_thread *)(uintptr_t)walk->thread)->walks--;
    free(walk->open);
    *walk = (struct call_entries_walk){0};
}
