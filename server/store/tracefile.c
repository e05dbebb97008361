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
        file->region = (struct region){TRACEFILE_HEAD_BYTES, NO_END, 1};
        file->at = file->end = TRACEFILE_HEAD_BYTES;
        file->region_bytes = REGION_BYTES;
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
    free(file->old);
    free(file->free);
    free(file->kept);
    free(file->rests[0].places);
    free(file->rests[1].places);
    free(file->unused.items);
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
        region.epoch = epoch;
        return region;
    }
    if (bytes < file->region_bytes)
        bytes = file->region_bytes;
    struct region region = {file->end, file->end + bytes, epoch};
    file->end += bytes;
    return region;
}

/* The first region ends where something else is to be put behind it. */
static void close_first_region(struct tracefile *file)
{
    if (file->region.end != NO_END)
        return;
    file->region.end = file->at + file->journal.size + reserve_bytes(file) + NEXT_BYTES;
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
    file->unsaved += rest.size;
    file->journal.size = 0;
    file->region = next;
    file->at = next.begin;
}

static void append(struct tracefile *file, struct chunk chunk, uint64_t spare)
{
    uint64_t need = CHUNK_HEAD_BYTES + (uint64_t)chunk.size;
    if (file->region.end != NO_END &&
        file->at + file->journal.size + need + spare + NEXT_BYTES > file->region.end)
        go_on(file, need);
    chunk.epoch = file->region.epoch;
    put_chunk(&file->journal, chunk);
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
    if (file->parts.size && !write_at(file->fd, file->parts.data, file->parts.size, file->parts_at))
        return false;
    if (file->parts.size)
        file->written = file->parts_at + file->parts.size;
    file->parts.size = 0;
    return true;
}

static bool flush_journal(struct tracefile *file, bool failed)
{
    size_t size = file->journal.size;
    failed |= file->journal.failed;
    if (file->torn && ftruncate(file->fd, (off_t)file->at) < 0)
        failed = true;
    else
        file->torn = false;
    bool written = !failed;
    if (!failed)
        failed = !write_at(file->fd, file->journal.data, size, file->at);
    file->journal.size = 0;
    file->journal.failed = false;
    if (failed) {
        int e = errno;
        file->torn = file->region.end == NO_END && written;
        if (file->torn && ftruncate(file->fd, (off_t)file->at) == 0) {
            file->torn = false;
            file->reserved = 0;
            reserve(file, 0);
        }
        errno = e;
        return false;
    }
    file->at += size;
    file->unsaved += size;
    return true;
}

bool tracefile_flush(struct tracefile *file)
{
    bool room = !file->journal.size || reserve(file, file->journal.size);
    return flush_journal(file, !flush_parts(file) || !room);
}

bool tracefile_flush_last(struct tracefile *file) { return flush_journal(file, false); }

uint64_t tracefile_unflushed(const struct tracefile *file) { return file->journal.size; }

uint32_t tracefile_epoch(const struct tracefile *file) { return file->region.epoch; }
uint64_t tracefile_unsaved(const struct tracefile *file) { return file->unsaved; }
uint64_t tracefile_region_bytes(const struct tracefile *file) { return file->region_bytes; }

/* ---- parts ---- */

static void keep(struct tracefile *file, uint64_t place, uint64_t room)
{
    file->kept = more(file->kept, &file->kept_room, file->kept_count + 1, sizeof *file->kept);
    file->kept[file->kept_count++] = (struct area){place, room};
}

uint64_t tracefile_put(struct tracefile *file, unsigned kind, const void *bytes, size_t size)
{
    if (file->region.end == NO_END) { /* nothing may be put behind it while it is open */
        close_first_region(file);
        keep(file, 0, file->region.end);
    }
    if (file->parts.size && file->parts_at + file->parts.size != file->end)
        flush_parts(file); /* a region lies between; if there is no room, see below */
    if (file->parts.size && file->parts_at + file->parts.size != file->end) {
        /* The disk is full: fill up to the end, so that the parts stay one run of bytes. */
        static const uint8_t nothing[4096];
        for (uint64_t gap; (gap = file->end - file->parts_at - file->parts.size) > 0;)
            put_bytes(&file->parts, nothing, gap < sizeof nothing ? gap : sizeof nothing);
    }
    if (file->parts.size == 0)
        file->parts_at = file->end;
    uint64_t place = file->end;
    put_chunk(&file->parts, (struct chunk){.kind = (uint16_t)kind, .data = bytes,
                                           .size = (uint32_t)size});
    file->end += CHUNK_HEAD_BYTES + size;
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
    *area = (struct area){file->end, size + size / 2};
    file->end += area->room;
    keep(file, area->place, area->room);
    return area;
}

static struct out state_data(const struct tracefile *file, const struct state *state)
{
    struct out out = {0};
    struct region first = file->region;
    for (size_t i = file->old_count; i-- > 0 && file->old[i].epoch >= file->save.oldest;)
        first = file->old[i];
    put_u64(&out, state->news);
    put_u64(&out, first.begin);
    put_u64(&out, first.end);
    put_u64(&out, first.epoch);
    put_u64(&out, file->save.epoch);
    put_u64(&out, file->written);
    put_u32(&out, (uint32_t)state->part_count);
    for (size_t i = 0; i < state->part_count; i++)
        put_u64(&out, state->parts[i]);
    put_bytes(&out, state->data, state->size);
    return out;
}

static bool write_state(struct tracefile *file, const struct state *state)
{
    struct out out = state_data(file, state);
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
    if (ok)
        reclaim(file, file->states % 2, state);
    file->states += ok;
    /* States are written again and again: regions as long as four of them keep that cheap. */
    uint64_t cost = out.size + state->written;
    file->region_bytes = 4 * cost > REGION_BYTES ? 4 * cost : REGION_BYTES;
    out_free(&out);
    return ok;
}

static void free_regions(struct tracefile *file, uint32_t oldest)
{
    size_t gone = 0;
    while (gone < file->old_count && file->old[gone].epoch < oldest) {
        file->free = more(file->free, &file->free_room, file->free_count + 1, sizeof *file->free);
        file->free[file->free_count++] = file->old[gone++];
    }
    memmove(file->old, file->old + gone, (file->old_count - gone) * sizeof *file->old);
    file->old_count -= gone;
}

bool tracefile_save_begin(struct tracefile *file, struct chunk threads, uint32_t oldest)
{
    uint32_t before = file->region.epoch;
    if (!tracefile_flush(file))
        return false;
    go_on(file, CHUNK_HEAD_BYTES + (uint64_t)threads.size);
    if (file->region.epoch == before) {
        file->journal.failed = false;
        return false;
    }
    file->save.unsaved = file->unsaved;
    file->unsaved = 0;
    tracefile_append(file, threads);
    file->save.epoch = file->region.epoch;
    file->save.oldest = oldest > before ? file->region.epoch : oldest;
    if (tracefile_flush(file))
        return true;
    tracefile_save_drop(file);
    return false;
}

void tracefile_save_drop(struct tracefile *file)
{
    file->unsaved += file->save.unsaved;
    file->save.unsaved = 0;
}

bool tracefile_save_end(struct tracefile *file, const struct state *state)
{
    if (state->size > CHUNK_STATE_MAX / 2 || !flush_parts(file) || !write_state(file, state)) {
        tracefile_save_drop(file);
        return false;
    }
    free_regions(file, file->save.oldest);
    file->save.unsaved = 0;
    return true;
}

uint64_t tracefile_end(const struct tracefile *file) { return file->end; }

uint64_t tracefile_kept(const struct tracefile *file)
{
    uint64_t end = file->region.end == NO_END ? file->at : file->end;
    return end - file->given_back;
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

void tracefile_forget(struct tracefile *file, uint64_t place)
{
    struct area *hands_off = NULL;
    size_t count = 0, room = 0;
    for (size_t i = 0; i < file->kept_count; i++) {
        hands_off = more(hands_off, &room, count + 1, sizeof *hands_off);
        hands_off[count++] = file->kept[i];
    }
    const struct region *lists[] = {file->old, file->free, &file->region};
    const size_t counts[] = {file->old_count, file->free_count, 1};
    for (size_t l = 0; l < 3; l++)
        for (size_t i = 0; i < counts[l]; i++) {
            hands_off = more(hands_off, &room, count + 1, sizeof *hands_off);
            hands_off[count++] =
                (struct area){lists[l][i].begin, lists[l][i].end - lists[l][i].begin};
        }
    qsort(hands_off, count, sizeof *hands_off, by_place);
    uint64_t at = file->forgotten;
    for (size_t i = 0; i < count && at < place; i++) {
        uint64_t end = hands_off[i].place + hands_off[i].room;
        give_back(file, at, hands_off[i].place < place ? hands_off[i].place : place);
        at = end > at ? end : at;
    }
    give_back(file, at, place);
    file->forgotten = place > file->forgotten ? place : file->forgotten;
    free(hands_off);
}
