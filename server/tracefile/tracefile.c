#define _GNU_SOURCE
#include "server/tracefile/tracefile.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "server/tracefile/checkpoints.h"
#include "server/tracefile/file_space.h"
#include "server/tracefile/restart_points.h"
#include "server/tracefile/tracefile_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ----
 *
 * Files are read, not mapped: a file that is truncated meanwhile would raise SIGBUS.  They may be
 * written meanwhile, too. */

size_t tracefile_read_at(int fd, void *bytes, size_t size, uint64_t at)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, (char *)bytes + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* ---- single chunks ---- */

uint8_t *chunk_get(const struct tracefile *file, unsigned kind, uint64_t place, struct chunk *chunk)
{
    uint8_t head[CHUNK_HEAD_BYTES];
    if (place < TRACEFILE_HEAD_BYTES || place > INT64_MAX ||
        tracefile_read_at(file->fd, head, sizeof head, place) != sizeof head ||
        !chunk_read_head(head, chunk) || chunk->kind != kind)
        return NULL;
    struct stat st; /* a size that the file cannot have is not allocated */
    if (chunk->size > (1u << 20) &&
        (fstat(file->fd, &st) < 0 || (uint64_t)st.st_size < place + chunk->size))
        return NULL;
    uint8_t *data =
        /* not xmalloc(): the file states the size, which damage can make too large */
        malloc((size_t)chunk->size + 8);
    if (!data)
        return NULL;
    if (tracefile_read_at(file->fd, data, chunk->size, place + sizeof head) != chunk->size ||
        !chunk_is_whole(head, data, chunk->size)) {
        free(data);
        return NULL;
    }
    memset(data + chunk->size, 0, 8);
    chunk->data = data;
    return data;
}

uint8_t *tracefile_get(struct tracefile *file, unsigned kind, uint64_t place, size_t *size)
{
    struct chunk chunk;
    if (file->parts.bytes.size && place >= file->parts.place) { /* still in memory */
        uint64_t at = place - file->parts.place, size_known = file->parts.bytes.size;
        const uint8_t *head = file->parts.bytes.data + at;
        if (at > size_known || size_known - at < CHUNK_HEAD_BYTES ||
            !chunk_read_head(head, &chunk) || chunk.size > size_known - at - CHUNK_HEAD_BYTES)
            return NULL;
        uint8_t *data = xmalloc((size_t)chunk.size + 8);
        memcpy(data, head + CHUNK_HEAD_BYTES, chunk.size);
        memset(data + chunk.size, 0, 8);
        *size = chunk.size;
        return data;
    }
    uint8_t *data = chunk_get(file, kind, place, &chunk);
    *size = data ? chunk.size : 0;
    return data;
}

/* ---- opening ---- */

const char *tracefile_head_error(const uint8_t *head)
{
    const char *why = tracehead_error(head);
    return why                                            ? why
           : chunk_get_u32(head + 8) != TRACEFILE_VERSION ? "written by a different version of Poet"
                                                          : NULL;
}

static struct tracefile_stamp tracefile_stamp_of(const struct stat *st)
{
    return (struct tracefile_stamp){.bytes = (uint64_t)st->st_size,
                                    .changed_ns = (int64_t)timespec_ns(st->st_mtim),
                                    .mode = st->st_mode};
}

struct tracefile *tracefile_open(const char *path, const char **why)
{
    uint8_t head[TRACEFILE_HEAD_BYTES];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a FIFO must not block */
    *why = NULL;
    if (fd < 0 || fstat(fd, &st) < 0)
        *why = strerror(errno);
    else if (!S_ISREG(st.st_mode) || tracefile_read_at(fd, head, sizeof head, 0) != sizeof head)
        *why = "not a Poet trace file";
    else
        *why = tracefile_head_error(head);
    if (*why) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct tracefile *file = xcalloc(1, sizeof *file);
    file->fd = fd;
    memcpy(file->name, head + 12, TRACEFILE_NAME_BYTES);
    pthread_mutex_init(&file->lock, NULL);
    file->size = (uint64_t)st.st_size;
    file->reading = true;
    file->opened = tracefile_stamp_of(&st);
    file->locked = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    flock(fd, LOCK_UN); /* a server may want to lock it, to resume it */
    file->end = file->parts.place = PARTS_IN_MEMORY;
    return file;
}

bool tracefile_get_stamp(const struct tracefile *file, struct tracefile_stamp *stamp)
{
    struct stat st;
    if (file->reading)
        *stamp = file->opened;
    else if (fstat(file->fd, &st) < 0)
        return false;
    else
        *stamp = tracefile_stamp_of(&st);
    return true;
}

bool tracefile_exists(const struct tracefile *file)
{
    struct stat st;
    return file && fstat(file->fd, &st) == 0 && st.st_nlink > 0;
}

bool tracefile_is_at(const struct tracefile *file, const char *path)
{
    struct stat st, there;
    return fstat(file->fd, &st) == 0 && stat(path, &there) == 0 && st.st_ino == there.st_ino &&
           st.st_dev == there.st_dev;
}

bool tracefile_is_written(const struct tracefile *file) { return file->locked; }

const char *tracefile_run(const struct tracefile *file) { return file->name; }

bool tracefile_read_back(const struct tracefile *file, uint64_t at, void *bytes, size_t size)
{
    return tracefile_read_at(file->fd, bytes, size, at) == size;
}

enum tracefile_holds tracefile_held(const uint8_t *head)
{
    uint8_t holds = head[TRACEFILE_HOLDS_OFFSET];
    bool known = (head[TRACEFILE_HOLDS_OFFSET + 1] ^ holds) == 0xff;
    return known && holds <= TRACEFILE_HOLDS_WHOLE     ? (enum tracefile_holds)holds
           : holds || head[TRACEFILE_HOLDS_OFFSET + 1] ? TRACEFILE_HOLDS_OWN
                                                       : TRACEFILE_HOLDS_SENT;
}

bool tracefile_write_at(int fd, const void *bytes, size_t size, uint64_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* ---- creating and closing ---- */

static int create_numbered(const char *path, char **used)
{
    for (unsigned i = 1; i < 10000; i++) {
        const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
        if (!dot || (slash && dot < slash))
            dot = path + strlen(path);
        *used = i == 1 ? xstrdup(path) : xasprintf("%.*s-%u%s", (int)(dot - path), path, i, dot);
        int fd = open(*used, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
        free(*used);
    }
    *used = NULL;
    errno = EEXIST;
    return -1;
}

struct tracefile *tracefile_create(const char *path, const char *run, char **used)
{
    *used = NULL;
    int fd = create_numbered(path, used);
    struct tracefile *file = fd < 0 ? NULL : xcalloc(1, sizeof *file);
    uint8_t head[TRACEFILE_HEAD_BYTES] = TRACEFILE_MAGIC;
    if (file) {
        snprintf(file->name, sizeof file->name, "%.35s", run);
        chunk_set_u32(head + 8, TRACEFILE_VERSION);
        memcpy(head + 12, file->name, TRACEFILE_NAME_BYTES - 1);
        file->fd = fd;
        file->region = (struct tracefile_region){TRACEFILE_HEAD_BYTES, NO_END, 1, false};
        file->at = file->claimed = file->end = TRACEFILE_HEAD_BYTES;
        file->region_bytes = file->least_region_bytes = REGION_BYTES;
        pthread_mutex_init(&file->lock, NULL);
        restart_point_begin(file);
        file_space_keep(&file->kept, 0, TRACEFILE_HEAD_BYTES);
        tracefile_lock(file, true);
        if (tracefile_write_at(fd, head, sizeof head, 0) && preallocation_reserve(file, 0))
            return file;
    }
    int e = errno;
    if (*used && fd >= 0)
        unlink(*used);
    tracefile_close(file);
    free(*used);
    *used = NULL;
    errno = e;
    return NULL;
}

void tracefile_lock(struct tracefile *file, bool more_comes)
{
    flock(file->fd, more_comes ? LOCK_EX | LOCK_NB : LOCK_UN);
}

/* Stores what the file holds: a byte and its complement, so that damage is noticed. */
static void tracefile_set_holds(struct tracefile *file, enum tracefile_holds holds)
{
    uint8_t bytes[2] = {(uint8_t)holds, (uint8_t)~holds};
    if (file->holds != holds && !file->reading &&
        tracefile_write_at(file->fd, bytes, sizeof bytes, TRACEFILE_HOLDS_OFFSET))
        file->holds = (uint8_t)holds;
}

void tracefile_is_live(struct tracefile *file, bool own)
{
    if (own || file->holds == TRACEFILE_HOLDS_WHOLE)
        tracefile_set_holds(file, TRACEFILE_HOLDS_OWN);
}

void tracefile_begun(struct tracefile *file, uint64_t wall_ns)
{
    uint8_t bytes[TRACEHEAD_BEGUN_BYTES];
    chunk_set_u64(bytes, wall_ns);
    chunk_set_u64(bytes + 8, ~wall_ns);
    if (!file->reading)
        tracefile_write_at(file->fd, bytes, sizeof bytes, TRACEHEAD_BEGUN_AT);
}

void tracefile_has_ended(struct tracefile *file)
{
    tracefile_set_holds(file, TRACEFILE_HOLDS_WHOLE);
}

void tracefile_close(struct tracefile *file)
{
    if (!file)
        return;
    preallocation_give_back(file);
    encoder_free(&file->journal);
    encoder_free(&file->parts.bytes);
    free(file->parts.gaps);
    restart_points_free(&file->marks);
    pthread_mutex_destroy(&file->lock);
    free(file->old.items);
    free(file->free.items);
    free(file->kept.areas);
    free(file->rests[0].places);
    free(file->rests[1].places);
    free(file->unused.items);
    close(file->fd);
    free(file);
}

/* ---- the journal ---- */

static void put_chunk(struct encoder *out, struct chunk chunk)
{
    uint8_t head[CHUNK_HEAD_BYTES];
    chunk_head(head, &chunk);
    encode_bytes(out, head, sizeof head);
    encode_bytes(out, chunk.data, chunk.size);
}

/* Returns a free region of at least `bytes`, or allocates one at the end of the file. */
static struct tracefile_region tracefile_use_region(struct tracefile *file, uint64_t bytes)
{
    uint32_t epoch = file->region.epoch + 1;
    for (size_t i = 0; i < file->free.count; i++) {
        struct tracefile_region region = file->free.items[i];
        if (region.end - region.begin < bytes)
            continue;
        file->free.items[i] = file->free.items[--file->free.count];
        file->kept.released -= region.hole ? region.end - region.begin : 0;
        region.hole = false;
        region.epoch = epoch;
        return region;
    }
    if (bytes < file->region_bytes)
        bytes = file->region_bytes;
    struct tracefile_region region = {file->end, file->end + bytes, epoch, false};
    file->end += bytes;
    return region;
}

void tracefile_close_first_region(struct tracefile *file)
{
    if (file->region.end != NO_END)
        return;
    file->region.end = file->claimed + preallocation_bytes(file) + NEXT_BYTES;
    file->end = file->region.end;
}

/* Continues the journal in another region with space for at least `bytes`. */
static void tracefile_next_region(struct tracefile *file, uint64_t bytes)
{
    if (file->journal.failed)
        /* what was to be written before did not fit: the journal must not continue after the gap */
        return;
    tracefile_close_first_region(file);
    struct tracefile_region next =
        tracefile_use_region(file, bytes + preallocation_bytes(file) + NEXT_BYTES);
    uint64_t reserved = file->reserved;
    file->reserved = 0;
    bool room = preallocation_at(file, next.begin, bytes, next.end);
    uint8_t data[24];
    chunk_set_u64(data, next.begin);
    chunk_set_u64(data + 8, next.end);
    chunk_set_u64(data + 16, next.epoch);
    put_chunk(&file->journal, (struct chunk){.kind = CHUNK_NEXT,
                                             .epoch = file->region.epoch,
                                             .data = data,
                                             .size = sizeof data});
    file_space_add_region(&file->old, file->region);
    /* What is in memory belongs to the region that is left, so it is written now.  Without space
     * the region is not left, which is tried again later. */
    struct encoder rest = file->journal;
    if (!room || !tracefile_write_at(file->fd, rest.data, rest.size, file->at)) {
        file->reserved = reserved;
        file->old.count--;
        file_space_add_region(&file->free, next);
        file->journal.size -= NEXT_BYTES;
        file->journal.failed = true;
        return;
    }
    if (!file->lagging)
        file->unsaved += rest.size;
    file->journal.size = 0;
    file->region = next;
    file->at = file->claimed = next.begin;
}

void tracefile_append(struct tracefile *file, struct chunk chunk)
{
    uint64_t need = CHUNK_HEAD_BYTES + (uint64_t)chunk.size, spare = preallocation_bytes(file);
    pthread_mutex_lock(&file->lock);
    if (file->region.end != NO_END &&
        file->at + file->journal.size + need + spare + NEXT_BYTES > file->region.end)
        tracefile_next_region(file, need);
    chunk.epoch = file->region.epoch;
    put_chunk(&file->journal, chunk);
    file->claimed = file->at + file->journal.size;
    pthread_mutex_unlock(&file->lock);
}

/* Writes the parts in memory, except the gaps, which hold regions of the journal. */
static bool write_parts(int fd, const struct part_buffer *parts)
{
    uint64_t at = parts->place;
    bool written = true;
    for (size_t i = 0; i <= parts->gap_count && written; i++) {
        uint64_t to =
            i < parts->gap_count ? parts->gaps[i].place : parts->place + parts->bytes.size;
        written = tracefile_write_at(fd, parts->bytes.data + (at - parts->place), to - at, at);
        at = i < parts->gap_count ? to + parts->gaps[i].room : to;
    }
    return written;
}

bool tracefile_flush_parts(struct tracefile *file)
{
    struct part_buffer *parts = &file->parts;
    if (file->reading)
        return true;
    bool stuck = parts->bytes.size && !write_parts(file->fd, parts);
    atomic_store(&file->stuck, stuck);
    if (stuck)
        return false;
    if (parts->bytes.size)
        parts->written = parts->place + parts->bytes.size;
    parts->bytes.size = 0;
    parts->gap_count = 0;
    return true;
}

bool tracefile_sync(struct tracefile *file)
{
    return !atomic_load(&file->stuck) || tracefile_flush_parts(file);
}

/* Cuts off an incomplete write at the end of the journal.  Only an open-ended region allows that,
 * as nothing lies behind it. */
static bool cut_torn(struct tracefile *file)
{
    bool cut = true;
    pthread_mutex_lock(&file->lock);
    if (file->torn && file->region.end == NO_END)
        cut = ftruncate(file->fd, (off_t)file->at) == 0;
    file->torn &= !cut;
    pthread_mutex_unlock(&file->lock);
    return cut;
}

static void clean_up(struct tracefile *file, bool written)
{
    int e = errno;
    file->torn = written;
    if (file->torn && cut_torn(file)) {
        file->reserved = 0;
        preallocation_reserve(file, 0);
    }
    errno = e;
}

/* Writes bytes at the end of the journal. */
static bool write_journal(struct tracefile *file, const void *bytes, size_t size, bool failed)
{
    failed |= file->torn && !cut_torn(file);
    bool written = !failed;
    if (!failed)
        failed = !tracefile_write_at(file->fd, bytes, size, file->at);
    if (failed)
        clean_up(file, written);
    pthread_mutex_lock(&file->lock);
    file->at += failed ? 0 : size;
    file->claimed = file->at;
    pthread_mutex_unlock(&file->lock);
    return !failed;
}

static bool flush_journal(struct tracefile *file, bool failed)
{
    size_t size = file->journal.size;
    failed = !write_journal(file, file->journal.data, size, failed || file->journal.failed);
    file->journal.size = 0;
    file->journal.failed = false;
    if (!failed && !file->lagging) {
        file->unsaved += size;
        file->delivered = (struct delivered_until){file->region.epoch, file->at};
    }
    return !failed;
}

static bool parts_fit(struct tracefile *file)
{
    if (!file->lagging)
        return tracefile_flush_parts(file);
    errno = ENOSPC;
    return !atomic_load(&file->stuck);
}

bool tracefile_flush(struct tracefile *file)
{
    bool room = !file->journal.size || preallocation_reserve(file, file->journal.size);
    return flush_journal(file, !parts_fit(file) || !room);
}

/* ---- appending without a copy ---- */

/* Returns whether the journal must continue in another region.  If the order lags behind, even the
 * open-ended first region is limited to the usual length. */
static bool is_full(const struct tracefile *file, uint64_t need)
{
    if (file->region.end == NO_END)
        return file->lagging && file->at - file->region.begin >= file->region_bytes;
    return file->at + need + NEXT_BYTES > file->region.end;
}

#define ROOM_MOST (1u << 20)

bool tracefile_begin(struct tracefile *file, uint64_t least, bool last, struct journal_room *room)
{
    if (!last && !parts_fit(file))
        return false;
    pthread_mutex_lock(&file->lock);
    uint64_t spare = last ? 0 : preallocation_bytes(file);
    if (is_full(file, least + spare))
        tracefile_next_region(file, least);
    bool failed = file->journal.failed;
    file->journal.failed = false;
    uint64_t end = file->region.end, most = least > ROOM_MOST ? least : ROOM_MOST;
    uint64_t there = end == NO_END ? most : end - file->at - spare - NEXT_BYTES;
    *room = (struct journal_room){file->region.epoch, file->at, there < most ? there : most};
    file->claimed = file->at + room->bytes;
    pthread_mutex_unlock(&file->lock);
    return !failed;
}

bool tracefile_write(struct tracefile *file, const void *bytes, size_t size, bool last)
{
    return write_journal(file, bytes, size, !last && !preallocation_reserve(file, size));
}

/* ---- delivery to the order ---- */

void tracefile_lagging(struct tracefile *file) { file->lagging = true; }

void tracefile_delivered(struct tracefile *file, uint32_t epoch, uint64_t at, uint64_t bytes)
{
    file->delivered = (struct delivered_until){epoch, at};
    file->unsaved += bytes;
}

uint32_t tracefile_epoch(const struct tracefile *file) { return file->marks.newest; }
uint64_t tracefile_unsaved(const struct tracefile *file) { return file->unsaved; }

#define REGION_LEAST (512u << 10)

void tracefile_small_regions(struct tracefile *file, uint64_t most_bytes)
{
    most_bytes = most_bytes > REGION_LEAST ? most_bytes : REGION_LEAST;
    if (file->least_region_bytes > most_bytes)
        file->region_bytes = file->least_region_bytes = most_bytes;
}

uint64_t tracefile_region_bytes(const struct tracefile *file) { return file->region_bytes; }

/* ---- parts ---- */

uint64_t tracefile_update_end(struct tracefile *file, uint64_t bytes)
{
    pthread_mutex_lock(&file->lock);
    tracefile_close_first_region(file); /* a part cannot be put behind an open-ended region */
    uint64_t place = file->end;
    file->end += bytes;
    pthread_mutex_unlock(&file->lock);
    return place;
}

/* Leaves out a region of the journal within the parts in memory: the disk is full, so they stay
 * one contiguous buffer. */
static void leave_gap(struct part_buffer *parts, uint64_t until)
{
    static const uint8_t nothing[4096];
    uint64_t from = parts->place + parts->bytes.size;
    parts->gaps =
        array_reserve(parts->gaps, &parts->gap_room, parts->gap_count + 1, sizeof *parts->gaps);
    parts->gaps[parts->gap_count++] = (struct checkpoint_area){from, until - from};
    for (uint64_t gap; (gap = until - parts->place - parts->bytes.size) > 0;)
        encode_bytes(&parts->bytes, nothing, gap < sizeof nothing ? gap : sizeof nothing);
}

uint64_t tracefile_put(struct tracefile *file, unsigned kind, const void *bytes, size_t size)
{
    struct part_buffer *parts = &file->parts;
    uint64_t place = tracefile_update_end(file, CHUNK_HEAD_BYTES + size);
    if (parts->bytes.size && parts->place + parts->bytes.size != place)
        /* a region lies between; without disk space the parts remain, and a gap is left for it */
        tracefile_flush_parts(file);
    if (parts->bytes.size && parts->place + parts->bytes.size != place)
        leave_gap(parts, place);
    if (parts->bytes.size == 0)
        parts->place = place;
    put_chunk(&parts->bytes,
              (struct chunk){.kind = (uint16_t)kind, .data = bytes, .size = (uint32_t)size});
    if (kind == CHUNK_NEWS)
        file_space_keep(&file->kept, place, CHUNK_HEAD_BYTES + size);
    if (parts->bytes.size > (1u << 20))
        tracefile_flush_parts(file);
    return place;
}
