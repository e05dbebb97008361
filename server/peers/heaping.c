#define _GNU_SOURCE
#include "server/peers/heaping.h"

#include "memory/memory.h"
#include "server/intake/heapmap.h"
#include "server/peers/server.h"
#include "server/run/heap.h"
#include "server/taking/taking.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 1000000000u  /* between two looks, at least */
#define AGE_PART 16u          /* and at least that part of its age */
#define SAMPLE_NS 100000000u  /* likewise of samples */
#define SAMPLE_PART 4096u

struct heaping {
    struct heapmap map;
    uint64_t began_ns, looked_ns, sampled_ns;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool journal(void *context, const struct out *body)
{
    struct peer *peer = context;
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

const char *heaping_begin(struct peer *peer, struct in *in, int fd)
{
    struct stat st;
    int needed = F_SEAL_SHRINK | F_SEAL_GROW, seals = fd >= 0 ? fcntl(fd, F_GET_SEALS) : -1;
    uint32_t version = get_u32(in);
    const char *error =
        !in_done(in)                              ? in->error
        : seals < 0 || (seals & needed) != needed ? "a heap that is not sealed"
        : version == HEAP_VERSION && (fstat(fd, &st) < 0 || (uint64_t)st.st_size < HEAP_LEAST_BYTES)
            ? "a heap of an impossible size"
        : peer->heaping ? "a second heap"
                        : NULL;
    if (error || version != HEAP_VERSION) { /* one of another version is left alone */
        if (fd >= 0)
            close(fd);
        return error;
    }
    peer->heaping = memory_zeroed(1, sizeof *peer->heaping);
    *peer->heaping = (struct heaping){.began_ns = now_ns(), .looked_ns = now_ns()};
    heapmap_begin(&peer->heaping->map, fd, journal, peer);
    return NULL;
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
        heapmap_sample(&h->map, now);
    if (wanted || is_due(&h->looked_ns, now - h->began_ns, now, FIRST_NS, AGE_PART))
        heapmap_sums(&h->map, now);
    if (wanted)
        heapmap_blocks(&h->map, now);
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
    struct heaping *h = peer->heaping;
    if (!h)
        return;
    if (peer->program) {
        heapmap_sample(&h->map, now_ns());
        heapmap_sums(&h->map, now_ns());
        heapmap_blocks(&h->map, now_ns());
    }
    close(h->map.fd);
    heapmap_end(&h->map);
    free(h);
    peer->heaping = NULL;
}
