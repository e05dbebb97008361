#define _GNU_SOURCE
#include "server/agent/agent.h"

#include "memory/memory.h"
#include "server/agent/natsmessage.h"
#include "server/agent/stream.h"
#include "server/far/squeeze.h"
#include "server/loop/log.h"
#include "server/loop/turn.h"

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
    bool keep, here, said;
    char *why; /* it went away last, before anything was acknowledged again */
    bool again; /* and for the same reason as before: that is not said over and over */
    struct stream **streams; /* NULL: done */
    bool *offered; /* and the answer has come */
    size_t count, room, offered_room;
    struct out raw, packed;
};

/* ---- what it tells ---- */

static void offer(struct agent *agent, size_t i)
{
    const struct stream *stream = agent->streams[i];
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
        log_line("%s is there", agent->where);
    for (size_t i = 0; i < agent->count; i++)
        offer(agent, i);
}

static void on_away(void *context, const char *why)
{
    struct agent *agent = context;
    bool again = agent->why && strcmp(agent->why, why) == 0;
    agent->again = again && (agent->again || agent->here);
    free(agent->why);
    agent->why = memory_copied(why);
    if ((agent->here && !again) || !agent->said)
        log_line("%s; what programs say is kept in %s until it goes on", why, agent->directory);
    agent->said = true;
    free(agent->trouble);
    agent->trouble = memory_printed("%s; what is recorded is kept in %s until it goes on", why,
                                    agent->directory);
    agent->here = false;
    for (size_t i = 0; i < agent->count; i++)
        agent->offered[i] = false;
}

/* Something was acknowledged. */
static void well_again(struct agent *agent)
{
    if (agent->again)
        log_line("%s is there, and takes what it is told", agent->where);
    agent->again = false;
    free(agent->why);
    agent->why = NULL;
}

static struct stream *stream_at(struct agent *agent, uint32_t i)
{
    return i < agent->count ? agent->streams[i] : NULL;
}

static void on_expects(void *context, uint32_t i, uint64_t next)
{
    struct agent *agent = context;
    struct stream *stream = stream_at(agent, i);
    if (!stream)
        return;
    if (agent->offered[i])
        well_again(agent), stream_keep(stream, next);
    else
        stream_go_back(stream, next);
    agent->offered[i] = true;
    agent_go_on(agent, share_of(TURN_TELL_NS));
}

static void finish(struct agent *agent, size_t i)
{
    struct stream *stream = agent->streams[i];
    if (agent->keep &&
        !following_append(stream->following, (struct chunk){.kind = CHUNK_FORWARDED}))
        log_line("%s: that all of it was forwarded cannot be noted in it: %s", stream->path,
                 strerror(errno));
    if (!agent->keep)
        unlink(stream->path);
    stream_free(stream);
    agent->streams[i] = NULL;
}

static void on_complete(void *context, uint32_t i, uint64_t next)
{
    struct agent *agent = context;
    struct stream *stream = stream_at(agent, i);
    if (!stream || stream->live)
        return;
    if (!agent->offered[i])
        stream_go_back(stream, next);
    agent->offered[i] = true;
    while (!stream_reach(stream))
        ;
    struct forwarded_chunk more;
    if (!stream_next(stream, &more))
        finish(agent, i);
}

static void on_room(void *context) { agent_go_on(context, share_of(TURN_TELL_NS)); }

/* ---- streams ---- */

static void add(struct agent *agent, struct stream *stream)
{
    size_t i = 0;
    while (i < agent->count && agent->streams[i])
        i++;
    if (i == agent->count) {
        agent->streams = grow(agent->streams, &agent->room, i + 1, sizeof *agent->streams);
        agent->offered = grow(agent->offered, &agent->offered_room, i + 1, sizeof *agent->offered);
        agent->count++;
    }
    agent->streams[i] = stream;
    offer(agent, i);
}

void agent_head(struct out *out, const char *run)
{
    uint8_t id[FORWARD_ID_BYTES];
    if (getrandom(id, sizeof id, 0) != sizeof id)
        memory_is_out(0);
    put_stream_head(out, id, run, turn_host());
}

void agent_begin(struct agent *agent, const char *path)
{
    const char *why;
    struct stream *stream = stream_new(path, true, &why);
    if (stream)
        add(agent, stream);
    else
        log_line("%s: %s: it is not forwarded", path, why);
}

void agent_end(struct agent *agent, const char *path)
{
    for (size_t i = 0; i < agent->count; i++) {
        struct stream *stream = agent->streams[i];
        if (!stream || !stream->live || strcmp(stream->path, path) != 0)
            continue;
        stream->live = false;
        following_lock(stream->following);
    }
}

/* What an agent that is gone has left. */
static void find_left(struct agent *agent)
{
    DIR *directory = opendir(agent->directory);
    struct dirent *entry;
    struct forwarded_chunk chunk;
    while (directory && (entry = readdir(directory)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.'), *why;
        if (!dot || strcmp(dot, ".poet") != 0)
            continue;
        char *path = memory_printed("%s/%s", agent->directory, entry->d_name);
        struct stream *stream = stream_new(path, false, &why);
        free(path);
        while (stream && agent->keep && stream_next(stream, &chunk))
            ;
        if (stream && stream->forwarded) {
            stream_free(stream);
            continue;
        }
        if (stream) {
            stream_go_back(stream, 0);
            log_line("%s was left behind: it is forwarded", stream->path);
            add(agent, stream);
        }
    }
    if (directory)
        closedir(directory);
}

/* ---- batches ---- */

/* Chunks of a stream, as many as make a batch. */
static uint32_t collect(struct agent *agent, struct stream *stream)
{
    struct forwarded_chunk chunk;
    uint32_t count = 0;
    struct followed before = following_place(stream->following);
    agent->raw.size = 0;
    while (agent->raw.size < BATCH_BYTES && stream_next(stream, &chunk)) {
        if (count && agent->raw.size + chunk.size + FORWARD_HEAD_BYTES > FORWARD_RAW_MOST) {
            following_go_to(stream->following, before);
            stream->next--;
            break;
        }
        put_forwarded_chunk(&agent->raw, &chunk);
        before = following_place(stream->following);
        count++;
    }
    return count;
}

/* The next batch of a stream; false: there is none now, or no room for it. */
static bool send_batch(struct agent *agent, uint32_t number, struct stream *stream)
{
    struct followed begin = following_place(stream->following);
    uint64_t first = stream->next;
    uint32_t count = collect(agent, stream);
    if (!count)
        return false;
    size_t room = squeeze_room(agent->raw.size);
    agent->packed.data = grow(agent->packed.data, &agent->packed.room, room, 1);
    size_t size = squeeze(agent->packed.data, room, agent->raw.data, agent->raw.size);
    const struct forwarded_batch batch = {.stream = number,
                                          .first = first,
                                          .count = count,
                                          .raw = (uint32_t)agent->raw.size,
                                          .packed = agent->packed.data,
                                          .packed_bytes = size,
                                          .ends = stream->ended};
    if (!size || !agent->to->kind->publish(agent->to, &batch)) {
        following_go_to(stream->following, begin);
        stream->next = first;
        stream->ended = false;
        return false;
    }
    stream_mark(stream, agent->raw.size);
    return true;
}

bool agent_go_on(struct agent *agent, struct share share)
{
    bool more = agent->here, left = false;
    while (more && share_left(share)) {
        more = left = false;
        for (size_t i = 0; i < agent->count && share_left(share); i++) {
            struct stream *stream = agent->streams[i];
            if (!stream || !agent->offered[i] || stream->under_way >= UNDER_WAY_BYTES)
                continue;
            if (!stream_reach(stream))
                more = left = true;
            else if (send_batch(agent, (uint32_t)i, stream))
                more = left = true;
        }
    }
    return !left;
}

/* ---- life ---- */

static const struct destination_hears hears = {on_here, on_away, on_expects, on_complete, on_room};

struct agent *agent_new(struct ev_loop *loop, const char *where, const char *directory, bool keep,
                        struct error *error)
{
    struct agent *agent = memory_zeroed(1, sizeof *agent);
    agent->where = nats_is_where(where) ? nats_shown(where) : memory_copied(where);
    agent->directory = memory_copied(directory);
    size_t n = strlen(agent->directory);
    if (n > 1 && agent->directory[n - 1] == '/')
        agent->directory[n - 1] = 0;
    agent->keep = keep;
    bool nats = nats_is_where(where);
    const struct destination_kind *kind = nats ? &destination_nats : &destination_direct;
    agent->to = kind->open(loop, where, turn_host(), &hears, agent, error);
    if (!agent->to) {
        agent_free(agent);
        return NULL;
    }
    find_left(agent);
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
            stream_free(agent->streams[i]);
    free(agent->streams);
    free(agent->offered);
    out_free(&agent->raw);
    out_free(&agent->packed);
    free(agent->why);
    free(agent->where);
    free(agent->trouble);
    free(agent->directory);
    free(agent);
    squeeze_rest();
}

const char *agent_where(const struct agent *agent) { return agent->where; }
bool agent_knows(const struct agent *agent) { return agent->here || agent->said; }
const char *agent_trouble(const struct agent *agent)
{
    return agent->trouble ? agent->trouble : "";
}
bool agent_is_away(const struct agent *agent) { return !agent->here; }

bool agent_is_done(const struct agent *agent)
{
    for (size_t i = 0; i < agent->count; i++)
        if (agent->streams[i])
            return false;
    return true;
}

void agent_leave(const struct agent *agent)
{
    for (size_t i = 0; i < agent->count; i++)
        if (agent->streams[i])
            log_line("%s is not all at %s: poet server --to %s goes on, poet merge orders it here",
                     agent->streams[i]->path, agent->where, agent->where);
}
