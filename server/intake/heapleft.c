/* The blocks of a heap that were not given back. */
#define _GNU_SOURCE
#include "memory/memory.h"
#include "server/intake/heapmap.h"
#include "server/store/chunk.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCKS_AT_ONCE 8192u /* in one message */

struct blocks {
    const struct heapmap *map;
    uint64_t now_ns;
    struct out body;
    size_t count_at;
    uint32_t put, in_body;
    uint64_t left; /* over those that there is room for */
    bool told;
};

static void begin_blocks(struct blocks *b)
{
    b->body = (struct out){0};
    put_u64(&b->body, 0);
    put_u8(&b->body, HEAP_TOLD_BLOCKS);
    put_u64(&b->body, b->now_ns);
    put_u8(&b->body, !b->told);
    put_u64(&b->body, 0);
    b->count_at = b->body.size;
    put_u32(&b->body, 0);
    b->in_body = 0;
}

static void end_blocks(struct blocks *b)
{
    if (!b->body.failed) {
        set_u32(b->body.data + b->count_at, b->in_body);
        set_u64(b->body.data + b->count_at - 8, b->left);
        b->map->tell(b->map->context, &b->body);
    }
    b->told = true;
    out_free(&b->body);
}

static void put_block(struct blocks *b, const struct heap_block *block)
{
    put_u64(&b->body, HEAP_ADDRESS(block->word));
    put_u64(&b->body, block->bytes);
    put_u32(&b->body, block->sum);
    put_u32(&b->body, block->beyond);
    put_u32(&b->body, block->event);
    put_u32(&b->body, block->age_ms);
    put_u8(&b->body, (uint8_t)HEAP_KIND(block->word));
    b->put++;
    if (++b->in_body == BLOCKS_AT_ONCE) {
        end_blocks(b);
        begin_blocks(b);
    }
}

#define PIECE 4096u /* blocks that are read at once */

static bool is_left(const struct heap_block *block)
{
    enum heap_kind kind = HEAP_KIND(block->word);
    return kind != HEAP_FREED && kind < HEAP_KINDS && block->sum < HEAP_SUMS;
}

static off_t blocks_end(const struct heapmap *map)
{
    struct stat st;
    return fstat(map->fd, &st) < 0                    ? 0
           : (uint64_t)st.st_size < HEAP_MAP_BYTES ? st.st_size
                                                   : (off_t)HEAP_MAP_BYTES;
}

/* Goes over all that are there, holes left out.  What changes while it is read is left out, too. */
static void each_block(struct blocks *b, void (*with)(struct blocks *b, const struct heap_block *))
{
    const struct heapmap *h = b->map;
    struct heap_block *piece = memory_zeroed(PIECE, sizeof *piece),
                      *again = memory_zeroed(PIECE, sizeof *again);
    size_t bytes = PIECE * sizeof *piece;
    off_t at = (off_t)HEAP_BLOCKS_AT, end = blocks_end(h);
    while (at < end && (at = lseek(h->fd, at, SEEK_DATA)) >= 0 && at < end) {
        at -= at % 4096;
        ssize_t n = pread(h->fd, piece, bytes, at);
        if (n <= 0 || pread(h->fd, again, bytes, at) != n)
            break;
        for (size_t i = 0; i < (size_t)n / sizeof *piece && at < end; i++, at += sizeof *piece)
            if (is_left(&piece[i]) && memcmp(&piece[i], &again[i], sizeof *piece) == 0)
                with(b, &piece[i]);
    }
    free(piece);
    free(again);
}

static void count_block(struct blocks *b, const struct heap_block *block)
{
    (void)block;
    b->left++;
}

static void tell_block(struct blocks *b, const struct heap_block *block)
{
    if (b->put < HEAP_BLOCKS_TOLD)
        put_block(b, block);
}

void heapmap_blocks(const struct heapmap *map, uint64_t now_ns)
{
    struct blocks b = {.map = map, .now_ns = now_ns};
    each_block(&b, count_block);
    b.left = b.left > HEAP_BLOCKS_TOLD ? b.left - HEAP_BLOCKS_TOLD : 0;
    begin_blocks(&b);
    each_block(&b, tell_block);
    if (b.in_body || !b.told)
        end_blocks(&b);
    else
        out_free(&b.body);
}
