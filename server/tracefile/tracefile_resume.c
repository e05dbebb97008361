/* Resumes a trace file after its server was killed, at the end of its journal. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "server/tracefile/agent_positions.h"
#include "server/tracefile/checkpoints.h"
#include "server/tracefile/file_space.h"
#include "server/tracefile/journal_follow.h"
#include "server/tracefile/restart_points.h"
#include "server/tracefile/tracefile_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct resume_scan {
    struct tracefile *file;
    struct journal_follower *following;
    struct delivered_until delivered; /* chunks are visited from this place on */
    resuming_visit *visit; /* NULL: only the journal's end is searched */
    void *context;
    struct journal_position end; /* the place where the journal continues */
};

static bool resume_is_known(const struct resume_scan *w, const struct journal_position *at)
{
    return at->epoch < w->delivered.epoch ||
           (at->epoch == w->delivered.epoch && at->at < w->delivered.at);
}

static void resume_leave_region(struct tracefile *file, const struct journal_position *place,
                                uint64_t next)
{
    struct tracefile_region *region = &file->region;
    region->end = region->end == NO_END ? next : region->end;
    file_space_add_region(&file->old, *region);
    *region = (struct tracefile_region){place->at, place->end, place->epoch, false};
}

/* Returns whether the next `bytes` bytes are whole chunks; the follower's position is restored. */
static bool resume_is_whole(struct resume_scan *w, uint64_t bytes)
{
    struct journal_position begin = journal_follower_position(w->following), at = begin;
    struct chunk chunk;
    while (at.epoch == begin.epoch && at.at < begin.at + bytes &&
           journal_follower_next(w->following, &chunk))
        at = journal_follower_position(w->following);
    journal_follower_seek(w->following, begin);
    return at.epoch == begin.epoch && at.at == begin.at + bytes;
}

static bool resume_is_batch_whole(struct resume_scan *w, const struct chunk *chunk)
{
    struct agent_position_mark mark;
    struct decoder in = decoder_init(chunk->data, chunk->size);
    bool good = agent_position_decode(&in, &mark);
    uint64_t bytes = mark.bytes;
    agent_position_mark_free(&mark);
    return good && resume_is_whole(w, bytes);
}

/* Scans the journal up to the end of its last whole batch. */
static void resume_scan_journal(struct resume_scan *w)
{
    struct chunk chunk;
    w->end = journal_follower_position(w->following);
    while (journal_follower_next(w->following, &chunk)) {
        struct journal_position next = journal_follower_position(w->following);
        uint64_t size = CHUNK_HEAD_BYTES + (uint64_t)chunk.size;
        struct journal_position at = next;
        at.at -= size; /* not w->end: the chunk may lie in another region */
        bool known = resume_is_known(w, &at), mark = chunk.kind == CHUNK_REACHED;
        if (next.epoch != w->end.epoch) {
            struct journal_position begin = at;
            resume_leave_region(w->file, &begin, w->end.at + NEXT_BYTES);
        }
        if (!known && mark) {
            struct encoder kept = {0};
            encode_bytes(&kept, chunk.data, chunk.size);
            chunk.data = kept.data;
            bool whole = !kept.failed && resume_is_batch_whole(w, &chunk);
            if (whole && w->visit)
                w->visit(w->context, at.at, chunk);
            encoder_free(&kept);
            w->end = whole ? next : at;
            if (!whole)
                return;
            continue;
        }
        if (!known && w->visit)
            w->visit(w->context, at.at, chunk);
        w->end = next;
    }
}

/* Cuts off or clears what follows the last whole batch, so that it is not taken for journal. */
static bool resume_truncate_tail(struct tracefile *file)
{
    struct stat st;
    static const uint8_t nothing[4096];
    if (fstat(file->fd, &st) < 0)
        return false;
    file->end = (uint64_t)st.st_size;
    if (file->region.end == NO_END) {
        file->end = file->at;
        return ftruncate(file->fd, (off_t)file->at) == 0;
    }
    uint64_t end = file->region.end < file->end ? file->region.end : file->end;
    for (size_t i = 0; i <= file->old.count; i++) {
        uint64_t to = i < file->old.count ? file->old.items[i].end : file->region.end;
        file->end = to > file->end ? to : file->end;
    }
    if (file->at >= end || fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                     (off_t)file->at, (off_t)(end - file->at)) == 0)
        return true;
    for (uint64_t at = file->at; at < end; at += sizeof nothing)
        if (!tracefile_write_at(file->fd, nothing,
                                end - at < sizeof nothing ? end - at : sizeof nothing, at))
            return false;
    return true;
}

static void resume_continue_after(struct tracefile *file, const struct newest_checkpoint *state)
{
    struct rests *rests = &file->rests[(state->serial - 1) % 2];
    rests->count = state->head.part_count;
    rests->places = xmalloc((rests->count + 1) * sizeof *rests->places);
    for (size_t i = 0; i < rests->count; i++) /* sorted by place below, as freeing requires */
        rests->places[i] = chunk_get_u64(state->head.parts + 8 * i);
    qsort(rests->places, rests->count, sizeof *rests->places, file_space_by_place);
}

static void resume_apply_checkpoint(struct tracefile *file, const struct newest_checkpoint *state)
{
    file->region = state->from;
    file->region_bytes = file->least_region_bytes = REGION_BYTES;
    restart_point_begin(file);
    file->delivered = state->delivered;
    if (!state->place)
        return;
    struct restart_point *mark = &file->marks.items[0];
    mark->number = state->from_number;
    mark->delivered = (struct delivered_until){state->from.epoch, state->from.begin};
    encode_bytes(&mark->threads, state->head.threads, (size_t)state->head.thread_bytes);
    file->marks.newest = state->number;
    file->states = state->serial;
    file->news = chunk_get_u64(state->data);
    file->parts.written = chunk_get_u64(state->data + 40);
    resume_continue_after(file, state);
}

static bool resume_open_journal(struct tracefile *file, struct resume_scan *w, const char *path,
                                const char **why)
{
    struct newest_checkpoint state;
    *why = "it is damaged";
    bool good = checkpoint_find_newest(file, &state);
    if (good)
        resume_apply_checkpoint(file, &state);
    const struct tracefile_region *from = &file->region;
    struct journal_position place = {from->begin, from->end, from->epoch, 0};
    free(state.data);
    w->delivered = file->delivered;
    w->following = good ? journal_follower_from(path, place, why) : NULL;
    if (!w->following)
        return false;
    resume_scan_journal(w);
    journal_follower_free(w->following);
    *why = "its journal ends before its newest state";
    if (resume_is_known(w, &w->end))
        return false;
    file->at = file->claimed = w->end.at;
    *why = "its incomplete last part cannot be cut off";
    file->reading = !resume_truncate_tail(file);
    return !file->reading;
}

/* Opens the file for writing and locks it; fails if another server has locked it. */
static bool resume_take_ownership(struct tracefile *file, const char *path, const char **why)
{
    struct stat here, there;
    uint8_t head[TRACEFILE_HEAD_BYTES];
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    *why = fd < 0 ? strerror(errno) : NULL;
    if (fd >= 0 && (fstat(fd, &here) < 0 || fstat(file->fd, &there) < 0 ||
                    here.st_ino != there.st_ino || here.st_dev != there.st_dev))
        *why = "it is another one now";
    else if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
        *why = "in use by another server";
    if (fd < 0)
        return false;
    close(file->fd);
    file->fd = fd;
    if (!*why && tracefile_read_at(fd, head, sizeof head, 0) != sizeof head)
        *why = "its head cannot be read";
    if (!*why)
        file->holds = (uint8_t)tracefile_held(head);
    return !*why;
}

struct tracefile *tracefile_resume(const char *path, resuming_visit *visit, void *context,
                                   const char **why)
{
    struct tracefile *file = tracefile_open(path, why);
    struct resume_scan w = {.file = file, .visit = visit, .context = context};
    if (!file)
        return NULL;
    file->end = 0;
    if (resume_take_ownership(file, path, why) && resume_open_journal(file, &w, path, why)) {
        *why = NULL;
        return file;
    }
    file->reading = true;
    tracefile_close(file);
    return NULL;
}

uint64_t tracefile_updates(const struct tracefile *file) { return file->news; }
