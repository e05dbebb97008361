#define _GNU_SOURCE
#include "server/connections/cell_sampler.h"

#include "base/alloc.h"
#include "server/connections/run_journal.h"
#include "server/connections/event_server.h"
#include "server/tracefile/chunks.h"
#include "server/journal/capture.h"
#include "wire/metric_messages.h"
#include "wire/program_messages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 9000000u /* between two looks, at least */
#define AGE_PART 4096u    /* and at least that part of its age */

struct cell_sampler {
    int fd;
    uint64_t began_ns, looked_ns;
    uint32_t named; /* declared by the program */
    uint32_t cells; /* reported cells, with their values: */
    int64_t reported[WATCH_CELLS];
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const char *cell_sampler_read_cells(int fd)
{
    struct stat st;
    int needed = F_SEAL_SHRINK | F_SEAL_GROW, seals = fd >= 0 ? fcntl(fd, F_GET_SEALS) : -1;
    if (seals < 0 || (seals & needed) != needed)
        return "cells that are not sealed";
    if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < WATCH_MAP_BYTES)
        return "cells of an invalid size";
    return NULL;
}

const char *cell_sampler_begin(struct connection *peer, struct decoder *in, int fd)
{
    uint32_t version = decode_u32(in);
    const char *error = !decoder_finish(in)        ? in->error
                        : version != WATCH_VERSION ? "cells of another version"
                        : peer->celling            ? "cells for the second time"
                                                   : cell_sampler_read_cells(fd);
    if (error) {
        if (fd >= 0)
            close(fd);
        return error;
    }
    peer->celling = xcalloc(1, sizeof *peer->celling);
    peer->celling->fd = fd;
    peer->celling->began_ns = peer->celling->looked_ns = now_ns();
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
static bool put_changed(struct connection *peer, struct encoder *body)
{
    struct cell_sampler *c = peer->celling;
    uint32_t cells = c->named, changed = 0;
    encode_u64(body, now_ns());
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
    peer->celling->looked_ns = now_ns();
    if (put_changed(peer, &body)) {
        capture_lock(peer->server->taker);
        if (!journal_append(run_journal_capture(peer->run),
                            &(struct chunk){.kind = MESSAGE_SAMPLED_CELLS,
                                            .session = peer->program->session,
                                            .data = body.data,
                                            .size = (uint32_t)body.size},
                            1, false))
            peer->celling->cells = 0; /* all of it again */
        capture_unlock(peer->server->taker);
    }
    encoder_free(&body);
}

static bool is_due(const struct cell_sampler *c, uint64_t now)
{
    uint64_t part = (now - c->began_ns) / AGE_PART;
    return now - c->looked_ns >= (part > FIRST_NS ? part : FIRST_NS);
}

void cell_sampler_step(struct server *server)
{
    uint64_t now = now_ns();
    for (struct connection *peer = server->peers; peer; peer = peer->next)
        if (peer->celling && peer->program && !peer->closed && !peer->ending &&
            is_due(peer->celling, now))
            cell_sampler_now(peer);
}

void cell_sampler_end(struct connection *peer)
{
    if (!peer->celling)
        return;
    cell_sampler_now(peer);
    close(peer->celling->fd);
    free(peer->celling);
    peer->celling = NULL;
}
