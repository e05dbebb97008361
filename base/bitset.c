#include "base/bitset.h"

#include <stdlib.h>

#define PAGE_BITS 12u /* numbers per page, as a power of two: 512 bytes */
#define PAGE_WORDS (1u << (PAGE_BITS - 6))

static uint64_t *page_of(struct bitset *bits, uint64_t page)
{
    if (!bits->recent || bits->recent_page != page) {
        bits->recent = bits->pages.count ? map_get(&bits->pages, page, 0) : NULL;
        bits->recent_page = page;
    }
    return bits->recent;
}

static uint64_t *word_of(uint64_t *page, uint64_t number)
{
    return &page[number >> 6 & (PAGE_WORDS - 1)];
}

void bitset_set(struct bitset *bits, uint64_t number)
{
    if (!page_of(bits, number >> PAGE_BITS)) {
        bits->recent = xcalloc(PAGE_WORDS, sizeof *bits->recent);
        map_put(&bits->pages, number >> PAGE_BITS, 0, bits->recent);
    }
    *word_of(bits->recent, number) |= (uint64_t)1 << (number & 63);
}

bool bitset_test(struct bitset *bits, uint64_t number)
{
    uint64_t *page = page_of(bits, number >> PAGE_BITS);
    return page && *word_of(page, number) >> (number & 63) & 1;
}

void bitset_free(struct bitset *bits)
{
    for (struct map_walk walk = {.map = &bits->pages}; map_next(&walk);)
        free(walk.value);
    map_free(&bits->pages);
    *bits = (struct bitset){0};
}
