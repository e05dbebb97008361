#define _GNU_SOURCE
#include "server/tracefile/journal_follow.h"

#include "base/alloc.h"
#include "server/tracefile/tracefile_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STRETCH_BYTES (256u << 10)
#define STATES_AT 48u /* in the file's head: the two places of checkpoints */
#define STATES_BYTES 48u

struct journal_follower {
    int fd;
    struct journal_position place;
    uint8_t *bytes; /* part of the file in memory, from `from` */
    uint64_t from;
    size_t count, room;
};

/* Returns why the file cannot be read, else NULL. The last parameter requires that the journal
 * is complete from its begin on. */
static const char *trouble_of(int fd, bool fresh)
{
    static const uint8_t none[STATES_BYTES];
    uint8_t head[TRACEFILE_HEAD_BYTES];
    struct stat st;
    if (fstat(fd, &st) < 0)
        return strerror(errno);
    if (!S_ISREG(st.st_mode) || tracefile_read_at(fd, head, sizeof head, 0) != sizeof head)
        return "not a Poet trace file";
    const char *why = tracefile_head_error(head);
    if (why)
        return why;
    if (fresh && memcmp(head + STATES_AT, none, sizeof none) != 0)
        return "already ordered by a server, which has overwritten a part of the journal; only "
               "agent journals and short runs can be ordered again";
    return NULL;
}

static struct journal_follower *
journal_follower_open(const char *path, bool fresh, struct journal_position place, const char **why)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == EACCES || errno == EROFS))
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *why = fd < 0 ? strerror(errno) : trouble_of(fd, fresh);
    if (*why) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct journal_follower *following = xcalloc(1, sizeof *following);
    following->fd = fd;
    following->place = place;
    return following;
}

struct journal_follower *journal_follower_new(const char *path, const char **why)
{
    return journal_follower_open(
        path, true, (struct journal_position){TRACEFILE_HEAD_BYTES, UINT64_MAX, 1, 0}, why);
}

struct journal_follower *journal_follower_from(const char *path, struct journal_position place,
                                               const char **why)
{
    return journal_follower_open(path, false, place, why);
}

void journal_follower_free(struct journal_follower *following)
{
    if (!following)
        return;
    close(following->fd);
    free(following->bytes);
    free(following);
}

/* Returns `size` bytes at a place, or NULL if the file has none there. fresh: reads them again,
 * since they may have been written meanwhile. */
static const uint8_t *journal_follower_read_bytes(struct journal_follower *f, uint64_t at,
                                                  size_t size, bool fresh)
{
    if (!fresh && at >= f->from && at - f->from <= f->count && f->count - (at - f->from) >= size)
        return f->bytes + (at - f->from);
    size_t wanted = size < STRETCH_BYTES ? STRETCH_BYTES : size;
    f->bytes = array_reserve(f->bytes, &f->room, wanted, 1);
    f->from = at;
    f->count = tracefile_read_at(f->fd, f->bytes, wanted, at);
    return f->count >= size ? f->bytes : NULL;
}

static bool chunk_there(struct journal_follower *f, struct chunk *chunk, bool fresh)
{
    uint64_t at = f->place.at;
    const uint8_t *head = journal_follower_read_bytes(f, at, CHUNK_HEAD_BYTES, fresh);
    if (!head || !chunk_read_head(head, chunk) || chunk->epoch != f->place.epoch ||
        at + CHUNK_HEAD_BYTES + chunk->size > f->place.end)
        return false;
    head = journal_follower_read_bytes(f, at, CHUNK_HEAD_BYTES + (size_t)chunk->size, false);
    if (!head || !chunk_is_whole(head, head + CHUNK_HEAD_BYTES, chunk->size))
        return false;
    chunk->data = head + CHUNK_HEAD_BYTES;
    return true;
}

/* Continues in the region that a NEXT chunk names; returns false if the chunk is invalid. */
static bool journal_follower_next_region(struct journal_follower *f, const struct chunk *chunk)
{
    uint64_t chunks = f->place.chunk;
    struct journal_position next = {chunk_get_u64(chunk->data), chunk_get_u64(chunk->data + 8),
                                    (uint32_t)chunk_get_u64(chunk->data + 16), chunks};
    if (chunk->size != 24 || next.epoch != f->place.epoch + 1 || next.at >= next.end ||
        next.at < TRACEFILE_HEAD_BYTES)
        return false;
    f->place = next;
    return true;
}

bool journal_follower_next(struct journal_follower *following, struct chunk *chunk)
{
    for (;;) {
        if (!chunk_there(following, chunk, false) && !chunk_there(following, chunk, true))
            return false;
        if (chunk->kind != CHUNK_NEXT)
            break;
        if (chunk->size != 24 || !journal_follower_next_region(following, chunk))
            return false;
    }
    following->place.at += CHUNK_HEAD_BYTES + (uint64_t)chunk->size;
    following->place.chunk++;
    return true;
}

struct journal_position journal_follower_position(const struct journal_follower *following)
{
    return following->place;
}
void journal_follower_seek(struct journal_follower *following, struct journal_position place)
{
    following->place = place;
}

bool journal_follower_lock(struct journal_follower *following)
{
    return flock(following->fd, LOCK_EX | LOCK_NB) == 0;
}

bool journal_follower_is_truncated(struct journal_follower *following)
{
    const uint8_t *head = journal_follower_read_bytes(following, following->place.at, 4, true);
    return head && chunk_get_u32(head) != 0;
}

bool journal_follower_append(struct journal_follower *following, struct chunk chunk)
{
    uint8_t *bytes = xmalloc(CHUNK_HEAD_BYTES + (size_t)chunk.size);
    chunk.epoch = following->place.epoch;
    chunk_head(bytes, &chunk);
    if (chunk.size)
        memcpy(bytes + CHUNK_HEAD_BYTES, chunk.data, chunk.size);
    ssize_t size = (ssize_t)(CHUNK_HEAD_BYTES + chunk.size);
    bool written = following->place.at + (uint64_t)size <= following->place.end &&
                   pwrite(following->fd, bytes, (size_t)size, (off_t)following->place.at) == size;
    free(bytes);
    return written;
}
