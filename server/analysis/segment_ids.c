#include "server/analysis/segment_ids.h"

#include <stdlib.h>

#define PAGE 64

static uint32_t segment_ids_append(struct segment_ids *pairs, uint32_t line, uint32_t step)
{
    pairs->items =
        array_reserve(pairs->items, &pairs->room, pairs->count + 1, sizeof *pairs->items);
    pairs->items[pairs->count] = (struct segment_id){step, line};
    return pairs->count++;
}

static uint32_t of_stranger(struct segment_ids *pairs, uint32_t line, uint32_t step)
{
    uintptr_t known = (uintptr_t)map_get(&pairs->strangers, line, step);
    if (known)
        return (uint32_t)known - 1;
    uint32_t code = segment_ids_append(pairs, line, step);
    map_put(&pairs->strangers, line, step, (void *)((uintptr_t)code + 1));
    return code;
}

static struct pairs_of *segment_ids_for_thread(struct segment_ids *pairs, uint32_t index,
                                               size_t pages)
{
    if (index >= pairs->thread_count) {
        pairs->threads = array_reserve_zeroed(pairs->threads, &pairs->thread_room, index + 1,
                                              sizeof *pairs->threads);
        pairs->thread_count = index + 1;
    }
    struct pairs_of *thread = &pairs->threads[index];
    if (pages > thread->count) {
        thread->pages = xreallocarray(thread->pages, pages, sizeof *thread->pages);
        while (thread->count < pages)
            thread->pages[thread->count++] = NULL;
    }
    return thread;
}

uint32_t segment_ids_get(struct segment_ids *pairs, uint32_t index, uint32_t line, uint32_t step)
{
    if (index == UINT32_MAX)
        return of_stranger(pairs, line, step);
    uint32_t slot = step + SEGMENT_IDS_RESERVED;
    struct pairs_of *thread = segment_ids_for_thread(pairs, index, slot / PAGE + 1);
    uint32_t **page = &thread->pages[slot / PAGE];
    if (!*page)
        *page = xcalloc(PAGE, sizeof **page);
    uint32_t *code = &(*page)[slot % PAGE];
    if (!*code)
        *code = segment_ids_append(pairs, line, step) + 1;
    return *code - 1;
}

void segment_ids_free(struct segment_ids *pairs)
{
    for (size_t i = 0; i < pairs->thread_count; i++) {
        for (size_t j = 0; j < pairs->threads[i].count; j++)
            free(pairs->threads[i].pages[j]);
        free(pairs->threads[i].pages);
    }
    free(pairs->threads);
    free(pairs->items);
    map_free(&pairs->strangers);
    *pairs = (struct segment_ids){0};
}
