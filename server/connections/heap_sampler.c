#define _GNU_SOURCE
#include "server/connections/heap_sampler.h"

#include "base/alloc.h"
#include "server/decode/heap_reader.h"
#include "server/connections/run_journal.h"
#include "server/connections/event_server.h"
#include "server/run/heap_totals.h"
#include "server/journal/capture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 1000000000u  /* between two looks, at least */
#define AGE_PART 16u          /* and at least that part of its age */
#define SAMPLE_NS 100000000u  /* likewise of samples */
#define SAMPLE_PART 4096u

struct heap_sampler {
    struct heap_reader map;
    uint64_t began_ns, looked_ns, sampled_ns;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool heap_sampler_write_journal(void *context, const struct encoder *body)
{
    struct connection *peer = context;
    capture_lock(peer->server->taker);
    bool fits = !body->failed && journal_append(run_journal_capture(peer->run),
                                                &(struct chunk){.kind = MESSAGE_HEAP,
                                                                .session = peer->program->session,
                                                                .data = body->data,
                                                                .size = (uint32_t)body->size},
                                                1, false);
    capture_unlock(peer->server->taker);
    return fits;
}

const char *heap_sampler_begin(struct connection *peer, struct decoder *in, int fd)
{
    struct stat st;
    int needed = F_SEAL_SHRINK | F_SEAL_GROW, seals = fd >= 0 ? fcntl(fd, F_GET_SEALS) : -1;
    uint32_t version = decode_u32(in);
    const char *error = !decoder_finish(in)                       ? in->error
                        : seals < 0 || (seals & needed) != needed ? "a heap that is not sealed"
                        : version != HEAP_VERSION                 ? "a heap of another version"
                        : fstat(fd, &st) < 0 || (uint64_t)st.st_size < HEAP_LEAST_BYTES
                            ? "a heap of an invalid size"
                        : peer->heaping ? "a second heap"
                                        : NULL;
    if (error) {
        if (fd >= 0)
            close(fd);
        return error;
    }
    peer->heaping = xcalloc(1, sizeof *peer->heaping);
    *peer->heaping = (struct heap_sampler){.began_ns = now_ns(), .looked_ns = now_ns()};
    heap_reader_begin(&peer->heaping->map, fd, heap_sampler_write_journal, peer);
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

static void heap_sampler_sample(struct connection *peer, uint64_t now)
{
    struct heap_sampler *h = peer->heaping;
    bool wanted = *heap_totals_wants_blocks(peer->run);
    if (is_due(&h->sampled_ns, now - h->began_ns, now, SAMPLE_NS, SAMPLE_PART))
        heap_reader_sample(&h->map, now);
    if (wanted || is_due(&h->looked_ns, now - h->began_ns, now, FIRST_NS, AGE_PART))
        heap_reader_sums(&h->map, now);
    if (wanted)
        heap_reader_send_blocks(&h->map, now);
}

static bool has_heap(const struct connection *peer)
{
    return peer->heaping && peer->program && !peer->closed && !peer->ending;
}

void heap_sampler_step(struct server *server)
{
    uint64_t now = now_ns();
    for (struct connection *peer = server->peers; peer; peer = peer->next)
        if (has_heap(peer))
            heap_sampler_sample(peer, now);
    for (struct connection *peer = server->peers; peer; peer = peer->next)
        if (has_heap(peer))
            *heap_totals_wants_blocks(peer->run) = false;
    for (struct connection *peer = server->peers; peer; peer = peer->next)
        if (peer->program && *heap_totals_wants_blocks(peer->run))
            heap_totals_no_blocks(peer->run);
}

void heap_sampler_end(struct connection *peer)
{
    struct heap_sampler *h = peer->heaping;
    if (!h)
        return;
    if (peer->program) {
        heap_reader_sample(&h->map, now_ns());
        heap_reader_sums(&h->map, now_ns());
        heap_reader_send_blocks(&h->map, now_ns());
    }
    close(h->map.fd);
    heap_reader_end(&h->map);
    free(h);
    peer->heaping = NULL;
}
