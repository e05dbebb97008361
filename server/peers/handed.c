#include "server/peers/handed.h"

#include "server/loop/log.h"
#include "server/peers/server.h"
#include "server/peers/wanting.h"
#include "server/peers/watching.h"
#include "server/taking/taking.h"
#include "wire/told.h"

#include <unistd.h>

#define REGIONS_PART 4u /* of the mappings that others leave */

static struct taker *enter(const struct peer *peer)
{
    taker_enter(peer->server->taker);
    return peer->server->taker;
}

/* How many others have not: one program has at most half of them. */
static size_t left(const struct peer *peer, struct taker *taker)
{
    const struct server *server = peer->server;
    size_t others = server->retired_count + taker_queues(taker) - peer->program->queue_count;
    return server->mappings > others ? server->mappings - others : 0;
}

static const char *add_queue(struct peer *peer, int fd, uint32_t slots)
{
    struct taker *taker = enter(peer);
    const char *error =
        peer->program->queue_count >= left(peer, taker) / 2
            ? "more threads at once than one program may have here (see /proc/sys/vm/max_map_count)"
            : queue_add(&peer->program->queues, fd, slots);
    peer->program->queue_count += !error;
    if (!error) {
        watching_queue(peer);
        wanting_queue(peer);
    }
    taker_leave(taker);
    peer->shares |= !error;
    return error;
}

const char *handed_queue(struct peer *peer, struct in *in)
{
    struct told_thread told;
    int fd = channel_take_descriptor(&peer->channel);
    const char *error = !get_told_thread(in, &told) ? in->error
                        : fd < 0                    ? "a queue without a descriptor"
                                                    : add_queue(peer, fd, told.slots);
    if (fd >= 0)
        close(fd);
    return error;
}

/* Where there are too many, those that have ended are given back; until then new ones are not looked at. */
static const char *add_region(struct peer *peer, int fd, uint32_t thread)
{
    struct taker *taker = enter(peer);
    struct program *program = peer->program;
    size_t most = left(peer, taker) / REGIONS_PART;
    bool fits = program->region_count < most;
    const char *error = fits ? region_add(&program->regions, fd, thread) : NULL;
    program->region_count += fits && !error;
    program->sums_wanted |= program->region_count >= most / 2;
    if (!fits && !program->regions_left++)
        log_line("%s: too many threads measure themselves at once: some are left out", peer->name);
    taker_leave(taker);
    return error;
}

const char *handed_region(struct peer *peer, struct in *in)
{
    struct told_region told;
    int fd = channel_take_descriptor(&peer->channel);
    const char *error = !get_told_region(in, &told) ? in->error
                        : fd < 0                    ? "a region without a descriptor"
                                                    : add_region(peer, fd, told.thread);
    if (fd >= 0)
        close(fd);
    return error;
}

/* One more than there may be is none. */
static const char *add_carrier(struct peer *peer, int fd, uint32_t carrier)
{
    struct taker *taker = enter(peer);
    struct program *program = peer->program;
    size_t count = 0;
    for (const struct carried *r = program->carried; r; r = r->next)
        count++;
    const char *error = count < left(peer, taker) / REGIONS_PART
                            ? carried_add(&program->carried, fd, carrier)
                            : NULL; /* it fills up, and its switches are counted */
    taker_leave(taker);
    return error;
}

const char *handed_carrier(struct peer *peer, struct in *in)
{
    struct told_span told;
    bool good = get_told_span(in, &told);
    int fd = good && told.ring ? channel_take_descriptor(&peer->channel) : -1;
    const char *error = !good        ? in->error
                        : !told.ring ? NULL
                        : fd < 0     ? "a ring without a descriptor"
                                     : add_carrier(peer, fd, told.carrier);
    if (fd >= 0)
        close(fd);
    return error;
}

/* A ring more than a thread may have is none. */
static const char *add_ring(struct peer *peer, int fd, uint32_t thread)
{
    struct taker *taker = enter(peer);
    struct program *program = peer->program;
    size_t count = 0;
    for (const struct ring *r = program->rings; r; r = r->next)
        count++;
    const char *error = count < left(peer, taker) / REGIONS_PART
                            ? ring_add(&program->rings, fd, thread)
                            : NULL; /* it fills up, and its calls are counted */
    taker_leave(taker);
    return error;
}

const char *handed_ring(struct peer *peer, struct in *in)
{
    struct told_entries told;
    int fd = channel_take_descriptor(&peer->channel);
    const char *error = !get_told_entries(in, &told) ? in->error
                        : fd < 0                     ? "a ring without a descriptor"
                                                     : add_ring(peer, fd, told.thread);
    if (fd >= 0)
        close(fd);
    return error;
}
