#define _GNU_SOURCE
#include "server/intake/heapmap.h"

#include "memory/memory.h"
#include "server/store/chunk.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE 1024u /* sums in one message */
#define NODES_AT_ONCE 8192u

void heapmap_begin(struct heapmap *map, int fd, bool (*tell)(void *context, const struct out *body),
                   void *context)
{
    *map = (struct heapmap){
        .fd = fd,
        .told = memory_zeroed(HEAP_SUMS, sizeof(struct heap_sum)),
        .told_nodes = HEAP_NODE_FIRST,
        .tell = tell,
        .context = context,
    };
}

void heapmap_end(struct heapmap *map)
{
    free(map->told);
    map->told = NULL;
}

static bool read_part(const struct heapmap *h, void *into, size_t bytes, size_t at)
{
    return pread(h->fd, into, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool read_head(const struct heapmap *h, struct heap_head *head)
{
    return read_part(h, head, sizeof *head, 0) && head->magic == HEAP_MAGIC;
}

static void begin_body(struct out *body, enum heap_told what, uint64_t now_ns)
{
    put_u64(body, 0);
    put_u8(body, (uint8_t)what);
    put_u64(body, now_ns);
}

/* ---- how much there is ---- */

struct amount {
    uint64_t bytes, blocks, most, most_ns;
};

/* Of numbers that may be anything. */
static int64_t plus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t minus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static uint64_t positive(int64_t n) { return n > 0 ? (uint64_t)n : 0; }

/* The head with what threads have not told it yet.  What it was at most may have been in the midst of that: then that
 * of one thread is known, with the others as they are now. */
static struct amount amount_of(const struct heapmap *h, const struct heap_head *head)
{
    uint32_t n = head->threads < HEAP_THREADS ? head->threads : HEAP_THREADS;
    struct heap_thread *t = memory_zeroed((size_t)n + 1, sizeof *t);
    int64_t bytes = head->live, blocks = 0;
    struct amount a = {.most_ns = head->most_ns};
    if (!read_part(h, t, n * sizeof *t, HEAP_THREADS_AT))
        n = 0;
    for (uint32_t i = 0; i < n; i++) {
        bytes = plus(bytes, t[i].live);
        blocks = plus(blocks, t[i].blocks);
    }
    int64_t most = head->most;
    for (uint32_t i = 0; i < n; i++) {
        int64_t with = plus(bytes, minus(t[i].most, t[i].live));
        if (t[i].most > 0 && with > most) {
            most = with;
            a.most_ns = t[i].most_ns;
        }
    }
    a.bytes = positive(bytes);
    a.blocks = positive(blocks);
    a.most = positive(most);
    free(t);
    return a;
}

void heapmap_sample(const struct heapmap *h, uint64_t now_ns)
{
    struct heap_head head;
    if (!read_head(h, &head))
        return;
    struct amount a = amount_of(h, &head);
    struct out body = {0};
    begin_body(&body, HEAP_TOLD_SAMPLE, now_ns);
    put_u64(&body, a.bytes);
    put_u64(&body, a.blocks);
    h->tell(h->context, &body);
    out_free(&body);
}

/* ---- sums ---- */

static void put_sum(struct out *body, uint32_t number, const struct heap_sum *s)
{
    const uint64_t figures[HEAP_FIGURES] = {
        s->blocks,       s->bytes,       s->usable,    s->freed,           s->freed_bytes,
        s->freed_usable, s->temporaries, s->elsewhere, s->elsewhere_bytes, s->elsewhere_usable,
        s->nulls,        s->most_bytes};
    put_u32(body, number);
    put_u32(body, s->thread);
    put_u32(body, s->node);
    for (uint32_t i = 0; i < HEAP_FIGURES; i++)
        put_u64(body, figures[i]);
}

static void put_bad(struct out *body, uint32_t number, const struct heap_bad *bad)
{
    put_u32(body, number);
    put_u8(body, (uint8_t)bad->fault);
    put_u32(body, bad->thread);
    put_u64(body, bad->event);
    put_u64(body, bad->address);
    put_u64(body, bad->site);
    put_u64(body, bad->before);
    put_u32(body, bad->node);
}

static uint32_t bad_count(const struct heapmap *h, struct heap_bad *bad)
{
    uint32_t count = 0;
    if (read_part(h, bad, HEAP_BAD * sizeof *bad, HEAP_BAD_AT))
        while (count < HEAP_BAD && bad[count].there && bad[count].fault < HEAP_FAULTS)
            count++; /* one may be being written */
    return count;
}

/* Nodes that are whole, from those on that were told last: how many are put. */
static uint32_t put_nodes(const struct heapmap *h, struct out *body, uint32_t count)
{
    uint32_t n = count > h->told_nodes ? count - h->told_nodes : 0, put = 0;
    n = n < NODES_AT_ONCE ? n : NODES_AT_ONCE;
    struct heap_node *nodes = memory_zeroed((size_t)n + 1, sizeof *nodes);
    size_t from = HEAP_NODES_AT + h->told_nodes * sizeof *nodes;
    if (read_part(h, nodes, n * sizeof *nodes, from))
        while (put < n && nodes[put].parent && nodes[put].parent < h->told_nodes + put)
            put++;
    put_u32(body, h->told_nodes);
    put_u32(body, put);
    for (uint32_t i = 0; i < put; i++) {
        put_u64(body, nodes[i].site);
        put_u32(body, nodes[i].parent);
    }
    free(nodes);
    return put;
}

static uint32_t put_sums(const struct heapmap *h, struct out *body, const struct heap_sum *now,
                         uint32_t count, uint32_t *next)
{
    uint32_t put = 0;
    size_t count_at = body->size;
    put_u32(body, 0);
    for (; *next < count && put < AT_ONCE; ++*next)
        if (memcmp(&now[*next], &h->told[*next], sizeof *now) != 0) {
            put_sum(body, *next, &now[*next]);
            put++;
        }
    if (!body->failed)
        set_u32(body->data + count_at, put);
    return put;
}

static void put_head(const struct heapmap *h, struct out *body, const struct heap_head *head,
                     uint64_t now_ns)
{
    struct amount a = amount_of(h, head);
    begin_body(body, HEAP_TOLD_SUMS, now_ns);
    put_u64(body, head->began_ns);
    put_u64(body, head->unseen);
    put_u64(body, head->unknown);
    put_u64(body, head->folded);
    put_u64(body, a.most);
    put_u64(body, a.most_ns);
}

/* As they are now. */
struct now {
    struct heap_head head;
    struct heap_sum *sums;
    uint32_t count, next; /* to be told */
    uint64_t ns;
};

static bool is_same(const struct heapmap *h, const struct heap_head *head)
{
    return head->unseen == h->unseen && head->unknown == h->unknown && h->told_count;
}

static void was_told(struct heapmap *h, const struct now *now, uint32_t from, uint32_t nodes,
                     uint32_t bads)
{
    memcpy(h->told + from, now->sums + from, (now->next - from) * sizeof *now->sums);
    h->told_nodes += nodes;
    h->told_bad = bads > h->told_bad ? bads : h->told_bad;
    h->told_count = now->count;
    h->unseen = now->head.unseen;
    h->unknown = now->head.unknown;
}

/* What has changed, so much at once; false: there is no room, or no more. */
static bool tell(struct heapmap *h, struct now *now)
{
    struct out body = {0};
    struct heap_bad bad[HEAP_BAD];
    uint32_t from = now->next, bads = bad_count(h, bad), most = now->head.nodes;
    put_head(h, &body, &now->head, now->ns);
    uint32_t nodes = put_nodes(h, &body, most < HEAP_NODES ? most : HEAP_NODES);
    uint32_t sums = put_sums(h, &body, now->sums, now->count, &now->next);
    put_u32(&body, bads - (h->told_bad < bads ? h->told_bad : bads));
    for (uint32_t i = h->told_bad; i < bads; i++)
        put_bad(&body, i, &bad[i]);
    bool same = !sums && !nodes && bads <= h->told_bad && is_same(h, &now->head);
    bool fits = same || (!body.failed && h->tell(h->context, &body));
    if (fits && !same)
        was_told(h, now, from, nodes, bads);
    out_free(&body);
    return fits && (now->next < now->count || nodes);
}

void heapmap_sums(struct heapmap *h, uint64_t now_ns)
{
    struct now now = {.ns = now_ns};
    if (!read_head(h, &now.head))
        return;
    now.count = now.head.sums < HEAP_SUMS ? now.head.sums : HEAP_SUMS;
    now.sums = memory_zeroed((size_t)now.count + 1, sizeof *now.sums);
    if (read_part(h, now.sums, now.count * sizeof *now.sums, HEAP_SUMS_AT))
        while (tell(h, &now))
            ;
    free(now.sums);
}
