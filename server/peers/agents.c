#define _GNU_SOURCE
#include "server/peers/agents.h"

#include "memory/memory.h"
#include "server/far/offset.h"
#include "server/far/squeeze.h"
#include "server/file/rest.h"
#include "server/loop/log.h"
#include "server/peers/begun.h"
#include "server/peers/clocking.h"
#include "server/peers/server.h"
#include "server/taking/origin.h"
#include "server/taking/taking.h"
#include "wire/forwarded.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

#define ORIGINS_MOST 65536u
#define CLOCK_HOST_BYTES 256u

/* A stream of some agent, which may come and go. */
struct source {
    struct origin *origin;
    struct run *run; /* NULL: it is complete, and all of it is in the file of its run */
    struct peer *peer; /* who sends it now; NULL nobody */
    uint32_t stream; /* by which number */
    uint64_t complete; /* chunks */
    bool resumed; /* it is in the file of a server before this one; and nobody has sent more yet */
    bool settled; /* it has ended, and what clocks said by then is kept */
};

struct far { /* of an agent's peer */
    char *host;
    size_t *sources; /* by stream: its place, plus 1; 0 none */
    size_t count, room;
    struct offset offset; /* of its clock */
    struct clocking clocking; /* of its host, for runs; of a reader, of others */
    bool heard; /* something was, since it was kept */
    uint64_t asked_ns; /* by ours, when that was asked last; 0 never */
    bool waits; /* for the answer */
    unsigned answers;
    struct reached_message message; /* where its next batch comes from, if that is NATS */
};

struct sources {
    struct source *items;
    size_t count, room;
    uint8_t *raw; /* the batch that is taken now */
    size_t raw_room;
};

/* ---- what is told ---- */

static void tell(struct peer *peer, enum message type, uint32_t stream, uint64_t next)
{
    out_begin(&peer->out, type);
    put_u32(&peer->out, stream);
    put_u64(&peer->out, next);
    out_end(&peer->out);
    peer_send(peer);
}

/* ---- first words ---- */

bool agents_hello(struct peer *peer, const uint8_t *body, size_t size)
{
    struct forwarded_agent agent;
    struct in in = in_from(body, size);
    if (!get_forwarded_agent(&in, &agent)) {
        peer_refuse(peer, "%s (version %u, here %u): install the same Poet on both machines",
                    in.error, agent.version, FORWARD_VERSION);
        free(agent.host);
        return false;
    }
    char *host = text_readable(agent.host, strlen(agent.host), false);
    snprintf(peer->name, sizeof peer->name, "the agent of %.40s", host ? host : "a host");
    free(agent.host);
    peer->role = ROLE_AGENT;
    peer->far = memory_zeroed(1, sizeof *peer->far);
    peer->far->host = host;
    peer->limit = FORWARD_LIMIT_BYTES;
    if (!peer->server->sources)
        peer->server->sources = memory_zeroed(1, sizeof *peer->server->sources);
    if (!peer->server->quiet)
        log_line("%s is there", peer->name);
    return true;
}

/* ---- streams ---- */

static struct source *source_of(const struct peer *peer, uint32_t stream)
{
    const struct far *far = peer->far;
    if (stream >= far->count || !far->sources[stream])
        return NULL;
    struct source *source = &peer->server->sources->items[far->sources[stream] - 1];
    return source->peer == peer && source->stream == stream ? source : NULL;
}

static struct source *find(struct sources *sources, const uint8_t *id)
{
    for (size_t i = 0; i < sources->count; i++) {
        uint8_t differs =
            0; /* who knows an id speaks for its stream: it takes equal time to guess one */
        for (size_t k = 0; k < FORWARD_ID_BYTES; k++)
            differs |= sources->items[i].origin->id[k] ^ id[k];
        if (!differs)
            return &sources->items[i];
    }
    return NULL;
}

static struct source *begin(struct peer *peer, const struct forwarded_stream *stream)
{
    struct sources *sources = peer->server->sources;
    char why[512], *key = text_readable(stream->run, strlen(stream->run), false);
    rest_finished(&peer->server->runs); /* one that has ended is not gone on with */
    struct run *run = runs_find(&peer->server->runs, key ? key : "", why, sizeof why);
    free(key);
    if (!run || !run->live) {
        peer_refuse(peer, "%s", run ? "the run has ended" : why);
        return NULL;
    }
    run_begun(peer->server, run);
    tracefile_goes_on(run->trace, false);
    run->left = false;
    sources->items =
        grow(sources->items, &sources->room, sources->count + 1, sizeof *sources->items);
    struct source *source = &sources->items[sources->count++];
    *source = (struct source){.origin = origin_marked(stream->id, run->key), .run = run};
    return source;
}

/* None of what this connection brings for its run is still to come. */
static bool is_last(const struct sources *sources, const struct source *source)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct source *other = &sources->items[i];
        if (other->run == source->run && other->peer == source->peer && !other->origin->ended)
            return false;
    }
    return true;
}

static void keep_clocks(struct server *server, struct source *source)
{
    struct far *far = source->peer ? source->peer->far : NULL;
    bool ends = source->origin->ended && !source->settled;
    if (!far || !source->run || source->run->finished || !(far->heard || ends))
        return;
    source->settled = source->origin->ended;
    clocking_keep(&far->clocking, server, source->run,
                  source->settled && is_last(server->sources, source));
}

static void take_stream(struct peer *peer, const uint8_t *body, size_t size)
{
    struct forwarded_stream stream;
    struct in in = in_from(body, size);
    struct far *far = peer->far;
    struct sources *sources = peer->server->sources;
    bool good = get_forwarded_stream(&in, &stream);
    if (good && (stream.stream >= FORWARD_STREAMS_MOST || sources->count >= ORIGINS_MOST)) {
        in_fail(&in, "too many");
        good = false;
    }
    struct source *source = good ? find(sources, stream.id) : NULL;
    if (good && !source)
        source = begin(peer, &stream);
    else if (!good)
        peer_refuse(peer, "STREAM: %s", in.error);
    free(stream.run);
    if (!source)
        return;
    far->sources =
        grow_zeroed(far->sources, &far->room, (size_t)stream.stream + 1, sizeof *far->sources);
    far->count = stream.stream >= far->count ? stream.stream + 1 : far->count;
    far->sources[stream.stream] = (size_t)(source - sources->items) + 1;
    source->peer = peer; /* who sent it before has lost its connection, and does not know it yet */
    source->stream = stream.stream;
    if (source->resumed && !peer->server->quiet)
        log_line("%s: %s goes on with its chunk %llu", source->run->file, peer->name,
                 (unsigned long long)source->origin->next);
    if (source->resumed)
        source->run->left = source->resumed = false;
    source->settled = false;
    far->heard = true; /* the run may be over at once */
    keep_clocks(peer->server, source);
    if (source->run)
        tell(peer, MESSAGE_EXPECTED, stream.stream, source->origin->next);
    else
        tell(peer, MESSAGE_COMPLETE, stream.stream, source->complete);
}

/* ---- batches ---- */

static enum origin_took take(struct peer *peer, struct source *source,
                             const struct forwarded_batch *batch, const char **why)
{
    struct sources *sources = peer->server->sources;
    *why = "is not packed as it says";
    sources->raw = grow(sources->raw, &sources->raw_room, (size_t)batch->raw + 1, 1);
    if (!unsqueeze(sources->raw, batch->raw, batch->packed, batch->packed_bytes))
        return ORIGIN_WRONG;
    if (peer->far->message.next)
        source->origin->message = peer->far->message;
    taker_enter(peer->server->taker);
    enum origin_took took = origin_take(source->origin, source->run->taking, batch->first,
                                        batch->count, sources->raw, batch->raw, why);
    taker_leave(peer->server->taker);
    if (took == ORIGIN_TOOK && source->origin->open) {
        source->run->finished = source->run->ending = false;
        tracefile_lock(source->run->trace, true);
        tracefile_goes_on(source->run->trace, false);
    }
    peer->server->behind |= took == ORIGIN_TOOK;
    return took;
}

static void take_batch(struct peer *peer, const uint8_t *body, size_t size)
{
    struct forwarded_batch batch;
    struct in in = in_from(body, size);
    if (!get_forwarded_batch(&in, &batch)) {
        peer_refuse(peer, "FORWARD: %s", in.error);
        return;
    }
    struct source *source = source_of(peer, batch.stream);
    if (!source || !source->run)
        return; /* another connection sends it now, or all of it is known */
    const char *why;
    keep_clocks(peer->server, source); /* the run may be over behind it */
    enum origin_took took = take(peer, source, &batch, &why);
    peer->stalled = took == ORIGIN_FULL;
    if (took == ORIGIN_WRONG)
        peer_refuse(peer, "FORWARD: %s", why);
    else if (took != ORIGIN_FULL)
        tell(peer, MESSAGE_EXPECTED, batch.stream, source->origin->next);
}

/* Of what is read from NATS: where that goes on once the next batch is there. */
static void take_reached(struct peer *peer, const uint8_t *body, size_t size)
{
    struct in in = in_from(body, size);
    uint64_t next = get_u64(&in);
    int64_t stream_ns = (int64_t)get_u64(&in);
    if (in_done(&in))
        peer->far->message = (struct reached_message){next, stream_ns};
    else
        peer_refuse(peer, "REACHED: %s", in.error);
}

void agents_resume(struct server *server, struct run *run, const struct reached_list *reached)
{
    if (!server->sources)
        server->sources = memory_zeroed(1, sizeof *server->sources);
    struct sources *sources = server->sources;
    for (size_t i = 0; i < reached->count; i++) {
        sources->items =
            grow(sources->items, &sources->room, sources->count + 1, sizeof *sources->items);
        sources->items[sources->count++] = (struct source){
            .origin = origin_resumed(&reached->items[i]), .run = run, .resumed = true};
    }
}

/* ---- clocks ---- */

#define CLOCK_NS 1000000000u /* between two questions */
#define CLOCK_SOON_NS 50000000u /* between the first ones */
#define CLOCK_SOON 8u

static void ask_clock(struct peer *peer, uint64_t now)
{
    struct far *far = peer->far;
    uint64_t pause = far->answers < CLOCK_SOON ? CLOCK_SOON_NS : CLOCK_NS;
    if (far->waits || peer->ending || peer->out.size || now - far->asked_ns < pause)
        return; /* what waits to go out would be taken for the way */
    far->asked_ns = turn_clock_ns();
    far->waits = true;
    out_begin(&peer->out, MESSAGE_CLOCK);
    put_u64(&peer->out, far->asked_ns);
    out_end(&peer->out);
    peer_send(peer);
}

static void take_clock(struct peer *peer, const uint8_t *body, size_t size)
{
    struct in in = in_from(body, size);
    struct far *far = peer->far;
    uint64_t asked = get_u64(&in), heard = get_u64(&in), said = get_u64(&in);
    if (!in_done(&in) || !far->waits || asked != far->asked_ns) {
        peer_refuse(peer, "TIMED: was not asked for");
        return;
    }
    far->waits = false;
    uint64_t here = turn_clock_ns();
    far->answers++;
    offset_take(&far->offset, asked, heard, said, here);
    far->heard |=
        clocking_take(&far->clocking, far->host, &(struct asking){asked, heard, said, here});
}

/* Of what is read from NATS: what the clock of some agent's host said, whom the reader asked. */
static void take_answered(struct peer *peer, const uint8_t *body, size_t size)
{
    struct in in = in_from(body, size);
    char *host = get_name(&in, CLOCK_HOST_BYTES);
    struct asking asking = {get_u64(&in), get_u64(&in), get_u64(&in), get_u64(&in)};
    if (in_done(&in) && host)
        peer->far->heard |= clocking_take(&peer->far->clocking, host, &asking);
    else
        peer_refuse(peer, "ANSWERED: %s", in.error);
    free(host);
}

static void say_clock(const struct peer *peer)
{
    int64_t low, high;
    offset_at(&peer->far->offset, turn_clock_ns(), &low, &high);
    if (peer->far->offset.known)
        log_line("%s is gone, after %llu bytes; its clock is ahead of ours by %lld to %lld ns",
                 peer->name, (unsigned long long)peer->in_bytes, (long long)low, (long long)high);
    else
        log_line("%s is gone, after %llu bytes", peer->name, (unsigned long long)peer->in_bytes);
}

static void take_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size)
{
    if (type == MESSAGE_STREAM)
        take_stream(peer, body, size);
    else if (type == MESSAGE_FORWARD)
        take_batch(peer, body, size);
    else if (type == MESSAGE_REACHED && !peer->channel.tls)
        take_reached(peer, body, size);
    else if (type == MESSAGE_ANSWERED && !peer->channel.tls)
        take_answered(peer, body, size);
    else if (type == MESSAGE_TIMED)
        take_clock(peer, body, size);
    else
        peer_refuse(peer, "%s is no message of an agent", message_name(type));
}

/* Not while an order is too far behind. */
static enum readiness ready(struct peer *peer)
{
    const struct far *far = peer->far;
    for (uint32_t i = 0; i < far->count; i++) {
        const struct source *source = source_of(peer, i);
        if (source && source->run && taking_ahead(source->run->taking))
            return READY_LATER;
    }
    return READY;
}

static void gone(struct peer *peer)
{
    struct sources *sources = peer->server->sources;
    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i].peer == peer)
            sources->items[i].peer = NULL;
    if (!peer->server->quiet)
        say_clock(peer);
    clocking_free(&peer->far->clocking);
    free(peer->far->host);
    free(peer->far->sources);
    free(peer->far);
    peer->far = NULL;
}

const struct talk talk_with_agent = {
    .doing = "what agents forward", .ready = ready, .message = take_message, .gone = gone};

/* ---- from the order ---- */

void agents_refuse(struct server *server, const struct run *run, uint32_t session, const char *why)
{
    struct sources *sources = server->sources;
    for (size_t i = 0; sources && i < sources->count; i++) {
        struct source *source = &sources->items[i];
        if (source->run != run)
            continue;
        taker_enter(server->taker);
        bool is_there = origin_refuse(source->origin, run->taking, session);
        taker_leave(server->taker);
        if (!is_there)
            continue;
        log_line("%s: program %u, which an agent told of: %s: dropped", run->file, session, why);
        return;
    }
}

void agents_look(struct server *server)
{
    struct sources *sources = server->sources;
    uint64_t now = turn_clock_ns();
    for (struct peer *peer = sources ? server->peers : NULL; peer; peer = peer->next)
        if (peer->far)
            ask_clock(peer, now);
    for (size_t i = 0; sources && i < sources->count; i++) {
        struct source *source = &sources->items[i];
        keep_clocks(server, source);
        if (!source->run || !source->run->finished || !source->origin->ended)
            continue;
        source->complete = source->origin->next;
        if (source->peer) {
            clocking_forget(&source->peer->far->clocking, source->run);
            tell(source->peer, MESSAGE_COMPLETE, source->stream, source->complete);
        }
        source->run = NULL;
    }
    for (struct peer *peer = sources ? server->peers : NULL; peer; peer = peer->next)
        if (peer->far)
            peer->far->heard = false;
}

bool agents_expected(const struct server *server)
{
    const struct sources *sources = server->sources;
    for (size_t i = 0; sources && i < sources->count; i++)
        if (sources->items[i].run)
            return true;
    return false;
}

void agents_free(struct server *server)
{
    struct sources *sources = server->sources;
    for (size_t i = 0; sources && i < sources->count; i++)
        origin_free(sources->items[i].origin);
    if (sources) {
        free(sources->items);
        free(sources->raw);
    }
    free(sources);
    server->sources = NULL;
    squeeze_rest();
}
