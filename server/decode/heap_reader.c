#define _GNU_SOURCE
#include "server/decode/heap_reader.h"

#include "base/alloc.h"
#include "server/tracefile/chunks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT_ONCE 1024u /* sums in one message */
#define NODES_AT_ONCE 8192u

void heap_reader_begin(struct heap_reader *map, int fd,
                       bool (*tell)(void *context, const struct encoder *body), void *context)
{
    *map = (struct heap_reader){
        .fd = fd,
        .reported = xcalloc(HEAP_SUMS, sizeof(struct heap_sum)),
        .reported_nodes = HEAP_NODE_FIRST,
        .tell = tell,
        .context = context,
    };
}

void heap_reader_end(struct heap_reader *map)
{
    free(map->reported);
    map->reported = NULL;
}

static bool read_part(const struct heap_reader *h, void *into, size_t bytes, size_t at)
{
    return pread(h->fd, into, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool read_head(const struct heap_reader *h, struct heap_head *head)
{
    return read_part(h, head, sizeof *head, 0) && head->magic == HEAP_MAGIC;
}

static void begin_body(struct encoder *body, enum heap_record_type what, uint64_t now_ns)
{
    encode_u8(body, (uint8_t)what);
    encode_u64(body, now_ns);
}

/* ---- how much there is ---- */

struct heap_amount {
    uint64_t bytes, blocks, most, most_ns;
};

/* Of numbers that may be anything. */
static int64_t heap_reader_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static int64_t heap_reader_subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
static uint64_t heap_reader_positive(int64_t n) { return n > 0 ? (uint64_t)n : 0; }

/* The head with what threads have not told it yet.  What it was at most may have been in the midst
 * of that: then that of one thread is known, with the others as they are now. */
static struct heap_amount amount_of(const struct heap_reader *h, const struct heap_head *head)
{
    uint32_t n = head->threads < HEAP_THREADS ? head->threads : HEAP_THREADS;
    struct heap_thread *t = xcalloc((size_t)n + 1, sizeof *t);
    int64_t bytes = head->live, blocks = 0;
    struct heap_amount a = {.most_ns = head->most_ns};
    if (!read_part(h, t, n * sizeof *t, HEAP_THREADS_AT))
        n = 0;
    for (uint32_t i = 0; i < n; i++) {
        bytes = heap_reader_add(bytes, t[i].live);
        blocks = heap_reader_add(blocks, t[i].blocks);
    }
    int64_t most = head->most;
    for (uint32_t i = 0; i < n; i++) {
        int64_t with = heap_reader_add(bytes, heap_reader_subtract(t[i].most, t[i].live));
        if (t[i].most > 0 && with > most) {
            most = with;
            a.most_ns = t[i].most_ns;
        }
    }
    a.bytes = heap_reader_positive(bytes);
    a.blocks = heap_reader_positive(blocks);
    a.most = heap_reader_positive(most);
    free(t);
    return a;
}

void heap_reader_sample(const struct heap_reader *h, uint64_t now_ns)
{
    struct heap_head head;
    if (!read_head(h, &head))
        return;
    struct heap_amount a = amount_of(h, &head);
    struct encoder body = {0};
    begin_body(&body, HEAP_RECORD_SAMPLE, now_ns);
    encode_u64(&body, a.bytes);
    encode_u64(&body, a.blocks);
    h->tell(h->context, &body);
    encoder_free(&body);
}

/* ---- sums ---- */

static void put_sum(struct encoder *body, uint32_t number, const struct heap_sum *s)
{
    const uint64_t figures[HEAP_FIGURES] = {
        s->blocks,       s->bytes,       s->usable,    s->freed,           s->freed_bytes,
        s->freed_usable, s->temporaries, s->elsewhere, s->elsewhere_bytes, s->elsewhere_usable,
        s->nulls,        s->most_bytes};
    encode_u32(body, number);
    encode_u32(body, s->thread);
    encode_u32(body, s->node);
    for (uint32_t i = 0; i < HEAP_FIGURES; i++)
        encode_u64(body, figures[i]);
}

static void put_bad(struct encoder *body, uint32_t number, const struct heap_bad *bad)
{
    encode_u32(body, number);
    encode_u8(body, (uint8_t)bad->fault);
    encode_u32(body, bad->thread);
    encode_u64(body, bad->event);
    encode_u64(body, bad->address);
    encode_u64(body, bad->site);
    encode_u64(body, bad->before);
    encode_u32(body, bad->node);
}

static uint32_t bad_count(const struct heap_reader *h, struct heap_bad *bad)
{
    uint32_t count = 0;
    if (read_part(h, bad, HEAP_BAD * sizeof *bad, HEAP_BAD_AT))
        while (count < HEAP_BAD && bad[count].there && bad[count].fault < HEAP_FAULTS)
            count++; /* one may be being written */
    return count;
}

/* Encodes complete nodes behind those that were reported last; returns their number. */
static uint32_t put_nodes(const struct heap_reader *h, struct encoder *body, uint32_t count)
{
    uint32_t n = count > h->reported_nodes ? count - h->reported_nodes : 0, put = 0;
    n = n < NODES_AT_ONCE ? n : NODES_AT_ONCE;
    struct heap_node *nodes = xcalloc((size_t)n + 1, sizeof *nodes);
    size_t from = HEAP_NODES_AT + h->reported_nodes * sizeof *nodes;
    if (read_part(h, nodes, n * sizeof *nodes, from))
        while (put < n && nodes[put].parent && nodes[put].parent < h->reported_nodes + put)
            put++;
    encode_u32(body, h->reported_nodes);
    encode_u32(body, put);
    for (uint32_t i = 0; i < put; i++) {
        encode_u64(body, nodes[i].site);
        encode_u32(body, nodes[i].parent);
    }
    free(nodes);
    return put;
}

static uint32_t put_sums(const struct heap_reader *h, struct encoder *body,
                         const struct heap_sum *now, uint32_t count, uint32_t *next)
{
    uint32_t put = 0;
    size_t count_at = body->size;
    encode_u32(body, 0);
    for (; *next < count && put < AT_ONCE; ++*next)
        if (memcmp(&now[*next], &h->reported[*next], sizeof *now) != 0) {
            put_sum(body, *next, &now[*next]);
            put++;
        }
    if (!body->failed)
        chunk_set_u32(body->data + count_at, put);
    return put;
}

static void put_head(const struct heap_reader *h, struct encoder *body,
                     const struct heap_head *head, uint64_t now_ns)
{
    struct heap_amount a = amount_of(h, head);
    begin_body(body, HEAP_RECORD_SUMS, now_ns);
    encode_u64(body, head->began_ns);
    encode_u64(body, head->unseen);
    encode_u64(body, head->unknown);
    encode_u64(body, head->folded);
    encode_u64(body, a.most);
    encode_u64(body, a.most_ns);
    encode_u8(body, head->own_malloc != 0);
}

/* As they are now. */
struct heap_reading {
    struct heap_head head;
    struct heap_sum *sums;
    uint32_t count, next; /* to be reported */
    uint64_t ns;
};

static bool is_same(const struct heap_reader *h, const struct heap_head *head)
{
    return head->unseen == h->unseen && head->unknown == h->unknown && h->reported_count;
}

static void heap_reader_was_reported(struct heap_reader *h, const struct heap_reading *now,
                                     uint32_t from, uint32_t nodes, uint32_t bads)
{
    memcpy(h->reported + from, now->sums + from, (now->next - from) * sizeof *now->sums);
    h->reported_nodes += nodes;
    h->reported_bad = bads > h->reported_bad ? bads : h->reported_bad;
    h->reported_count = now->count;
    h->unseen = now->head.unseen;
    h->unknown = now->head.unknown;
}

/* What has changed, so much at once; false: there is no room, or no more. */
static bool heap_reader_report_changes(struct heap_reader *h, struct heap_reading *now)
{
    struct encoder body = {0};
    struct heap_bad bad[HEAP_BAD];
    uint32_t from = now->next, bads = bad_count(h, bad), most = now->head.nodes;
    put_head(h, &body, &now->head, now->ns);
    uint32_t nodes = put_nodes(h, &body, most < HEAP_NODES ? most : HEAP_NODES);
    uint32_t sums = put_sums(h, &body, now->sums, now->count, &now->next);
    encode_u32(&body, bads - (h->reported_bad < bads ? h->reported_bad : bads));
    for (uint32_t i = h->reported_bad; i < bads; i++)
        put_bad(&body, i, &bad[i]);
    bool same = !sums && !nodes && bads <= h->reported_bad && is_same(h, &now->head);
    bool fits = same || (!body.failed && h->tell(h->context, &body));
    if (fits && !same)
        heap_reader_was_reported(h, now, from, nodes, bads);
    encoder_free(&body);
    return fits && (now->next < now->count || nodes);
}

void heap_reader_sums(struct heap_reader *h, uint64_t now_ns)
{
    struct heap_reading now = {.ns = now_ns};
    if (!read_head(h, &now.head))
        return;
    now.count = now.head.sums < HEAP_SUMS ? now.head.sums : HEAP_SUMS;
    now.sums = xcalloc((size_t)now.count + 1, sizeof *now.sums);
    if (read_part(h, now.sums, now.count * sizeof *now.sums, HEAP_SUMS_AT))
        while (heap_reader_report_changes(h, &now))
            ;
    free(now.sums);
}

/* ---- blocks that were not freed ---- */

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

static void unfreed_begin(struct unfreed_blocks *b)
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

static void unfreed_end(struct unfreed_blocks *b)
{
    if (!b->body.failed) {
        chunk_set_u32(b->body.data + b->count_at, b->in_body);
        chunk_set_u64(b->body.data + b->count_at - 8, b->left);
        b->map->tell(b->map->context, &b->body);
    }
    b->reported = true;
    encoder_free(&b->body);
}

static void unfreed_put_block(struct unfreed_blocks *b, const struct heap_block *block)
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
        unfreed_end(b);
        unfreed_begin(b);
    }
}

#define PIECE 4096u /* blocks that are read at once */

static bool unfreed_is_one(const struct heap_block *block)
{
    enum heap_kind kind = HEAP_KIND(block->word);
    return kind != HEAP_FREED && kind < HEAP_KINDS && block->sum < HEAP_SUMS;
}

static off_t unfreed_blocks_end(const struct heap_reader *map)
{
    struct stat st;
    return fstat(map->fd, &st) < 0                 ? 0
           : (uint64_t)st.st_size < HEAP_MAP_BYTES ? st.st_size
                                                   : (off_t)HEAP_MAP_BYTES;
}

/* Goes over all that are there, holes left out.  What changes while it is read is left out, too. */
static void unfreed_each_block(struct unfreed_blocks *b,
                               void (*with)(struct unfreed_blocks *b, const struct heap_block *))
{
    const struct heap_reader *h = b->map;
    struct heap_block *piece = xcalloc(PIECE, sizeof *piece),
                      *again = xcalloc(PIECE, sizeof *again);
    const off_t most = (off_t)(PIECE * sizeof *piece);
    off_t at = (off_t)HEAP_BLOCKS_AT, end = unfreed_blocks_end(h);
    while (at < end && (at = lseek(h->fd, at, SEEK_DATA)) >= 0 && at < end) {
        at -= at % 4096;
        off_t hole = lseek(h->fd, at, SEEK_HOLE);
        size_t bytes = (size_t)(hole > at && hole - at < most ? hole - at : most);
        ssize_t n = pread(h->fd, piece, bytes, at);
        if (n <= 0 || pread(h->fd, again, bytes, at) != n)
            break;
        for (size_t i = 0; i < (size_t)n / sizeof *piece && at < end; i++, at += sizeof *piece)
            if (unfreed_is_one(&piece[i]) && memcmp(&piece[i], &again[i], sizeof *piece) == 0)
                with(b, &piece[i]);
    }
    free(piece);
    free(again);
}

static void unfreed_count_block(struct unfreed_blocks *b, const struct heap_block *block)
{
    (void)block;
    b->left++;
}

static void unfreed_report_block(struct unfreed_blocks *b, const struct heap_block *block)
{
    if (b->put < HEAP_BLOCKS_REPORTED)
        unfreed_put_block(b, block);
}

void heap_reader_send_blocks(const struct heap_reader *map, uint64_t now_ns)
{
    struct unfreed_blocks b = {.map = map, .now_ns = now_ns};
    unfreed_each_block(&b, unfreed_count_block);
    b.left = b.left > HEAP_BLOCKS_REPORTED ? b.left - HEAP_BLOCKS_REPORTED : 0;
    unfreed_begin(&b);
    unfreed_each_block(&b, unfreed_report_block);
    if (b.in_body || !b.reported)
        unfreed_end(&b);
    else
        encoder_free(&b.body);
}
