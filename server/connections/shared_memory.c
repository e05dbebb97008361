#define _GNU_SOURCE
#include "server/connections/shared_memory.h"

#include "base/alloc.h"
#include "server/connections/event_server.h"
#include "server/connections/measurement_settings.h"
#include "server/connections/process_sampler.h"
#include "server/connections/run_journal.h"
#include "server/decode/heap_reader.h"
#include "server/eventloop/event_loop.h"
#include "server/journal/capture.h"
#include "server/run/heap_totals.h"
#include "wire/metric_messages.h"
#include "wire/program_messages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- shared memory ---- */

enum memory_error { MEMORY_NOT_SEALED, MEMORY_VERSION, MEMORY_SIZE, MEMORY_SECOND };

/* Returns what is wrong with the memory that a program offers, as one of `texts`; NULL: nothing.
 * Closes its descriptor in case of an error. */
static const char *shared_memory_check(struct decoder *in, int fd, uint32_t version, uint64_t bytes,
                                       bool second, const char *const *texts)
{
    struct stat st;
    int needed = F_SEAL_SHRINK | F_SEAL_GROW, seals = fd >= 0 ? fcntl(fd, F_GET_SEALS) : -1;
    bool same = decode_u32(in) == version;
    const char *why = !decoder_finish(in)                       ? in->error
                      : seals < 0 || (seals & needed) != needed ? texts[MEMORY_NOT_SEALED]
                      : !same                                   ? texts[MEMORY_VERSION]
                      : fstat(fd, &st) < 0 || (uint64_t)st.st_size < bytes ? texts[MEMORY_SIZE]
                      : second                                             ? texts[MEMORY_SECOND]
                                                                           : NULL;
    if (why && fd >= 0)
        close(fd);
    return why;
}

/* Returns whether memory is due that was read at last_ns: after `least` nanoseconds, and a part of
 * its age. */
static bool shared_memory_is_due(uint64_t last_ns, uint64_t began_ns, uint64_t now, uint64_t least,
                                 uint64_t part)
{
    uint64_t apart = (now - began_ns) / part;
    return now - last_ns >= (apart > least ? apart : least);
}

static bool shared_memory_may_read(const struct connection *peer)
{
    return peer->program && !peer->closed && !peer->ending;
}

static bool shared_memory_write_journal(struct connection *peer, enum message_type kind,
                                        const struct encoder *body)
{
    return run_journal_append(peer->server, peer->run, kind, peer->program->session, body);
}

/* ---- queues, regions and rings ---- */

#define REGIONS_PART 4u /* of the mappings that others leave */

static struct capture_thread *shared_memory_lock(const struct connection *peer)
{
    capture_lock(peer->server->taker);
    return peer->server->taker;
}

/* How many others have not: one program has at most half of them. */
static size_t shared_memory_mappings_left(const struct connection *peer,
                                          struct capture_thread *taker)
{
    const struct server *server = peer->server;
    size_t others = server->retired_count + capture_queue_count(taker) - peer->program->queue_count;
    return server->mappings > others ? server->mappings - others : 0;
}

static const char *add_queue(struct connection *peer, int fd, uint32_t slots)
{
    struct capture_thread *taker = shared_memory_lock(peer);
    const char *why =
        peer->program->queue_count >= shared_memory_mappings_left(peer, taker) / 2
            ? "more threads at once than one program may have here (see /proc/sys/vm/max_map_count)"
            : shared_queue_add(&peer->program->queues, fd, slots);
    peer->program->queue_count += !why;
    if (!why) {
        process_sampler_queue(peer);
        measurement_settings_queue(peer);
    }
    capture_unlock(taker);
    peer->shares |= !why;
    return why;
}

/* If there are too many regions, those of ended threads are freed soon; until then new ones are
 * ignored. */
static const char *add_region(struct connection *peer, int fd, uint32_t thread)
{
    struct capture_thread *taker = shared_memory_lock(peer);
    struct captured_program *program = peer->program;
    size_t most = shared_memory_mappings_left(peer, taker) / REGIONS_PART;
    bool fits = program->region_count < most;
    const char *why = fits ? region_reader_add(&program->regions, fd, thread) : NULL;
    program->region_count += fits && !why;
    program->sums_wanted |= program->region_count >= most / 2;
    if (!fits && !program->regions_left++)
        server_log("%s: too many threads with profiles at once; some are not measured", peer->name);
    capture_unlock(taker);
    return why;
}

/* One more than there may be is none. */
static const char *add_carrier(struct connection *peer, int fd, uint32_t carrier)
{
    struct capture_thread *taker = shared_memory_lock(peer);
    struct captured_program *program = peer->program;
    size_t count = 0;
    for (const struct placement_ring *r = program->carried; r; r = r->next)
        count++;
    const char *why = count < shared_memory_mappings_left(peer, taker) / REGIONS_PART
                          ? placement_ring_add(&program->carried, fd, carrier)
                          : NULL; /* it fills up, and its switches are counted */
    capture_unlock(taker);
    return why;
}

/* A ring more than a thread may have is none. */
static const char *add_ring(struct connection *peer, int fd, uint32_t thread)
{
    struct capture_thread *taker = shared_memory_lock(peer);
    struct captured_program *program = peer->program;
    size_t count = 0;
    for (const struct ring_reader *r = program->rings; r; r = r->next)
        count++;
    const char *why = count < shared_memory_mappings_left(peer, taker) / REGIONS_PART
                          ? ring_reader_add(&program->rings, fd, thread)
                          : NULL; /* it fills up, and its calls are counted */
    capture_unlock(taker);
    return why;
}

/* ---- heap ---- */

#define HEAP_SUMS_NS 1000000000u   /* between two readings of the sums, at least */
#define HEAP_SUMS_PART 16u         /* and at least that part of the heap's age */
#define HEAP_SAMPLE_NS 100000000u  /* likewise between samples */
#define HEAP_SAMPLE_PART 4096u

struct heap_sampler {
    struct heap_reader map;
    uint64_t began_ns, looked_ns, sampled_ns;
};

static bool heap_sampler_write_journal(void *peer, const struct encoder *body)
{
    return shared_memory_write_journal(peer, MESSAGE_HEAP, body);
}

static const char *heap_sampler_begin(struct connection *peer, struct decoder *in, int fd)
{
    static const char *const texts[] = {"a heap that is not sealed", "a heap of another version",
                                        "a heap of an invalid size", "a second heap"};
    const char *why =
        shared_memory_check(in, fd, HEAP_VERSION, HEAP_LEAST_BYTES, peer->heaping, texts);
    if (why)
        return why;
    uint64_t now = loop_monotonic_ns();
    peer->heaping = xcalloc(1, sizeof *peer->heaping);
    *peer->heaping = (struct heap_sampler){.began_ns = now, .looked_ns = now};
    heap_reader_begin(&peer->heaping->map, fd, heap_sampler_write_journal, peer);
    return NULL;
}

static void heap_sampler_read(struct connection *peer, uint64_t now)
{
    struct heap_sampler *h = peer->heaping;
    bool wanted = *heap_totals_wants_blocks(peer->run);
    if (shared_memory_is_due(h->sampled_ns, h->began_ns, now, HEAP_SAMPLE_NS, HEAP_SAMPLE_PART)) {
        h->sampled_ns = now;
        heap_reader_sample(&h->map, now);
    }
    if (wanted ||
        shared_memory_is_due(h->looked_ns, h->began_ns, now, HEAP_SUMS_NS, HEAP_SUMS_PART)) {
        h->looked_ns = wanted ? h->looked_ns : now;
        heap_reader_sums(&h->map, now);
    }
    if (wanted)
        heap_reader_send_blocks(&h->map, now);
}

void heap_sampler_step(struct server *server)
{
    uint64_t now = loop_monotonic_ns();
    for (struct connection *peer = server->peers; peer; peer = peer->next)
        if (peer->heaping && shared_memory_may_read(peer))
            heap_sampler_read(peer, now);
    for (struct connection *peer = server->peers; peer; peer = peer->next)
        if (peer->heaping && shared_memory_may_read(peer))
            *heap_totals_wants_blocks(peer->run) = false;
    for (struct connection *peer = server->peers; peer; peer = peer->next)
        if (peer->program && *heap_totals_wants_blocks(peer->run))
            heap_totals_no_blocks(peer->run);
}

static void heap_sampler_end(struct connection *peer)
{
    struct heap_sampler *h = peer->heaping;
    if (peer->program) {
        heap_reader_sample(&h->map, loop_monotonic_ns());
        heap_reader_sums(&h->map, loop_monotonic_ns());
        heap_reader_send_blocks(&h->map, loop_monotonic_ns());
    }
    close(h->map.fd);
    heap_reader_end(&h->map);
    free(h);
    peer->heaping = NULL;
}

/* ---- metric cells ---- */

#define CELLS_NS 9000000u /* between two readings, at least */
#define CELLS_PART 4096u  /* and at least that part of the cells' age */

struct cell_sampler {
    int fd;
    uint64_t began_ns, looked_ns;
    uint32_t named; /* declared by the program */
    uint32_t cells; /* reported cells, with their values: */
    int64_t reported[WATCH_CELLS];
};

static const char *cell_sampler_begin(struct connection *peer, struct decoder *in, int fd)
{
    static const char *const texts[] = {"cells that are not sealed", "cells of another version",
                                        "cells of an invalid size", "cells for the second time"};
    const char *why =
        shared_memory_check(in, fd, WATCH_VERSION, WATCH_MAP_BYTES, peer->celling, texts);
    if (why)
        return why;
    peer->celling = xcalloc(1, sizeof *peer->celling);
    peer->celling->fd = fd;
    peer->celling->began_ns = peer->celling->looked_ns = loop_monotonic_ns();
    return NULL;
}

void cell_sampler_named(struct connection *peer, const uint8_t *body, size_t size)
{
    struct metric_message message;
    struct decoder in = decoder_init(body, size);
    if (!peer->celling || !decode_metric(&in, &message))
        return;
    uint32_t cell = message.code - METRIC_WATCHED_CODES;
    if (cell < WATCH_CELLS && cell >= peer->celling->named)
        peer->celling->named = cell + 1;
}

/* Reads the cells with pread, not by a mapping, so that the program cannot cause a fault.
 * Returns false if no value has changed. */
static bool cell_sampler_encode_changed(struct connection *peer, struct encoder *body)
{
    struct cell_sampler *c = peer->celling;
    uint32_t cells = c->named, changed = 0;
    encode_u64(body, loop_monotonic_ns());
    size_t count_at = body->size;
    encode_u32(body, 0);
    for (uint32_t i = 0; i < cells; i++) {
        int64_t value;
        if (pread(c->fd, &value, sizeof value, (off_t)i * WATCH_CELL_BYTES) != sizeof value ||
            (i < c->cells && value == c->reported[i]))
            continue;
        encode_u32(body, METRIC_WATCHED_CODES + i);
        encode_u64(body, (uint64_t)value);
        c->reported[i] = value;
        changed++;
    }
    c->cells = cells;
    if (changed && !body->failed)
        chunk_set_u32(body->data + count_at, changed);
    return changed && !body->failed;
}

void cell_sampler_now(struct connection *peer)
{
    struct encoder body = {0};
    if (!peer->celling || !peer->program)
        return;
    peer->celling->looked_ns = loop_monotonic_ns();
    if (cell_sampler_encode_changed(peer, &body) &&
        !shared_memory_write_journal(peer, MESSAGE_SAMPLED_CELLS, &body))
        peer->celling->cells = 0; /* all of it again */
    encoder_free(&body);
}

void cell_sampler_step(struct server *server)
{
    uint64_t now = loop_monotonic_ns();
    for (struct connection *peer = server->peers; peer; peer = peer->next)
        if (peer->celling && shared_memory_may_read(peer) &&
            shared_memory_is_due(peer->celling->looked_ns, peer->celling->began_ns, now, CELLS_NS,
                                 CELLS_PART))
            cell_sampler_now(peer);
}

void shared_memory_end(struct connection *peer)
{
    if (peer->heaping)
        heap_sampler_end(peer);
    if (!peer->celling)
        return;
    cell_sampler_now(peer);
    close(peer->celling->fd);
    free(peer->celling);
    peer->celling = NULL;
}

/* ---- messages ---- */

/* Adds the memory with the descriptor in the peer's channel.  Returns what is wrong with it, or
 * NULL. */
static const char *shared_memory_add(struct connection *peer, const char *missing, uint32_t number,
                                     const char *(*add)(struct connection *, int, uint32_t))
{
    int fd = channel_receive_descriptor(&peer->channel);
    const char *why = fd < 0 ? missing : add(peer, fd, number);
    if (fd >= 0)
        close(fd);
    return why;
}

bool shared_memory_receive(struct connection *peer, unsigned type, struct decoder *in,
                           const char **why)
{
    struct thread_message thread;
    struct region_message region;
    struct entries_message entries;
    struct carrier_message carrier;
    if (type == MESSAGE_THREAD && decode_thread(in, &thread))
        *why = shared_memory_add(peer, "a queue without a descriptor", thread.slots, add_queue);
    else if (type == MESSAGE_REGION && decode_region(in, &region))
        *why = shared_memory_add(peer, "a region without a descriptor", region.thread, add_region);
    else if (type == MESSAGE_ENTRIES && decode_entries(in, &entries))
        *why = shared_memory_add(peer, "a ring without a descriptor", entries.thread, add_ring);
    else if (type == MESSAGE_CARRIER && decode_carrier(in, &carrier))
        *why = !carrier.ring ? NULL
                             : shared_memory_add(peer, "a ring without a descriptor",
                                                 carrier.carrier, add_carrier);
    else if (type == MESSAGE_HEAP)
        *why = heap_sampler_begin(peer, in, channel_receive_descriptor(&peer->channel));
    else if (type == MESSAGE_SAMPLED_CELLS)
        *why = cell_sampler_begin(peer, in, channel_receive_descriptor(&peer->channel));
    else
        *why = in->error;
    return type == MESSAGE_THREAD || type == MESSAGE_REGION || type == MESSAGE_ENTRIES ||
           type == MESSAGE_CARRIER || type == MESSAGE_HEAP || type == MESSAGE_SAMPLED_CELLS;
}
