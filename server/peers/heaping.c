#define _GNU_SOURCE
#include "server/peers/heaping.h"

#include "memory/memory.h"
#include "server/peers/server.h"
#include "server/run/heap.h"
#include "server/taking/taking.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 1000000000u  /* between two looks, at least */
#define AGE_PART 16u          /* and at least that part of its age */
#define SAMPLE_NS 100000000u  /* likewise of samples */
#define SAMPLE_PART 4096u
#define AT_ONCE 1024u         /* sums in one message */
#define NODES_AT_ONCE 8192u
#define BLOCKS_AT_ONCE 8192u

struct heaping {
    int fd;
    uint64_t began_ns, looked_ns, sampled_ns;
    struct heap_sum *told; /* as they were told last */
    uint32_t told_count, told_bad, told_nodes;
    uint64_t unseen, unknown, live;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const char *heaping_begin(struct peer *peer, struct in *in, int fd)
{
    struct stat st;
    int needed = F_SEAL_SHRINK | F_SEAL_GROW, seals = fd >= 0 ? fcntl(fd, F_GET_SEALS) : -1;
    uint32_t version = get_u32(in);
    const char *error =
        !in_done(in)                              ? in->error
        : seals < 0 || (seals & needed) != needed ? "a heap that is not sealed"
        : version == HEAP_VERSION && (fstat(fd, &st) < 0 || (uint64_t)st.st_size < HEAP_MAP_BYTES)
            ? "a heap of an impossible size"
        : peer->heaping ? "a second heap"
                        : NULL;
    if (error || version != HEAP_VERSION) { /* one of another version is left alone */
        if (fd >= 0)
            close(fd);
        return error;
    }
    peer->heaping = memory_zeroed(1, sizeof *peer->heaping);
    *peer->heaping = (struct heaping){
        .fd = fd,
        .began_ns = now_ns(),
        .looked_ns = now_ns(),
        .told = memory_zeroed(HEAP_SUMS, sizeof(struct heap_sum)),
        .told_nodes = HEAP_NODE_FIRST,
    };
    return NULL;
}

/* It is read, not mapped: so nothing that the program does to it can harm, and holes stay holes. */
static bool read_part(const struct heaping *h, void *into, size_t bytes, size_t at)
{
    return pread(h->fd, into, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool journal(struct peer *peer, const struct out *body)
{
    taker_enter(peer->server->taker);
    bool fits = !body->failed && journal_put(peer->run->taking,
                                             &(struct chunk){.kind = MESSAGE_HEAP,
                                                             .session = peer->program->session,
                                                             .data = body->data,
                                                             .size = (uint32_t)body->size},
                                             1, false);
    taker_leave(peer->server->taker);
    return fits;
}

static void begin_body(struct out *body, enum heap_told what)
{
    put_u64(body, 0);
    put_u8(body, (uint8_t)what);
    put_u64(body, now_ns());
}

/* ---- how much there is ---- */

struct amount {
    uint64_t bytes, blocks, most, most_ns;
};

static uint64_t positive(int64_t n) { return n > 0 ? (uint64_t)n : 0; }

/* The head with what threads have not told it yet.  What it was at most may have been in the midst of that: then that
 * of one thread is known, with the others as they are now. */
static struct amount amount_of(const struct heaping *h, const struct heap_head *head)
{
    uint32_t n = head->threads < HEAP_THREADS ? head->threads : HEAP_THREADS;
    struct heap_thread *t = memory_zeroed((size_t)n + 1, sizeof *t);
    int64_t bytes = head->live, blocks = 0, above = 0;
    struct amount a = {.most_ns = head->most_ns};
    if (!read_part(h, t, n * sizeof *t, HEAP_THREADS_AT))
        n = 0;
    for (uint32_t i = 0; i < n; i++) {
        bytes += t[i].live;
        blocks += t[i].blocks;
    }
    int64_t most = head->most;
    for (uint32_t i = 0; i < n; i++) {
        above = t[i].most - t[i].live;
        if (t[i].most > 0 && bytes + above > most) {
            most = bytes + above;
            a.most_ns = t[i].most_ns;
        }
    }
    a.bytes = positive(bytes);
    a.blocks = positive(blocks);
    a.most = positive(most);
    free(t);
    return a;
}

static void sample(struct peer *peer)
{
    struct heaping *h = peer->heaping;
    struct heap_head head;
    if (!read_part(h, &head, sizeof head, 0) || head.magic != HEAP_MAGIC)
        return;
    struct amount a = amount_of(h, &head);
    struct out body = {0};
    begin_body(&body, HEAP_TOLD_SAMPLE);
    put_u64(&body, a.bytes);
    put_u64(&body, a.blocks);
    journal(peer, &body);
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

static uint32_t bad_count(const struct heaping *h, struct heap_bad *bad)
{
    uint32_t count = 0;
    if (read_part(h, bad, HEAP_BAD * sizeof *bad, HEAP_BAD_AT))
        while (count < HEAP_BAD && bad[count].there && bad[count].fault < HEAP_FAULTS)
            count++; /* one may be being written */
    return count;
}

/* Nodes that are whole, from those on that were told last: how many are put. */
static uint32_t put_nodes(const struct heaping *h, struct out *body, uint32_t count)
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

static uint32_t put_sums(const struct heaping *h, struct out *body, const struct heap_sum *now,
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

static void put_head(const struct heaping *h, struct out *body, const struct heap_head *head)
{
    struct amount a = amount_of(h, head);
    begin_body(body, HEAP_TOLD_SUMS);
    put_u64(body, head->began_ns);
    put_u64(body, head->unseen);
    put_u64(body, head->unknown);
    put_u64(body, head->folded);
    put_u64(body, a.most);
    put_u64(body, a.most_ns);
}

/* Those of `now` from *next on that are not as they were told, so many at once; false: there is no room, or no more. */
static bool tell(struct peer *peer, const struct heap_head *head, const struct heap_sum *now,
                 uint32_t count, uint32_t *next)
{
    struct heaping *h = peer->heaping;
    struct out body = {0};
    struct heap_bad bad[HEAP_BAD];
    uint32_t begin = *next, bads = bad_count(h, bad), most = head->nodes;
    put_head(h, &body, head);
    uint32_t nodes = put_nodes(h, &body, most < HEAP_NODES ? most : HEAP_NODES);
    uint32_t sums = put_sums(h, &body, now, count, next);
    put_u32(&body, bads - (h->told_bad < bads ? h->told_bad : bads));
    for (uint32_t i = h->told_bad; i < bads; i++)
        put_bad(&body, i, &bad[i]);
    bool same = !sums && !nodes && bads <= h->told_bad && head->unseen == h->unseen &&
                head->unknown == h->unknown && h->told_count;
    bool fits = same || journal(peer, &body);
    if (fits && !same) {
        memcpy(h->told + begin, now + begin, (*next - begin) * sizeof *now);
        h->told_nodes += nodes;
        h->told_bad = bads > h->told_bad ? bads : h->told_bad;
        h->told_count = count;
        h->unseen = head->unseen;
        h->unknown = head->unknown;
    }
    out_free(&body);
    return fits && (*next < count || nodes);
}

static void look(struct peer *peer)
{
    struct heaping *h = peer->heaping;
    struct heap_head head;
    if (!read_part(h, &head, sizeof head, 0) || head.magic != HEAP_MAGIC)
        return;
    uint32_t count = head.sums < HEAP_SUMS ? head.sums : HEAP_SUMS, next = 0;
    struct heap_sum *now = memory_zeroed((size_t)count + 1, sizeof *now);
    if (read_part(h, now, count * sizeof *now, HEAP_SUMS_AT))
        while (tell(peer, &head, now, count, &next))
            ;
    free(now);
}

/* ---- blocks ---- */

struct blocks {
    struct peer *peer;
    struct out body;
    size_t left_at, count_at;
    uint32_t put, in_body;
    uint64_t left; /* over those that there is room for */
    bool told;
};

static void begin_blocks(struct blocks *b)
{
    b->body = (struct out){0};
    begin_body(&b->body, HEAP_TOLD_BLOCKS);
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
        journal(b->peer, &b->body);
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

/* Goes over all that are there, holes left out.  What changes while it is read is left out, too. */
static void each_block(struct blocks *b, void (*with)(struct blocks *b, const struct heap_block *))
{
    const struct heaping *h = b->peer->heaping;
    struct heap_block *piece = memory_zeroed(PIECE, sizeof *piece),
                      *again = memory_zeroed(PIECE, sizeof *again);
    size_t bytes = PIECE * sizeof *piece;
    off_t at = (off_t)HEAP_BLOCKS_AT, end = (off_t)HEAP_MAP_BYTES;
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

static void tell_blocks(struct peer *peer)
{
    struct blocks b = {.peer = peer};
    each_block(&b, count_block);
    b.left = b.left > HEAP_BLOCKS_TOLD ? b.left - HEAP_BLOCKS_TOLD : 0;
    begin_blocks(&b);
    each_block(&b, tell_block);
    if (b.in_body || !b.told)
        end_blocks(&b);
    else
        out_free(&b.body);
}

/* ---- when ---- */

static bool is_due(uint64_t *last_ns, uint64_t age_ns, uint64_t now, uint64_t least, uint64_t part)
{
    uint64_t apart = age_ns / part;
    if (now - *last_ns < (apart > least ? apart : least))
        return false;
    *last_ns = now;
    return true;
}

static void go_on(struct peer *peer, uint64_t now)
{
    struct heaping *h = peer->heaping;
    bool wanted = *heap_wants_blocks(peer->run);
    if (is_due(&h->sampled_ns, now - h->began_ns, now, SAMPLE_NS, SAMPLE_PART))
        sample(peer);
    if (wanted || is_due(&h->looked_ns, now - h->began_ns, now, FIRST_NS, AGE_PART))
        look(peer);
    if (wanted)
        tell_blocks(peer);
}

static bool has_heap(const struct peer *peer)
{
    return peer->heaping && peer->program && !peer->closed && !peer->ending;
}

void heaping_go_on(struct server *server)
{
    uint64_t now = now_ns();
    for (struct peer *peer = server->peers; peer; peer = peer->next)
        if (has_heap(peer))
            go_on(peer, now);
    for (struct peer *peer = server->peers; peer; peer = peer->next)
        if (has_heap(peer))
            *heap_wants_blocks(peer->run) = false;
    for (struct peer *peer = server->peers; peer; peer = peer->next)
        if (peer->program && *heap_wants_blocks(peer->run))
            heap_no_blocks(peer->run);
}

void heaping_end(struct peer *peer)
{
    if (!peer->heaping)
        return;
    if (peer->program) {
        sample(peer);
        look(peer);
        tell_blocks(peer);
    }
    close(peer->heaping->fd);
    free(peer->heaping->told);
    free(peer->heaping);
    peer->heaping = NULL;
}
