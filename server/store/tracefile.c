/* Writing a trace file. */
#define _GNU_SOURCE
#include "server/store/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#ifndef REGION_BYTES /* tests make it small */
#define REGION_BYTES (4u << 20)
#endif

static void *more(void *array, size_t *room, size_t need, size_t each)
{
    if (need <= *room)
        return array;
    *room = *room ? 2 * *room : 8;
    array = realloc(array, *room * each);
    if (!array) {
        fprintf(stderr, "poet server: out of memory\n");
        abort();
    }
    return array;
}

static bool write_at(int fd, const void *bytes, size_t size, uint64_t at)
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

static void keep(struct tracefile *file, uint64_t place, uint64_t room)
{
    file->kept = more(file->kept, &file->kept_room, file->kept_count + 1, sizeof *file->kept);
    file->kept[file->kept_count++] = (struct area){place, room};
}

/* ---- life ---- */

static int create_numbered(const char *path, char **used)
{
    for (unsigned i = 1; i < 10000; i++) {
        const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
        if (!dot || (slash && dot < slash))
            dot = path + strlen(path);
        int n = i == 1 ? asprintf(used, "%s", path)
                       : asprintf(used, "%.*s-%u%s", (int)(dot - path), path, i, dot);
        if (n < 0)
            return -1;
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
    struct tracefile *file = fd < 0 ? NULL : calloc(1, sizeof *file);
    uint8_t head[TRACEFILE_HEAD_BYTES] = TRACEFILE_MAGIC;
    if (file) {
        snprintf(file->name, sizeof file->name, "%.35s", run);
        set_u32(head + 8, TRACEFILE_VERSION);
        memcpy(head + 12, file->name, TRACEFILE_NAME_BYTES - 1);
        file->fd = fd;
        file->region = (struct region){TRACEFILE_HEAD_BYTES, NO_END, 1, false};
        file->at = file->claimed = file->end = TRACEFILE_HEAD_BYTES;
        file->region_bytes = REGION_BYTES;
        pthread_mutex_init(&file->lock, NULL);
        mark_begin(file);
        keep(file, 0, TRACEFILE_HEAD_BYTES);
        tracefile_lock(file, true);
        if (write_at(fd, head, sizeof head, 0) && reserve(file, 0))
            return file;
    }
    int e = errno;
    if (*used && fd >= 0)
        unlink(*used);
    if (!file && fd >= 0)
        close(fd);
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

void tracefile_close(struct tracefile *file)
{
    if (!file)
        return;
    reserve_give_back(file);
    out_free(&file->journal);
    out_free(&file->parts);
    marks_free(file);
    pthread_mutex_destroy(&file->lock);
    free(file->old);
    free(file->free);
    free(file->kept);
    close(file->fd);
    free(file);
}

/* ---- the journal ---- */

static void put_chunk(struct out *out, struct chunk chunk)
{
    uint8_t head[CHUNK_HEAD_BYTES];
    chunk_head(head, &chunk);
    put_bytes(out, head, sizeof head);
    put_bytes(out, chunk.data, chunk.size);
}

/* A free region that is large enough, or a new one. */
static struct region take_region(struct tracefile *file, uint64_t bytes)
{
    uint32_t epoch = file->region.epoch + 1;
    for (size_t i = 0; i < file->free_count; i++) {
        struct region region = file->free[i];
        if (region.end - region.begin < bytes)
            continue;
        file->free[i] = file->free[--file->free_count];
        file->given_back -= region.hole ? region.end - region.begin : 0;
        region.hole = false;
        region.epoch = epoch;
        return region;
    }
    if (bytes < file->region_bytes)
        bytes = file->region_bytes;
    struct region region = {file->end, file->end + bytes, epoch, false};
    file->end += bytes;
    return region;
}

/* The first region ends where something else is to be put behind it. */
static void close_first_region(struct tracefile *file)
{
    if (file->region.end != NO_END)
        return;
    file->region.end = file->claimed + reserve_bytes(file) + NEXT_BYTES;
    file->end = file->region.end;
}

/* Goes on in another region, with room for so many bytes. */
static void go_on(struct tracefile *file, uint64_t bytes)
{
    if (file->journal.failed)
        return; /* what lies before did not fit: it is not left behind */
    close_first_region(file);
    struct region next = take_region(file, bytes + reserve_bytes(file) + NEXT_BYTES);
    uint64_t reserved = file->reserved;
    file->reserved = 0;
    bool room = reserve_at(file, next.begin, bytes, next.end);
    uint8_t data[24];
    set_u64(data, next.begin);
    set_u64(data + 8, next.end);
    set_u64(data + 16, next.epoch);
    put_chunk(&file->journal, (struct chunk){.kind = CHUNK_NEXT, .epoch = file->region.epoch,
                                             .data = data, .size = sizeof data});
    file->old = more(file->old, &file->old_room, file->old_count + 1, sizeof *file->old);
    file->old[file->old_count++] = file->region;
    /* What is in memory goes to where it belongs now; if there is no room, it is tried again. */
    struct out rest = file->journal;
    if (!room || !write_at(file->fd, rest.data, rest.size, file->at)) {
        file->reserved = reserved;
        file->old_count--;
        file->free = more(file->free, &file->free_room, file->free_count + 1, sizeof *file->free);
        file->free[file->free_count++] = next;
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

static void append(struct tracefile *file, struct chunk chunk, uint64_t spare)
{
    uint64_t need = CHUNK_HEAD_BYTES + (uint64_t)chunk.size;
    pthread_mutex_lock(&file->lock);
    if (file->region.end != NO_END &&
        file->at + file->journal.size + need + spare + NEXT_BYTES > file->region.end)
        go_on(file, need);
    chunk.epoch = file->region.epoch;
    put_chunk(&file->journal, chunk);
    file->claimed = file->at + file->journal.size;
    pthread_mutex_unlock(&file->lock);
}

void tracefile_append(struct tracefile *file, struct chunk chunk)
{
    append(file, chunk, reserve_bytes(file));
}

void tracefile_append_last(struct tracefile *file, struct chunk chunk) { append(file, chunk, 0); }

/* Parts are written when they can be; what is not written is still in memory. */
static bool flush_parts(struct tracefile *file)
{
    if (file->reading)
        return true;
    bool stuck = file->parts.size &&
                 !write_at(file->fd, file->parts.data, file->parts.size, file->parts_at);
    atomic_store(&file->stuck, stuck);
    if (stuck)
        return false;
    if (file->parts.size)
        file->written = file->parts_at + file->parts.size;
    file->parts.size = 0;
    return true;
}

bool tracefile_settle(struct tracefile *file) { return flush_parts(file); }

/* Cuts off what was written in part, while nothing lies behind it. */
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
        reserve(file, 0);
    }
    errno = e;
}

/* Writes bytes where the journal goes on. */
static bool write_journal(struct tracefile *file, const void *bytes, size_t size, bool failed)
{
    failed |= file->torn && !cut_torn(file);
    bool written = !failed;
    if (!failed)
        failed = !write_at(file->fd, bytes, size, file->at);
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
        file->told_epoch = file->region.epoch;
        file->told_at = file->at;
    }
    return !failed;
}

static bool parts_fit(struct tracefile *file)
{
    if (!file->lagging)
        return flush_parts(file);
    errno = ENOSPC;
    return !atomic_load(&file->stuck);
}

bool tracefile_flush(struct tracefile *file)
{
    bool room = !file->journal.size || reserve(file, file->journal.size);
    return flush_journal(file, !parts_fit(file) || !room);
}

bool tracefile_flush_last(struct tracefile *file) { return flush_journal(file, false); }

uint64_t tracefile_unflushed(const struct tracefile *file) { return file->journal.size; }

/* ---- without a copy ---- */

/* Where the order is behind, the first region is not left open for ever. */
static bool is_full(const struct tracefile *file, uint64_t need)
{
    if (file->region.end == NO_END)
        return file->lagging && file->at - file->region.begin >= file->region_bytes;
    return file->at + need + NEXT_BYTES > file->region.end;
}

#define ROOM_MOST (1u << 20)

bool tracefile_begin(struct tracefile *file, uint64_t least, bool last, struct journal_room *room)
{
    uint64_t spare = last ? 0 : reserve_bytes(file);
    if (!last && !parts_fit(file))
        return false;
    pthread_mutex_lock(&file->lock);
    if (is_full(file, least + spare))
        go_on(file, least);
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
    return write_journal(file, bytes, size, !last && !reserve(file, size));
}

/* ---- how far it was told ---- */

void tracefile_lagging(struct tracefile *file) { file->lagging = true; }

void tracefile_told(struct tracefile *file, uint32_t epoch, uint64_t at, uint64_t bytes)
{
    file->told_epoch = epoch;
    file->told_at = at;
    file->unsaved += bytes;
}

uint32_t tracefile_epoch(const struct tracefile *file) { return file->marked; }
uint64_t tracefile_unsaved(const struct tracefile *file) { return file->unsaved; }

#define REGION_LEAST (512u << 10)

void tracefile_small_regions(struct tracefile *file, uint64_t most_bytes)
{
    most_bytes = most_bytes > REGION_LEAST ? most_bytes : REGION_LEAST;
    if (file->region_bytes > most_bytes)
        file->region_bytes = most_bytes;
}

uint64_t tracefile_region_bytes(const struct tracefile *file) { return file->region_bytes; }

/* ---- parts ---- */

/* Takes room behind everything else; its place. */
static uint64_t take_end(struct tracefile *file, uint64_t bytes)
{
    pthread_mutex_lock(&file->lock);
    close_first_region(file); /* nothing may be put behind it while it is open */
    uint64_t place = file->end;
    file->end += bytes;
    pthread_mutex_unlock(&file->lock);
    return place;
}

uint64_t tracefile_put(struct tracefile *file, unsigned kind, const void *bytes, size_t size)
{
    uint64_t place = take_end(file, CHUNK_HEAD_BYTES + size);
    if (file->parts.size && file->parts_at + file->parts.size != place)
        flush_parts(file); /* a region lies between; if there is no room, see below */
    if (file->parts.size && file->parts_at + file->parts.size != place) {
        /* The disk is full: fill up to the end, so that the parts stay one run of bytes. */
        static const uint8_t nothing[4096];
        for (uint64_t gap; (gap = place - file->parts_at - file->parts.size) > 0;)
            put_bytes(&file->parts, nothing, gap < sizeof nothing ? gap : sizeof nothing);
    }
    if (file->parts.size == 0)
        file->parts_at = place;
    put_chunk(&file->parts, (struct chunk){.kind = (uint16_t)kind, .data = bytes,
                                           .size = (uint32_t)size});
    if (kind == CHUNK_NEWS)
        keep(file, place, CHUNK_HEAD_BYTES + size);
    if (file->parts.size > (1u << 20))
        flush_parts(file);
    return place;
}

/* ---- states ---- */

uint64_t slot_check(const uint8_t *slot, unsigned i) { return XXH3_64bits_withSeed(slot, 16, i + 1); }

/* Finds room for a state of this size: an area of its own for every second one. */
static struct area *area_for(struct tracefile *file, size_t size)
{
    struct area *area = &file->areas[file->states % 2];
    if (area->room >= size)
        return area;
    if (area->room) /* too small by now: its room goes back to the file system */
        fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)area->place,
                  (off_t)area->room);
    *area = (struct area){take_end(file, size + size / 2), size + size / 2};
    keep(file, area->place, area->room);
    return area;
}

static void put_state_head(struct tracefile *file, struct out *out, uint64_t news, const struct mark *from)
{
    pthread_mutex_lock(&file->lock);
    close_first_region(file);
    struct region region = region_of(file, from->epoch);
    pthread_mutex_unlock(&file->lock);
    put_u64(out, news);
    put_u64(out, from->at);
    put_u64(out, region.end);
    put_u64(out, from->epoch);
    put_u64(out, file->marked);
    put_u64(out, file->written);
    put_u64(out, file->told_epoch);
    put_u64(out, file->told_at);
    put_u64(out, from->number);
    put_u64(out, from->threads.size);
    put_bytes(out, from->threads.data, from->threads.size);
}

static bool write_state(struct tracefile *file, const uint8_t *state, size_t size, uint64_t news,
                        const struct mark *from)
{
    struct out out = {0};
    put_state_head(file, &out, news, from);
    put_bytes(&out, state, size);
    uint8_t head[CHUNK_HEAD_BYTES];
    struct chunk chunk = {.kind = CHUNK_STATE, .data = out.data, .size = (uint32_t)out.size};
    struct area *area = area_for(file, sizeof head + out.size);
    uint8_t slot[SLOT_BYTES_HEAD];
    set_u64(slot, area->place);
    set_u64(slot + 8, file->states + 1);
    set_u64(slot + 16, slot_check(slot, file->states % 2));
    if (!out.failed)
        chunk_head(head, &chunk);
    bool ok = !out.failed && write_at(file->fd, head, sizeof head, area->place) &&
              write_at(file->fd, out.data, out.size, area->place + sizeof head) &&
              write_at(file->fd, slot, sizeof slot,
                       SLOT_AT + SLOT_BYTES_HEAD * (file->states % 2));
    file->states += ok;
    /* States are written again and again: regions as long as four of them keep that cheap. */
    if (4 * out.size > file->region_bytes)
        file->region_bytes = 4 * out.size;
    out_free(&out);
    return ok;
}

#define FREE_MOST ((uint64_t)64 << 20) /* of regions that wait to be written again */

/* What is free beyond that goes back to the file system until it is needed. */
static void give_back_region(struct tracefile *file, struct region *region)
{
    uint64_t kept = 0;
    for (size_t i = 0; i < file->free_count; i++)
        kept += file->free[i].hole ? 0 : file->free[i].end - file->free[i].begin;
    if (kept <= FREE_MOST)
        return;
    region->hole = fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)region->begin,
                             (off_t)(region->end - region->begin)) == 0;
    file->given_back += region->hole ? region->end - region->begin : 0;
}

static void free_regions(struct tracefile *file, uint32_t oldest)
{
    size_t gone = 0;
    pthread_mutex_lock(&file->lock);
    while (gone < file->old_count && file->old[gone].epoch < oldest) {
        file->free = more(file->free, &file->free_room, file->free_count + 1, sizeof *file->free);
        file->free[file->free_count++] = file->old[gone++];
        give_back_region(file, &file->free[file->free_count - 1]);
    }
    memmove(file->old, file->old + gone, (file->old_count - gone) * sizeof *file->old);
    file->old_count -= gone;
    pthread_mutex_unlock(&file->lock);
}

bool tracefile_save(struct tracefile *file, const uint8_t *state, size_t size, uint64_t news,
                    uint32_t oldest, struct chunk threads)
{
    if (size > CHUNK_STATE_MAX - 128 - threads.size ||
        !(file->lagging ? flush_parts(file) : tracefile_flush(file)))
        return false;
    const struct mark *from = mark_set(file, oldest, threads);
    if (!write_state(file, state, size, news, from))
        return false;
    free_regions(file, from->epoch);
    marks_drop(file, from->number);
    file->unsaved = 0;
    return true;
}

uint64_t tracefile_end(struct tracefile *file)
{
    pthread_mutex_lock(&file->lock);
    uint64_t end = file->end;
    pthread_mutex_unlock(&file->lock);
    return end;
}

uint64_t tracefile_kept(struct tracefile *file)
{
    pthread_mutex_lock(&file->lock);
    uint64_t end = file->region.end == NO_END ? file->at : file->end, kept = end - file->given_back;
    pthread_mutex_unlock(&file->lock);
    return kept;
}

static int by_place(const void *a, const void *b)
{
    uint64_t x = ((const struct area *)a)->place, y = ((const struct area *)b)->place;
    return x < y ? -1 : x > y;
}

static void give_back(struct tracefile *file, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    /* Not every file system can; then the room stays taken. */
    if (fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                  (off_t)(to - from)) == 0)
        file->given_back += to - from;
}

/* What must stay, in the order of places. */
static struct area *hands_off(const struct tracefile *file, size_t *count)
{
    struct area *areas = NULL;
    size_t room = 0;
    for (size_t i = 0; i < file->kept_count; i++) {
        areas = more(areas, &room, *count + 1, sizeof *areas);
        areas[(*count)++] = file->kept[i];
    }
    const struct region *lists[] = {file->old, file->free, &file->region};
    const size_t counts[] = {file->old_count, file->free_count, 1};
    for (size_t l = 0; l < 3; l++)
        for (size_t i = 0; i < counts[l]; i++) {
            areas = more(areas, &room, *count + 1, sizeof *areas);
            areas[(*count)++] = (struct area){lists[l][i].begin, lists[l][i].end - lists[l][i].begin};
        }
    qsort(areas, *count, sizeof *areas, by_place);
    return areas;
}

void tracefile_forget(struct tracefile *file, uint64_t place)
{
    size_t count = 0;
    pthread_mutex_lock(&file->lock);
    struct area *areas = hands_off(file, &count);
    uint64_t at = file->forgotten;
    for (size_t i = 0; i < count && at < place; i++) {
        uint64_t end = areas[i].place + areas[i].room;
        give_back(file, at, areas[i].place < place ? areas[i].place : place);
        at = end > at ? end : at;
    }
    give_back(file, at, place);
    file->forgotten = place > file->forgotten ? place : file->forgotten;
    pthread_mutex_unlock(&file->lock);
    free(areas);
}
