/* Reads the blocks of a heap that were not freed. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "server/decode/heap_reader.h"
#include "server/tracefile/chunks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCKS_AT_ONCE 8192u /* in one message */

struct unfreed_blocks {
    const struct heap_reader *map;
    uint64_t now_ns;
    struct encoder body;
    size_t count_at;
    uint32_t put, in_body;
    uint64_t left; /* over those that there is room for */
    bool reported;
};

static void begin_blocks(struct unfreed_blocks *b)
{
    b->body = (struct encoder){0};
    encode_u8(&b->body, HEAP_RECORD_BLOCKS);
    encode_u64(&b->body, b->now_ns);
    encode_u8(&b->body, !b->reported);
    encode_u64(&b->body, 0);
    b->count_at = b->body.size;
    encode_u32(&b->body, 0);
    b->in_body = 0;
}

static void end_blocks(struct unfreed_blocks *b)
{
    if (!b->body.failed) {
        chunk_set_u32(b->body.data + b->count_at, b->in_body);
        chunk_set_u64(b->body.data + b->count_at - 8, b->left);
        b->map->tell(b->map->context, &b->body);
    }
    b->reported = true;
    encoder_free(&b->body);
}

static void put_block(struct unfreed_blocks *b, const struct heap_block *block)
{
    encode_u64(&b->body, HEAP_ADDRESS(block->word));
    encode_u64(&b->body, block->bytes);
    encode_u32(&b->body, block->sum);
    encode_u32(&b->body, block->beyond);
    encode_u32(&b->body, block->event);
    encode_u32(&b->body, block->age_ms);
    encode_u8(&b->body, (uint8_t)HEAP_KIND(block->word));
    b->put++;
    if (++b->in_body == BLOCKS_AT_ONCE) {
        end_blocks(b);
        begin_blocks(b);
    }
}

#define PIECE 4096u /* blocks that are read at once */

static bool unfreed_is_unfreed(const struct heap_block *block)
{
    enum heap_kind kind = HEAP_KIND(block->word);
    return kind != HEAP_FREED && kind < HEAP_KINDS && block->sum < HEAP_SUMS;
}

static off_t blocks_end(const struct heap_reader *map)
{
    struct stat st;
    return fstat(map->fd, &st) < 0                 ? 0
           : (uint64_t)st.st_size < HEAP_MAP_BYTES ? st.st_size
                                                   : (off_t)HEAP_MAP_BYTES;
}

/* Goes over all that are there, holes left out.  What changes while it is read is left out, too. */
static void each_block(struct unfreed_blocks *b,
                       void (*with)(struct unfreed_blocks *b, const struct heap_block *))
{
    const struct heap_reader *h = b->map;
    struct heap_block *piece = xcalloc(PIECE, sizeof *piece),
                      *again = xcalloc(PIECE, sizeof *again);
    const off_t most = (off_t)(PIECE * sizeof *piece);
    off_t at = (off_t)HEAP_BLOCKS_AT, end = blocks_end(h);
    while (at < end && (at = lseek(h->fd, at, SEEK_DATA)) >= 0 && at < end) {
        at -= at % 4096;
        off_t hole = lseek(h->fd, at, SEEK_HOLE);
        size_t bytes = (size_t)(hole > at && hole - at < most ? hole - at : most);
        ssize_t n = pread(h->fd, piece, bytes, at);
        if (n <= 0 || pread(h->fd, again, bytes, at) != n)
            break;
        for (size_t i = 0; i < (size_t)n / sizeof *piece && at < end; i++, at += sizeof *piece)
            if (unfreed_is_unfreed(&piece[i]) && memcmp(&piece[i], &again[i], sizeof *piece) == 0)
                with(b, &piece[i]);
    }
    free(piece);
    free(again);
}

static void count_block(struct unfreed_blocks *b, const struct heap_block *block)
{
    (void)block;
    b->left++;
}

static void unfreed_report_block(struct unfreed_blocks *b, const struct heap_block *block)
{
    if (b->put < HEAP_BLOCKS_REPORTED)
        put_block(b, block);
}

void heap_reader_send_blocks(const struct heap_reader *map, uint64_t now_ns)
{
    struct unfreed_blocks b = {.map = map, .now_ns = now_ns};
    each_block(&b, count_block);
    b.left = b.left > HEAP_BLOCKS_REPORTED ? b.left - HEAP_BLOCKS_REPORTED : 0;
    begin_blocks(&b);
    each_block(&b, unfreed_report_block);
    if (b.in_body || !b.reported)
        end_blocks(&b);
    else
        encoder_free(&b.body);
}
