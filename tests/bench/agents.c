/* agents TARGET AGENTS JOURNAL: simulates many agents in one process. Each forwards the same
 * journal, of one program, with a program instance of its own. Prints how long it took until
 * everything was acknowledged. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "server/forwarding/destination.h"
#include "server/forwarding/forwarded_stream.h"
#include "server/transport/compression.h"
#include "server/tracefile/tracefile.h"
#include "wire/program_messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH_BYTES (256u << 10)
#define TIMEOUT_SECONDS 120 /* maximum time without a message from the server */

/* The batches of the journal, which all agents send; the program's instance in them is replaced. */
static struct batches {
    struct batch {
        struct forwarded_batch is;
        uint8_t *raw; /* uncompressed; NULL if it contains no instance */
        size_t *instances; /* offsets of the instance in raw */
        size_t instance_count;
    } *items;
    size_t count, room;
    uint64_t chunks, instance;
} all;

static struct agent {
    struct destination *to;
    uint32_t number;
    size_t next; /* index of the next batch */
    bool complete;
} *agents;
static uint32_t agent_count, left;
static const char *run;
static struct ev_loop *loop;
static ev_timer timeout;

/* Compresses a batch; the caller frees the result. */
static uint8_t *pack(struct forwarded_batch *batch, const uint8_t *raw)
{
    size_t room = compression_bound(batch->raw);
    uint8_t *packed = xmalloc(room);
    batch->packed_bytes = compression_compress(packed, room, raw, batch->raw);
    batch->packed = packed;
    return packed;
}

static void find_instances(struct batch *batch, const struct encoder *raw)
{
    const uint8_t *at = raw->data, *end = raw->data + raw->size;
    while (all.instance &&
           (at = memmem(at, (size_t)(end - at), &all.instance, sizeof all.instance))) {
        batch->instances =
            reallocarray(batch->instances, batch->instance_count + 1, sizeof(size_t));
        batch->instances[batch->instance_count++] = (size_t)(at - raw->data);
        at += sizeof all.instance;
    }
}

static void add_batch(struct encoder *raw, uint32_t count)
{
    struct batch batch = {.is = {.first = all.chunks, .count = count, .raw = (uint32_t)raw->size}};
    find_instances(&batch, raw);
    if (batch.instance_count)
        batch.raw = memcpy(xmalloc(raw->size), raw->data, raw->size);
    else
        pack(&batch.is, raw->data);
    all.items = array_reserve(all.items, &all.room, all.count + 1, sizeof *all.items);
    all.items[all.count++] = batch;
    all.chunks += count;
    raw->size = 0;
}

/* Sets the instance of the program. Returns false if there are several programs. */
static bool learn_instance(const struct forwarded_chunk *session)
{
    struct program_hello told;
    struct decoder in = decoder_init(session->data, session->size);
    bool only = decode_hello(&in, &told) && !all.instance;
    all.instance = told.instance;
    return only;
}

static bool read_journal(const char *path)
{
    const char *why = NULL;
    struct outgoing_stream *stream = outgoing_stream_of_file(path, &why);
    if (!stream) {
        fprintf(stderr, "agents: %s: %s\n", path, why);
        return false;
    }
    struct encoder raw = {0};
    struct forwarded_chunk chunk;
    uint32_t count = 0;
    while (outgoing_stream_next(stream, &chunk)) {
        encode_forwarded_chunk(&raw, &chunk);
        count++;
        if (chunk.kind == CHUNK_SESSION && !learn_instance(&chunk)) {
            fprintf(stderr, "agents: %s: it is not of one program\n", path);
            return false;
        }
        if (raw.size < BATCH_BYTES)
            continue;
        add_batch(&raw, count);
        count = 0;
    }
    if (count)
        add_batch(&raw, count);
    run = xstrdup(stream->run ? stream->run : "agents");
    encoder_free(&raw);
    outgoing_stream_free(stream);
    return true;
}

static bool send_batch(struct agent *agent, const struct batch *batch)
{
    struct forwarded_batch own = batch->is;
    uint64_t instance = all.instance + agent->number;
    if (!batch->raw)
        return agent->to->kind->publish(agent->to, &own);
    for (size_t i = 0; i < batch->instance_count; i++)
        memcpy(batch->raw + batch->instances[i], &instance, sizeof instance);
    uint8_t *packed = pack(&own, batch->raw);
    bool sent = agent->to->kind->publish(agent->to, &own);
    free(packed);
    return sent;
}

static void send_some(struct agent *agent)
{
    while (agent->next < all.count && send_batch(agent, &all.items[agent->next]))
        agent->next++;
}

static void on_here(void *context)
{
    struct agent *agent = context;
    uint8_t id[FORWARD_ID_BYTES] = "one of very many";
    memcpy(id, &agent->number, sizeof agent->number);
    agent->to->kind->offer(agent->to, 0, id, run);
}

static void on_away(void *context, const char *why)
{
    static bool said; /* if many connect at once, some are rejected and try again */
    (void)context;
    if (!said)
        fprintf(stderr, "agents: %s\n", why);
    said = true;
}

static void on_expects(void *context, uint32_t stream, uint64_t next)
{
    struct agent *agent = context;
    (void)stream;
    ev_timer_again(loop, &timeout);
    if (next == 0)
        agent->next = 0;
    send_some(agent);
    if (next < all.chunks || agent->complete)
        return;
    agent->complete = true;
    if (--left == 0)
        ev_break(loop, EVBREAK_ALL);
}

static void on_complete(void *context, uint32_t stream, uint64_t next)
{
    on_expects(context, stream, next);
}

static void on_room(void *context) { send_some(context); }

static void on_timeout(struct ev_loop *of, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    fprintf(stderr, "agents: nothing was acknowledged for %d s\n", TIMEOUT_SECONDS);
    ev_break(of, EVBREAK_ALL);
}

int main(int argc, char **argv)
{
    static const struct destination_callbacks hears = {on_here, on_away, on_expects, on_complete,
                                                       on_room};
    struct timespec from, to;
    if (argc != 4 || atoi(argv[2]) < 1) {
        fprintf(stderr, "usage: agents TARGET AGENTS JOURNAL\n");
        return 2;
    }
    left = agent_count = (uint32_t)atoi(argv[2]);
    if (!read_journal(argv[3]))
        return 1;
    agents = xcalloc(agent_count, sizeof *agents);
    loop = ev_loop_new(EVFLAG_AUTO);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (uint32_t i = 0; i < agent_count; i++) {
        char host[32];
        struct error error;
        snprintf(host, sizeof host, "host%u", i);
        agents[i].number = i;
        agents[i].to = destination_direct.open(loop, argv[1], host, &hears, &agents[i], &error);
        if (!agents[i].to) {
            fprintf(stderr, "agents: %s\n", error.text);
            return 1;
        }
    }
    ev_init(&timeout, on_timeout);
    timeout.repeat = TIMEOUT_SECONDS;
    ev_timer_again(loop, &timeout);
    ev_run(loop, 0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.3f\n",
           (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec));
    for (uint32_t i = 0; i < agent_count; i++)
        agents[i].to->kind->close(agents[i].to);
    return left ? 1 : 0;
}
