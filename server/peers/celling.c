#define _GNU_SOURCE
#include "server/peers/celling.h"

#include "memory/memory.h"
#include "server/peers/server.h"
#include "server/store/chunk.h"
#include "server/taking/taking.h"
#include "wire/meter.h"
#include "wire/told.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 9000000u /* between two looks, at least */
#define AGE_PART 4096u    /* and at least that part of its age */

struct celling {
    int fd;
    uint64_t began_ns, looked_ns;
    uint32_t named; /* that its program has told of */
    uint32_t cells; /* that were told, as they were: */
    int64_t told[WATCH_CELLS];
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const char *look_at(int fd)
{
    struct stat st;
    int needed = F_SEAL_SHRINK | F_SEAL_GROW, seals = fd >= 0 ? fcntl(fd, F_GET_SEALS) : -1;
    if (seals < 0 || (seals & needed) != needed)
        return "cells that are not sealed";
    if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < WATCH_MAP_BYTES)
        return "cells of an impossible size";
    return NULL;
}

const char *celling_begin(struct peer *peer, struct in *in, int fd)
{
    uint32_t version = get_u32(in);
    const char *error = !in_done(in)               ? in->error
                        : version != WATCH_VERSION ? "cells of another version"
                        : peer->celling            ? "cells for the second time"
                                                   : look_at(fd);
    if (error) {
        if (fd >= 0)
            close(fd);
        return error;
    }
    peer->celling = memory_zeroed(1, sizeof *peer->celling);
    peer->celling->fd = fd;
    peer->celling->began_ns = peer->celling->looked_ns = now_ns();
    return NULL;
}

void celling_named(struct peer *peer, const uint8_t *body, size_t size)
{
    struct told_meter told;
    struct in in = in_from(body, size);
    if (!peer->celling || !get_told_meter(&in, &told))
        return;
    uint32_t cell = told.code - METER_WATCHED_CODES;
    if (cell < WATCH_CELLS && cell >= peer->celling->named)
        peer->celling->named = cell + 1;
}

/* They are read, not mapped: nothing that the program does to the memory can harm.  False: they are as they were told. */
static bool put_changed(struct peer *peer, struct out *body)
{
    struct celling *c = peer->celling;
    uint32_t cells = c->named, told = 0;
    put_u64(body, now_ns());
    size_t count_at = body->size;
    put_u32(body, 0);
    for (uint32_t i = 0; i < cells; i++) {
        int64_t value;
        if (pread(c->fd, &value, sizeof value, (off_t)i * WATCH_CELL_BYTES) != sizeof value ||
            (i < c->cells && value == c->told[i]))
            continue;
        put_u32(body, METER_WATCHED_CODES + i);
        put_u64(body, (uint64_t)value);
        c->told[i] = value;
        told++;
    }
    c->cells = cells;
    if (told && !body->failed)
        set_u32(body->data + count_at, told);
    return told && !body->failed;
}

void celling_now(struct peer *peer)
{
    struct out body = {0};
    if (!peer->celling || !peer->program)
        return;
    peer->celling->looked_ns = now_ns();
    if (put_changed(peer, &body)) {
        taker_enter(peer->server->taker);
        if (!journal_put(peer->run->taking,
                         &(struct chunk){.kind = MESSAGE_CELLS,
                                         .session = peer->program->session,
                                         .data = body.data,
                                         .size = (uint32_t)body.size},
                         1, false))
            peer->celling->cells = 0; /* all of it again */
        taker_leave(peer->server->taker);
    }
    out_free(&body);
}

static bool is_due(const struct celling *c, uint64_t now)
{
    uint64_t part = (now - c->began_ns) / AGE_PART;
    return now - c->looked_ns >= (part > FIRST_NS ? part : FIRST_NS);
}

void celling_go_on(struct server *server)
{
    uint64_t now = now_ns();
    for (struct peer *peer = server->peers; peer; peer = peer->next)
        if (peer->celling && peer->program && !peer->closed && !peer->ending &&
            is_due(peer->celling, now))
            celling_now(peer);
}

void celling_end(struct peer *peer)
{
    if (!peer->celling)
        return;
    celling_now(peer);
    close(peer->celling->fd);
    free(peer->celling);
    peer->celling = NULL;
}
