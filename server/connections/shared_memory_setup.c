#include "server/connections/shared_memory_setup.h"

#include "server/eventloop/server_log.h"
#include "server/connections/event_server.h"
#include "server/connections/measurement_settings.h"
#include "server/connections/process_sampler.h"
#include "server/journal/capture.h"
#include "wire/program_messages.h"

#include <unistd.h>

#define REGIONS_PART 4u /* of the mappings that others leave */

static struct capture_thread *shared_memory_lock_capture(const struct connection *peer)
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
    struct capture_thread *taker = shared_memory_lock_capture(peer);
    const char *error =
        peer->program->queue_count >= shared_memory_mappings_left(peer, taker) / 2
            ? "more threads at once than one program may have here (see /proc/sys/vm/max_map_count)"
            : shared_queue_add(&peer->program->queues, fd, slots);
    peer->program->queue_count += !error;
    if (!error) {
        process_sampler_queue(peer);
        measurement_settings_queue(peer);
    }
    capture_unlock(taker);
    peer->shares |= !error;
    return error;
}

const char *register_queue(struct connection *peer, struct decoder *in)
{
    struct thread_message message;
    int fd = channel_receive_descriptor(&peer->channel);
    const char *error = !decode_thread(in, &message) ? in->error
                        : fd < 0                     ? "a queue without a descriptor"
                                                     : add_queue(peer, fd, message.slots);
    if (fd >= 0)
        close(fd);
    return error;
}

/* If there are too many regions, those of ended threads are freed soon; until then new ones are
 * ignored. */
static const char *add_region(struct connection *peer, int fd, uint32_t thread)
{
    struct capture_thread *taker = shared_memory_lock_capture(peer);
    struct captured_program *program = peer->program;
    size_t most = shared_memory_mappings_left(peer, taker) / REGIONS_PART;
    bool fits = program->region_count < most;
    const char *error = fits ? region_reader_add(&program->regions, fd, thread) : NULL;
    program->region_count += fits && !error;
    program->sums_wanted |= program->region_count >= most / 2;
    if (!fits && !program->regions_left++)
        server_log("%s: too many threads with profiles at once; some are not measured", peer->name);
    capture_unlock(taker);
    return error;
}

const char *register_region(struct connection *peer, struct decoder *in)
{
    struct region_message message;
    int fd = channel_receive_descriptor(&peer->channel);
    const char *error = !decode_region(in, &message) ? in->error
                        : fd < 0                     ? "a region without a descriptor"
                                                     : add_region(peer, fd, message.thread);
    if (fd >= 0)
        close(fd);
    return error;
}

/* One more than there may be is none. */
static const char *add_carrier(struct connection *peer, int fd, uint32_t carrier)
{
    struct capture_thread *taker = shared_memory_lock_capture(peer);
    struct captured_program *program = peer->program;
    size_t count = 0;
    for (const struct placement_ring *r = program->carried; r; r = r->next)
        count++;
    const char *error = count < shared_memory_mappings_left(peer, taker) / REGIONS_PART
                            ? placement_ring_add(&program->carried, fd, carrier)
                            : NULL; /* it fills up, and its switches are counted */
    capture_unlock(taker);
    return error;
}

const char *register_carrier_ring(struct connection *peer, struct decoder *in)
{
    struct carrier_message message;
    bool good = decode_carrier(in, &message);
    int fd = good && message.ring ? channel_receive_descriptor(&peer->channel) : -1;
    const char *error = !good           ? in->error
                        : !message.ring ? NULL
                        : fd < 0        ? "a ring without a descriptor"
                                        : add_carrier(peer, fd, message.carrier);
    if (fd >= 0)
        close(fd);
    return error;
}

/* A ring more than a thread may have is none. */
static const char *add_ring(struct connection *peer, int fd, uint32_t thread)
{
    struct capture_thread *taker = shared_memory_lock_capture(peer);
    struct captured_program *program = peer->program;
    size_t count = 0;
    for (const struct ring_reader *r = program->rings; r; r = r->next)
        count++;
    const char *error = count < shared_memory_mappings_left(peer, taker) / REGIONS_PART
                            ? ring_reader_add(&program->rings, fd, thread)
                            : NULL; /* it fills up, and its calls are counted */
    capture_unlock(taker);
    return error;
}

const char *register_call_ring(struct connection *peer, struct decoder *in)
{
    struct entries_message message;
    int fd = channel_receive_descriptor(&peer->channel);
    const char *error = !decode_entries(in, &message) ? in->error
                        : fd < 0                      ? "a ring without a descriptor"
                                                      : add_ring(peer, fd, message.thread);
    if (fd >= 0)
        close(fd);
    return error;
}
