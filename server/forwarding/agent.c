#define _GNU_SOURCE
#include "server/forwarding/agent.h"

#include "base/alloc.h"
#include "server/forwarding/nats_message.h"
#include "server/forwarding/forwarded_stream.h"
#include "server/transport/compression.h"
#include "server/eventloop/event_loop.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define BATCH_BYTES (256u << 10) /* of chunks, before they are packed */
#define UNDER_WAY_BYTES (8u << 20) /* of a stream, that are not acknowledged */

struct agent {
    struct destination *to;
    char *where, *directory;
    char *trouble; /* it is away: what its user is to know; NULL: it is here, or not known */
    bool keep, here, reported;
    char *why; /* it went away last, before anything was acknowledged again */
    bool again; /* and for the same reason as before: that is not said over and over */
    struct outgoing_stream **streams; /* NULL: done */
    bool *offered; /* and the answer has come */
    size_t count, room, offered_room;
    struct encoder raw, packed;
};

/* ---- sending ---- */

static void agent_offer_stream(struct agent *agent, size_t i)
{
    const struct outgoing_stream *stream = agent->streams[i];
    agent->offered[i] = false;
    if (agent->here && stream)
        agent->to->kind->offer(agent->to, (uint32_t)i, stream->id, stream->run);
}

static void on_here(void *context)
{
    struct agent *agent = context;
    agent->here = true;
    free(agent->trouble);
    agent->trouble = NULL;
    if (!agent->again)
        server_log("connected to %s", agent->where);
    for (size_t i = 0; i < agent->count; i++)
        agent_offer_stream(agent, i);
}

static void on_disconnected(void *context, const char *why)
{
    struct agent *agent = context;
    bool again = agent->why && strcmp(agent->why, why) == 0;
    agent->again = again && (agent->again || agent->here);
    free(agent->why);
    agent->why = xstrdup(why);
    if ((agent->here && !again) || !agent->reported)
        server_log("%s; events are kept in %s until it is reachable", why, agent->directory);
    agent->reported = true;
    free(agent->trouble);
    agent->trouble =
        xasprintf("%s; events are kept in %s until it is reachable", why, agent->directory);
    agent->here = false;
    for (size_t i = 0; i < agent->count; i++)
        agent->offered[i] = false;
}

/* Something was acknowledged. */
static void agent_note_recovered(struct agent *agent)
{
    if (agent->again)
        server_log("%s: forwarding resumed", agent->where);
    agent->again = false;
    free(agent->why);
    agent->why = NULL;
}

static struct outgoing_stream *stream_at(struct agent *agent, uint32_t i)
{
    return i < agent->count ? agent->streams[i] : NULL;
}

static void on_expects(void *context, uint32_t i, uint64_t next)
{
    struct agent *agent = context;
    struct outgoing_stream *stream = stream_at(agent, i);
    if (!stream)
        return;
    if (agent->offered[i])
        agent_note_recovered(agent), outgoing_stream_keep(stream, next);
    else
        outgoing_stream_go_back(stream, next);
    agent->offered[i] = true;
    agent_step(agent, loop_share_new(LOOP_TURN_TELL_NS));
}

static void agent_finish_stream(struct agent *agent, size_t i)
{
    struct outgoing_stream *stream = agent->streams[i];
    if (agent->keep &&
        !journal_follower_append(stream->following, (struct chunk){.kind = CHUNK_FORWARDED}))
        server_log("%s: cannot be marked as forwarded: %s", stream->path, strerror(errno));
    if (!agent->keep)
        unlink(stream->path);
    outgoing_stream_free(stream);
    agent->streams[i] = NULL;
}

static void on_complete(void *context, uint32_t i, uint64_t next)
{
    struct agent *agent = context;
    struct outgoing_stream *stream = stream_at(agent, i);
    if (!stream || stream->live)
        return;
    if (!agent->offered[i])
        outgoing_stream_go_back(stream, next);
    agent->offered[i] = true;
    while (!outgoing_stream_advance(stream))
        ;
    struct forwarded_chunk more;
    if (!outgoing_stream_next(stream, &more))
        agent_finish_stream(agent, i);
}

static void on_room(void *context) { agent_step(context, loop_share_new(LOOP_TURN_TELL_NS)); }

/* ---- streams ---- */

static void agent_add_stream(struct agent *agent, struct outgoing_stream *stream)
{
    size_t i = 0;
    while (i < agent->count && agent->streams[i])
        i++;
    if (i == agent->count) {
        agent->streams = array_reserve(agent->streams, &agent->room, i + 1, sizeof *agent->streams);
        agent->offered =
            array_reserve(agent->offered, &agent->offered_room, i + 1, sizeof *agent->offered);
        agent->count++;
    }
    agent->streams[i] = stream;
    agent_offer_stream(agent, i);
}

void agent_head(struct encoder *out, const char *run)
{
    uint8_t id[FORWARD_ID_BYTES];
    if (getrandom(id, sizeof id, 0) != sizeof id)
        out_of_memory(0);
    encode_stream_head(out, id, run, loop_host_name());
}

void agent_begin(struct agent *agent, const char *path)
{
    const char *why;
    struct outgoing_stream *stream = outgoing_stream_new(path, true, &why);
    if (stream)
        agent_add_stream(agent, stream);
    else
        server_log("%s: %s; not forwarded", path, why);
}

void agent_end(struct agent *agent, const char *path)
{
    for (size_t i = 0; i < agent->count; i++) {
        struct outgoing_stream *stream = agent->streams[i];
        if (!stream || !stream->live || strcmp(stream->path, path) != 0)
            continue;
        stream->live = false;
        journal_follower_lock(stream->following);
    }
}

/* Finds the journals that an earlier agent left. */
static void agent_find_remaining(struct agent *agent)
{
    DIR *directory = opendir(agent->directory);
    struct dirent *entry;
    struct forwarded_chunk chunk;
    while (directory && (entry = readdir(directory)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.'), *why;
        if (!dot || strcmp(dot, ".poet") != 0)
            continue;
        char *path = xasprintf("%s/%s", agent->directory, entry->d_name);
        struct outgoing_stream *stream = outgoing_stream_new(path, false, &why);
        free(path);
        while (stream && agent->keep && outgoing_stream_next(stream, &chunk))
            ;
        if (stream && stream->forwarded) {
            outgoing_stream_free(stream);
            continue;
        }
        if (stream) {
            outgoing_stream_go_back(stream, 0);
            server_log("forwarding leftover journal %s", stream->path);
            agent_add_stream(agent, stream);
        }
    }
    if (directory)
        closedir(directory);
}

/* ---- batches ---- */

/* Chunks of a stream, as many as make a batch. */
static uint32_t agent_collect_batch(struct agent *agent, struct outgoing_stream *stream)
{
    struct forwarded_chunk chunk;
    uint32_t count = 0;
    struct journal_position before = journal_follower_position(stream->following);
    agent->raw.size = 0;
    while (agent->raw.size < BATCH_BYTES && outgoing_stream_next(stream, &chunk)) {
        if (count && agent->raw.size + chunk.size + FORWARD_HEAD_BYTES > FORWARD_RAW_MOST) {
            journal_follower_seek(stream->following, before);
            stream->next--;
            break;
        }
        encode_forwarded_chunk(&agent->raw, &chunk);
        before = journal_follower_position(stream->following);
        count++;
    }
    return count;
}

/* The next batch of a stream; false: there is none now, or no room for it. */
static bool send_batch(struct agent *agent, uint32_t number, struct outgoing_stream *stream)
{
    struct journal_position begin = journal_follower_position(stream->following);
    uint64_t first = stream->next;
    uint32_t count = agent_collect_batch(agent, stream);
    if (!count)
        return false;
    size_t room = compression_bound(agent->raw.size);
    agent->packed.data = array_reserve(agent->packed.data, &agent->packed.room, room, 1);
    size_t size = compression_compress(agent->packed.data, room, agent->raw.data, agent->raw.size);
    const struct forwarded_batch batch = {.stream = number,
                                          .first = first,
                                          .count = count,
                                          .raw = (uint32_t)agent->raw.size,
                                          .packed = agent->packed.data,
                                          .packed_bytes = size,
                                          .ends = stream->ended};
    if (!size || !agent->to->kind->publish(agent->to, &batch)) {
        journal_follower_seek(stream->following, begin);
        stream->next = first;
        stream->ended = false;
        return false;
    }
    outgoing_stream_mark(stream, agent->raw.size);
    return true;
}

bool agent_step(struct agent *agent, struct loop_share share)
{
    bool more = agent->here, left = false;
    while (more && loop_share_left(share)) {
        more = left = false;
        for (size_t i = 0; i < agent->count && loop_share_left(share); i++) {
            struct outgoing_stream *stream = agent->streams[i];
            if (!stream || !agent->offered[i] || stream->under_way >= UNDER_WAY_BYTES)
                continue;
            if (!outgoing_stream_advance(stream))
                more = left = true;
            else if (send_batch(agent, (uint32_t)i, stream))
                more = left = true;
        }
    }
    return !left;
}

/* ---- life ---- */

static const struct destination_callbacks agent_callbacks = {on_here, on_disconnected, on_expects,
                                                             on_complete, on_room};

struct agent *agent_new(struct ev_loop *loop, const char *where, const char *directory, bool keep,
                        struct error *error)
{
    struct agent *agent = xcalloc(1, sizeof *agent);
    agent->where = nats_is_address(where) ? nats_display_text(where) : xstrdup(where);
    agent->directory = xstrdup(directory);
    size_t n = strlen(agent->directory);
    if (n > 1 && agent->directory[n - 1] == '/')
        agent->directory[n - 1] = 0;
    agent->keep = keep;
    bool nats = nats_is_address(where);
    const struct destination_kind *kind = nats ? &destination_nats : &destination_direct;
    agent->to = kind->open(loop, where, loop_host_name(), &agent_callbacks, agent, error);
    if (!agent->to) {
        agent_free(agent);
        return NULL;
    }
    agent_find_remaining(agent);
    return agent;
}

void agent_free(struct agent *agent)
{
    if (!agent)
        return;
    if (agent->to)
        agent->to->kind->close(agent->to);
    for (size_t i = 0; i < agent->count; i++)
        if (agent->streams[i])
            outgoing_stream_free(agent->streams[i]);
    free(agent->streams);
    free(agent->offered);
    encoder_free(&agent->raw);
    encoder_free(&agent->packed);
    free(agent->why);
    free(agent->where);
    free(agent->trouble);
    free(agent->directory);
    free(agent);
    compression_release();
}

const char *agent_where(const struct agent *agent) { return agent->where; }
bool agent_is_known(const struct agent *agent) { return agent->here || agent->reported; }
const char *agent_error(const struct agent *agent) { return agent->trouble ? agent->trouble : ""; }
bool agent_is_disconnected(const struct agent *agent) { return !agent->here; }

bool agent_is_done(const struct agent *agent)
{
    for (size_t i = 0; i < agent->count; i++)
        if (agent->streams[i])
            return false;
    return true;
}

void agent_disconnect(const struct agent *agent)
{
    for (size_t i = 0; i < agent->count; i++)
        if (agent->streams[i])
            server_log(
                "%s: not completely forwarded to %s; resume with poet server --to %s, or order it "
                "here with poet merge",
                agent->streams[i]->path, agent->where, agent->where);
}
