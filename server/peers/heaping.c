#define _GNU_SOURCE
#include "server/peers/heaping.h"

#include "memory/memory.h"
#include "server/peers/server.h"
#include "server/taking/taking.h"
#include "wire/heap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 1000000000u /* between two looks, at least */
#define AGE_PART 16u         /* and at least that part of its age */
#define AT_ONCE 1024u        /* sums in one message */

struct heaping {
    int fd;
    uint64_t began_ns, looked_ns;
    struct heap_sum *told; /* as they were told last */
    uint32_t told_count, told_bad;
    uint64_t unseen, unknown;
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
    const char *error = !in_done(in)                              ? in->error
                        : version != HEAP_VERSION                 ? "a heap of another version"
                        : seals < 0 || (seals & needed) != needed ? "a heap that is not sealed"
                        : fstat(fd, &st) < 0 || (uint64_t)st.st_size < HEAP_MAP_BYTES
                            ? "a heap of an impossible size"
                        : peer->heaping ? "a second heap"
                                        : NULL;
    if (error) {
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
    };
    return NULL;
}

/* It is read, not mapped: so nothing that the program does to it can harm, and holes stay holes. */
static bool read_part(const struct heaping *h, void *into, size_t bytes, size_t at)
{
    return pread(h->fd, into, bytes, (off_t)at) == (ssize_t)bytes;
}

static void put_sum(struct out *body, uint32_t number, const struct heap_sum *s)
{
    const uint64_t figures[HEAP_FIGURES] = {
        s->blocks,       s->bytes,     s->usable,          s->freed, s->freed_bytes,
        s->freed_usable, s->elsewhere, s->elsewhere_bytes, s->nulls, s->most_bytes};
    put_u32(body, number);
    put_u32(body, s->thread);
    put_u64(body, s->site);
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
}

static bool journal(struct peer *peer, const struct out *body)
{
    taker_enter(peer->server->taker);
    bool fits = journal_put(peer->run->taking,
                            &(struct chunk){.kind = MESSAGE_HEAP,
                                            .session = peer->program->session,
                                            .data = body->data,
                                            .size = (uint32_t)body->size},
                            1, false);
    taker_leave(peer->server->taker);
    return fits;
}

static struct heap_bad *read_bad(const struct heaping *h, const struct heap_head *head,
                                 uint32_t *count)
{
    struct heap_bad *bad = memory_zeroed(HEAP_BAD, sizeof *bad);
    uint32_t n = head->bad < HEAP_BAD ? head->bad : HEAP_BAD;
    if (!read_part(h, bad, HEAP_BAD * sizeof *bad, HEAP_BAD_AT))
        n = 0;
    *count = 0;
    while (*count < n && bad[*count].address && bad[*count].fault < HEAP_FAULTS)
        ++*count; /* one may be being written */
    return bad;
}

/* Those of `now` from *next on that are not as they were told, so many at once; false: there is no room. */
static bool tell(struct peer *peer, const struct heap_head *head, const struct heap_sum *now,
                 uint32_t count, uint32_t *next)
{
    struct heaping *h = peer->heaping;
    struct out body = {0};
    uint32_t put = 0, bad_count, begin = *next;
    put_u64(&body, now_ns());
    put_u64(&body, head->unseen);
    put_u64(&body, head->unknown);
    size_t count_at = body.size;
    put_u32(&body, 0);
    for (; *next < count && put < AT_ONCE; ++*next)
        if (memcmp(&now[*next], &h->told[*next], sizeof *now) != 0) {
            put_sum(&body, *next, &now[*next]);
            put++;
        }
    struct heap_bad *bad = read_bad(h, head, &bad_count);
    put_u32(&body, bad_count - (h->told_bad < bad_count ? h->told_bad : bad_count));
    for (uint32_t i = h->told_bad; i < bad_count; i++)
        put_bad(&body, i, &bad[i]);
    bool same = !put && bad_count <= h->told_bad && head->unseen == h->unseen &&
                head->unknown == h->unknown && h->told_count;
    bool fits = !body.failed;
    if (fits && !same) {
        set_u32(body.data + count_at, put);
        fits = journal(peer, &body);
    }
    if (fits && !same) {
        memcpy(h->told + begin, now + begin, (*next - begin) * sizeof *now);
        h->told_bad = bad_count > h->told_bad ? bad_count : h->told_bad;
        h->told_count = count;
        h->unseen = head->unseen;
        h->unknown = head->unknown;
    }
    free(bad);
    out_free(&body);
    return fits;
}

static void look(struct peer *peer)
{
    struct heaping *h = peer->heaping;
    struct heap_head head;
    if (!read_part(h, &head, sizeof head, 0) || head.magic != HEAP_MAGIC)
        return;
    uint32_t count = head.sums < HEAP_SUMS ? head.sums : HEAP_SUMS, next = 0;
    struct heap_sum *now = memory_zeroed((size_t)count + 1, sizeof *now);
    if (read_part(h, now, count * sizeof *now, HEAP_SUMS_AT)) {
        while (tell(peer, &head, now, count, &next) && next < count)
            ;
    }
    free(now);
}

static bool is_due(struct heaping *h, uint64_t now)
{
    uint64_t part = (now - h->began_ns) / AGE_PART;
    if (now - h->looked_ns < (part > FIRST_NS ? part : FIRST_NS))
        return false;
    h->looked_ns = now;
    return true;
}

void heaping_go_on(struct server *server)
{
    uint64_t now = now_ns();
    for (struct peer *peer = server->peers; peer; peer = peer->next)
        if (peer->heaping && peer->program && !peer->closed && !peer->ending &&
            is_due(peer->heaping, now))
            look(peer);
}

void heaping_end(struct peer *peer)
{
    if (!peer->heaping)
        return;
    if (peer->program)
        look(peer);
    close(peer->heaping->fd);
    free(peer->heaping->told);
    free(peer->heaping);
    peer->heaping = NULL;
}
