#define _GNU_SOURCE
#include "server/connections/agent_connection.h"

#include "base/alloc.h"
#include "server/checkpoint/run_registry.h"
#include "server/connections/clock_samples.h"
#include "server/connections/event_server.h"
#include "server/connections/run_journal.h"
#include "server/eventloop/event_loop.h"
#include "server/journal/capture.h"
#include "server/journal/forwarded_source.h"
#include "server/transport/compression.h"
#include "wire/forwarding_messages.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

#define ORIGINS_MOST 65536u
#define CLOCK_HOST_BYTES 256u

/* A stream of some agent, which may come and go. */
struct agent_source {
    struct forwarded_source *origin;
    struct run *run; /* NULL: it is complete, and all of it is in the file of its run */
    struct connection *peer; /* the connection that sends it now; NULL: none */
    uint32_t stream; /* by which number */
    uint64_t complete; /* chunks */
    bool resumed; /* it is in the file of an earlier server, and no agent has sent more yet */
    bool settled; /* it has ended, and what clocks said by then is kept */
};

struct agent_peer { /* of an agent's peer */
    char *host;
    size_t *sources; /* by stream: its place, plus 1; 0 none */
    size_t count, room;
    struct clock_offset offset; /* of its clock */
    struct clock_samples clocking; /* of its host, for runs; of a reader, of others */
    bool received; /* something was, since it was kept */
    uint64_t asked_ns; /* by the local clock: time of the last clock request; 0: never */
    uint64_t answered_ns; /* of the last one that was answered */
    bool waits; /* for the answer */
    unsigned answers;
    struct agent_position_message message; /* where its next batch comes from, if that is NATS */
};

struct agent_sources {
    struct agent_source *items;
    size_t count, room;
    uint8_t *raw; /* the batch that is taken now */
    size_t raw_room;
};

/* ---- messages to agents ---- */

static void agent_connection_send_position(struct connection *peer, enum message_type type,
                                           uint32_t stream, uint64_t next)
{
    encoder_begin_message(&peer->out, type);
    encode_u32(&peer->out, stream);
    encode_u64(&peer->out, next);
    encoder_end_message(&peer->out);
    connection_send(peer);
}

/* ---- first words ---- */

bool agent_connection_hello(struct connection *peer, const uint8_t *body, size_t size)
{
    struct forwarded_agent agent;
    struct decoder in = decoder_init(body, size);
    if (!decode_forwarded_agent(&in, &agent)) {
        connection_reject(peer, "%s (version %u, here %u); install the same Poet on both hosts",
                          in.error, agent.version, FORWARD_VERSION);
        free(agent.host);
        return false;
    }
    char *host = text_readable(agent.host, strlen(agent.host), false);
    snprintf(peer->name, sizeof peer->name, "the agent of %.40s", host ? host : "a host");
    free(agent.host);
    peer->role = ROLE_AGENT;
    peer->agent = xcalloc(1, sizeof *peer->agent);
    peer->agent->host = host;
    peer->limit = FORWARD_LIMIT_BYTES;
    if (!peer->server->sources)
        peer->server->sources = xcalloc(1, sizeof *peer->server->sources);
    if (!peer->server->quiet)
        server_log("%s connected", peer->name);
    return true;
}

/* ---- streams ---- */

static struct agent_source *source_of(const struct connection *peer, uint32_t stream)
{
    const struct agent_peer *forwarder = peer->agent;
    if (stream >= forwarder->count || !forwarder->sources[stream])
        return NULL;
    struct agent_source *source = &peer->server->sources->items[forwarder->sources[stream] - 1];
    return source->peer == peer && source->stream == stream ? source : NULL;
}

static struct agent_source *agent_connection_find_source(struct agent_sources *sources,
                                                         const uint8_t *id)
{
    for (size_t i = 0; i < sources->count; i++) {
        /* compared in constant time, since a peer that knows an id may continue its stream */
        uint8_t differs = 0;
        for (size_t k = 0; k < FORWARD_ID_BYTES; k++)
            differs |= sources->items[i].origin->id[k] ^ id[k];
        if (!differs)
            return &sources->items[i];
    }
    return NULL;
}

static struct agent_source *agent_connection_begin_source(struct connection *peer,
                                                          const struct forwarded_stream *stream)
{
    struct agent_sources *sources = peer->server->sources;
    char why[512], *key = text_readable(stream->run, strlen(stream->run), false);
    run_registry_evict(&peer->server->runs); /* a run that has ended is not continued */
    struct run *run = run_registry_find(&peer->server->runs, key ? key : "", why, sizeof why);
    free(key);
    if (!run || !run->status.live) {
        connection_reject(peer, "%s", run ? "the run has ended" : why);
        return NULL;
    }
    run_journal_open(peer->server, run);
    tracefile_is_live(run->trace, false);
    run->status.unclaimed = false;
    sources->items =
        array_reserve(sources->items, &sources->room, sources->count + 1, sizeof *sources->items);
    struct agent_source *source = &sources->items[sources->count++];
    *source =
        (struct agent_source){.origin = forwarded_source_marked(stream->id, run->key), .run = run};
    return source;
}

/* None of what this connection brings for its run is still to come. */
static bool is_last(const struct agent_sources *sources, const struct agent_source *source)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct agent_source *other = &sources->items[i];
        if (other->run == source->run && other->peer == source->peer && !other->origin->ended)
            return false;
    }
    return true;
}

static void keep_clocks(struct server *server, struct agent_source *source)
{
    struct agent_peer *forwarder = source->peer ? source->peer->agent : NULL;
    bool ends = source->origin->ended && !source->settled;
    if (!forwarder || !source->run || source->run->status.finished ||
        !(forwarder->received || ends))
        return;
    source->settled = source->origin->ended;
    clock_samples_save(&forwarder->clocking, server, source->run,
                       source->settled && is_last(server->sources, source));
}

static void agent_connection_receive_stream(struct connection *peer, const uint8_t *body,
                                            size_t size)
{
    struct forwarded_stream stream;
    struct decoder in = decoder_init(body, size);
    struct agent_peer *forwarder = peer->agent;
    struct agent_sources *sources = peer->server->sources;
    bool good = decode_forwarded_stream(&in, &stream);
    if (good && (stream.stream >= FORWARD_STREAMS_MOST || sources->count >= ORIGINS_MOST)) {
        decoder_fail(&in, "too many");
        good = false;
    }
    struct agent_source *source = good ? agent_connection_find_source(sources, stream.id) : NULL;
    if (good && !source)
        source = agent_connection_begin_source(peer, &stream);
    else if (!good)
        connection_reject(peer, "STREAM: %s", in.error);
    free(stream.run);
    if (!source)
        return;
    forwarder->sources =
        array_reserve_zeroed(forwarder->sources, &forwarder->room, (size_t)stream.stream + 1,
                             sizeof *forwarder->sources);
    forwarder->count = stream.stream >= forwarder->count ? stream.stream + 1 : forwarder->count;
    forwarder->sources[stream.stream] = (size_t)(source - sources->items) + 1;
    /* the previous sender has lost its connection, and has not noticed it yet */
    source->peer = peer;
    source->stream = stream.stream;
    /* All of a run may be in the file, and it is over. */
    bool resumes = source->resumed && source->run;
    if (resumes && !peer->server->quiet)
        server_log("%s: %s resumes with chunk %llu", source->run->file.path, peer->name,
                   (unsigned long long)source->origin->next);
    if (resumes)
        source->run->status.unclaimed = false;
    source->resumed = source->settled = false;
    forwarder->received = true; /* the run may be over at once */
    keep_clocks(peer->server, source);
    if (source->run)
        agent_connection_send_position(peer, MESSAGE_ACK, stream.stream, source->origin->next);
    else
        agent_connection_send_position(peer, MESSAGE_COMPLETE, stream.stream, source->complete);
}

/* ---- the end of a run ----
 *
 * What is missing is awaited until the last program of a run has hung up.  If its agent is quicker
 * than another one, that other may still bring programs of the run, with the sends that the first
 * ones received.  A stream of theirs is announced before its program runs: so it is known once the
 * agent has replied to a request that was sent later. */

/* Returns the number of programs of a run that did not hang up, here and at agents. */
static size_t agent_connection_count_programs(const struct server *server, const struct run *run)
{
    const struct agent_sources *sources = server->sources;
    size_t count = run_journal_capture(run)->programs;
    for (size_t i = 0; sources && i < sources->count; i++)
        count += sources->items[i].run == run ? sources->items[i].origin->open : 0;
    return count;
}

/* A reader from NATS is not asked: what follows the last end in its stream is another run. */
static bool agent_connection_is_asked(const struct connection *peer)
{
    return peer->agent && peer->channel.tls && !peer->ending;
}

/* Returns whether an agent may bring a program of a run that began before a time. */
static bool agent_connection_may_bring(const struct server *server, const struct run *run,
                                       uint64_t since_ns)
{
    const struct agent_sources *sources = server->sources;
    bool may = false;
    for (size_t i = 0; sources && i < sources->count && !may; i++)
        may = sources->items[i].run == run && !sources->items[i].origin->ended;
    for (const struct connection *peer = sources ? server->peers : NULL; peer && !may;
         peer = peer->next)
        may = agent_connection_is_asked(peer) && peer->agent->answered_ns < since_ns;
    return may;
}

void agent_connection_hang_up(struct server *server, const struct run *run, uint32_t session)
{
    struct capture *taking = run_journal_capture(run);
    uint64_t now = loop_clock_ns();
    if (agent_connection_count_programs(server, run) == 1 &&
        agent_connection_may_bring(server, run, now))
        journal_hold_hangup(taking, session, now);
    else
        journal_append_hangup(taking, session);
}

/* Writes the hang-ups that need not be held back any more; all: whatever may come. Returns since
 * when the newest other one is; 0: there is none. */
static uint64_t agent_connection_release_hangups(struct server *server, bool all)
{
    uint64_t since = 0;
    for (size_t i = 0; i < server->runs.count; i++) {
        const struct run *run = server->runs.items[i];
        struct capture *taking = run_journal_capture(run);
        if (!taking || !taking->held)
            continue;
        if (!all && !agent_connection_count_programs(server, run) &&
            agent_connection_may_bring(server, run, taking->held_ns)) {
            since = taking->held_ns > since ? taking->held_ns : since;
            continue;
        }
        capture_lock(server->taker);
        journal_release_hangup(taking);
        capture_unlock(server->taker);
        server->behind = true;
    }
    return since;
}

void agent_connection_finish(struct server *server)
{
    agent_connection_release_hangups(server, true);
}

/* ---- batches ---- */

static enum receive_result agent_connection_apply_batch(struct connection *peer,
                                                        struct agent_source *source,
                                                        const struct forwarded_batch *batch,
                                                        const char **why)
{
    struct agent_sources *sources = peer->server->sources;
    *why = "is not packed as it says";
    sources->raw = array_reserve(sources->raw, &sources->raw_room, (size_t)batch->raw + 1, 1);
    if (!compression_decompress(sources->raw, batch->raw, batch->packed, batch->packed_bytes))
        return RECEIVE_INVALID;
    if (peer->agent->message.next)
        source->origin->message = peer->agent->message;
    source->origin->holds =
        agent_connection_count_programs(peer->server, source->run) == source->origin->open;
    capture_lock(peer->server->taker);
    enum receive_result took =
        forwarded_source_receive(source->origin, run_journal_capture(source->run), batch->first,
                                 batch->count, sources->raw, batch->raw, why);
    capture_unlock(peer->server->taker);
    if (took == RECEIVE_DONE && source->origin->open) {
        source->run->status.finished = source->run->status.ending = false;
        tracefile_lock(source->run->trace, true);
        tracefile_is_live(source->run->trace, false);
    }
    if (took == RECEIVE_DONE && source->origin->ended)
        peer->agent->answered_ns = loop_clock_ns(); /* it announced others before that */
    peer->server->behind |= took == RECEIVE_DONE;
    return took;
}

static void agent_connection_receive_batch(struct connection *peer, const uint8_t *body,
                                           size_t size)
{
    struct forwarded_batch batch;
    struct decoder in = decoder_init(body, size);
    if (!decode_forwarded_batch(&in, &batch)) {
        connection_reject(peer, "FORWARD: %s", in.error);
        return;
    }
    struct agent_source *source = source_of(peer, batch.stream);
    if (!source || !source->run)
        return; /* another connection sends it now, or all of it is known */
    const char *why;
    keep_clocks(peer->server, source); /* the run may be over behind it */
    enum receive_result took = agent_connection_apply_batch(peer, source, &batch, &why);
    peer->stalled = took == RECEIVE_FULL;
    if (took == RECEIVE_INVALID)
        connection_reject(peer, "FORWARD: %s", why);
    else if (took != RECEIVE_FULL)
        agent_connection_send_position(peer, MESSAGE_ACK, batch.stream, source->origin->next);
}

/* From a NATS reader: the position behind the next batch. */
static void agent_connection_receive_position(struct connection *peer, const uint8_t *body,
                                              size_t size)
{
    struct decoder in = decoder_init(body, size);
    uint64_t next = decode_u64(&in);
    int64_t stream_ns = (int64_t)decode_u64(&in);
    if (decoder_finish(&in))
        peer->agent->message = (struct agent_position_message){next, stream_ns};
    else
        connection_reject(peer, "STREAM_POSITION: %s", in.error);
}

void agent_connection_resume(struct server *server, struct run *run,
                             const struct agent_positions *reached)
{
    if (!server->sources)
        server->sources = xcalloc(1, sizeof *server->sources);
    struct agent_sources *sources = server->sources;
    for (size_t i = 0; i < reached->count; i++) {
        sources->items = array_reserve(sources->items, &sources->room, sources->count + 1,
                                       sizeof *sources->items);
        struct forwarded_source *origin = forwarded_source_resumed(&reached->items[i]);
        sources->items[sources->count++] =
            (struct agent_source){.origin = origin, .run = run, .resumed = true};
        if (origin->ended) /* (nothing is captured yet) */
            forwarded_source_end(origin, run_journal_capture(run));
    }
}

/* ---- clocks ---- */

#define CLOCK_NS 1000000000u /* between two requests */
#define CLOCK_SOON_NS 50000000u /* between the first ones */
#define CLOCK_SOON 8u

/* held_ns: since when a run waits for the reply; 0: none does. */
static void agent_connection_request_clock(struct connection *peer, uint64_t now, uint64_t held_ns)
{
    struct agent_peer *agent = peer->agent;
    uint64_t pause = agent->answered_ns < held_ns  ? 0
                     : agent->answers < CLOCK_SOON ? CLOCK_SOON_NS
                                                   : CLOCK_NS;
    if (agent->waits || peer->ending || peer->out.size || now - agent->asked_ns < pause)
        return; /* what waits to go out would be taken for the way */
    agent->asked_ns = loop_clock_ns();
    agent->waits = true;
    encoder_begin_message(&peer->out, MESSAGE_CLOCK);
    encode_u64(&peer->out, agent->asked_ns);
    encoder_end_message(&peer->out);
    connection_send(peer);
}

static void agent_connection_receive_clock(struct connection *peer, const uint8_t *body,
                                           size_t size)
{
    struct decoder in = decoder_init(body, size);
    struct agent_peer *agent = peer->agent;
    uint64_t asked = decode_u64(&in), received = decode_u64(&in), replied = decode_u64(&in);
    if (!decoder_finish(&in) || !agent->waits || asked != agent->asked_ns) {
        connection_reject(peer, "CLOCK_REPLY: not requested");
        return;
    }
    agent->waits = false;
    agent->answered_ns = asked > agent->answered_ns ? asked : agent->answered_ns;
    uint64_t here = loop_clock_ns();
    agent->answers++;
    clock_offset_add(&agent->offset, asked, received, replied, here);
    agent->received |= clock_samples_receive(
        &agent->clocking, agent->host, &(struct clock_request){asked, received, replied, here});
}

/* From a NATS reader: a response about the clock of an agent's host. */
static void agent_connection_receive_answered(struct connection *peer, const uint8_t *body,
                                              size_t size)
{
    struct decoder in = decoder_init(body, size);
    char *host = decode_name(&in, CLOCK_HOST_BYTES);
    struct clock_request asking = {decode_u64(&in), decode_u64(&in), decode_u64(&in),
                                   decode_u64(&in)};
    if (decoder_finish(&in) && host)
        peer->agent->received |= clock_samples_receive(&peer->agent->clocking, host, &asking);
    else
        connection_reject(peer, "AGENT_CLOCK: %s", in.error);
    free(host);
}

static void agent_connection_log_clock(const struct connection *peer)
{
    int64_t low, high;
    clock_offset_at(&peer->agent->offset, loop_clock_ns(), &low, &high);
    if (peer->agent->offset.known)
        server_log("%s disconnected after %llu bytes; "
                   "its clock is ahead of ours by %lld to %lld ns",
                   peer->name, (unsigned long long)peer->in_bytes, (long long)low, (long long)high);
    else
        server_log("%s disconnected after %llu bytes", peer->name,
                   (unsigned long long)peer->in_bytes);
}

static void agent_connection_receive_message(struct connection *peer, unsigned type,
                                             const uint8_t *body, size_t size)
{
    if (type == MESSAGE_STREAM)
        agent_connection_receive_stream(peer, body, size);
    else if (type == MESSAGE_FORWARD)
        agent_connection_receive_batch(peer, body, size);
    else if (type == MESSAGE_STREAM_POSITION && !peer->channel.tls)
        agent_connection_receive_position(peer, body, size);
    else if (type == MESSAGE_AGENT_CLOCK && !peer->channel.tls)
        agent_connection_receive_answered(peer, body, size);
    else if (type == MESSAGE_CLOCK_REPLY)
        agent_connection_receive_clock(peer, body, size);
    else
        connection_reject(peer, "%s is not an agent message", message_name(type));
}

/* Not while an order is too far behind. */
static enum readiness agent_connection_readiness(struct connection *peer)
{
    const struct agent_peer *agent = peer->agent;
    for (uint32_t i = 0; i < agent->count; i++) {
        const struct agent_source *source = source_of(peer, i);
        if (source && source->run && capture_is_ahead(run_journal_capture(source->run)))
            return CONNECTION_READY_LATER;
    }
    return READY;
}

static void agent_connection_on_disconnect(struct connection *peer)
{
    struct agent_sources *sources = peer->server->sources;
    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i].peer == peer)
            sources->items[i].peer = NULL;
    if (!peer->server->quiet)
        agent_connection_log_clock(peer);
    clock_samples_free(&peer->agent->clocking);
    free(peer->agent->host);
    free(peer->agent->sources);
    free(peer->agent);
    peer->agent = NULL;
}

const struct connection_handler agent_handler = {.doing = "what agents forward",
                                                 .ready = agent_connection_readiness,
                                                 .message = agent_connection_receive_message,
                                                 .gone = agent_connection_on_disconnect};

/* ---- from the order ---- */

void agent_connection_reject(struct server *server, const struct run *run, uint32_t session,
                             const char *why)
{
    struct agent_sources *sources = server->sources;
    for (size_t i = 0; sources && i < sources->count; i++) {
        struct agent_source *source = &sources->items[i];
        if (source->run != run)
            continue;
        capture_lock(server->taker);
        bool is_there = forwarded_source_reject(source->origin, run_journal_capture(run), session);
        capture_unlock(server->taker);
        if (!is_there)
            continue;
        server_log("%s: program %u, forwarded by an agent: %s: dropped", run->file.path, session,
                   why);
        return;
    }
}

void agent_connection_poll(struct server *server)
{
    struct agent_sources *sources = server->sources;
    uint64_t held_ns = agent_connection_release_hangups(server, false), now = loop_clock_ns();
    for (struct connection *peer = sources ? server->peers : NULL; peer; peer = peer->next)
        if (peer->agent)
            agent_connection_request_clock(peer, now, held_ns);
    for (size_t i = 0; sources && i < sources->count; i++) {
        struct agent_source *source = &sources->items[i];
        keep_clocks(server, source);
        if (!source->run || !source->run->status.finished || !source->origin->ended)
            continue;
        source->complete = source->origin->next;
        if (source->peer) {
            clock_samples_discard(&source->peer->agent->clocking, source->run);
            agent_connection_send_position(source->peer, MESSAGE_COMPLETE, source->stream,
                                           source->complete);
        }
        source->run = NULL;
    }
    for (struct connection *peer = sources ? server->peers : NULL; peer; peer = peer->next)
        if (peer->agent)
            peer->agent->received = false;
}

bool agent_connection_expected(const struct server *server)
{
    const struct agent_sources *sources = server->sources;
    for (size_t i = 0; sources && i < sources->count; i++)
        if (sources->items[i].run)
            return true;
    return false;
}

void agent_connections_free(struct server *server)
{
    struct agent_sources *sources = server->sources;
    for (size_t i = 0; sources && i < sources->count; i++)
        forwarded_source_free(sources->items[i].origin);
    if (sources) {
        free(sources->items);
        free(sources->raw);
    }
    free(sources);
    server->sources = NULL;
    compression_release();
}
