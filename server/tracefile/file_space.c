#define _GNU_SOURCE
#include "server/tracefile/file_space.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* ---- regions of the journal ----
 *
 * Those that no checkpoint needs are freed, for reuse or to the file system. */

void file_space_keep(struct kept_space *kept, uint64_t place, uint64_t room)
{
    kept->areas = array_reserve(kept->areas, &kept->room, kept->count + 1, sizeof *kept->areas);
    kept->areas[kept->count++] = (struct checkpoint_area){place, room};
}

void file_space_add_region(struct region_list *list, struct tracefile_region region)
{
    list->items = array_reserve(list->items, &list->room, list->count + 1, sizeof *list->items);
    list->items[list->count++] = region;
}

#define FREE_MOST ((uint64_t)64 << 20) /* bytes of free regions that are kept for reuse */

/* Returns a freed region's space to the file system if more than FREE_MOST bytes are free.  The
 * region can still be reused. */
static void file_space_release_region(struct tracefile *file, struct tracefile_region *region)
{
    uint64_t kept = 0;
    for (size_t i = 0; i < file->free.count; i++)
        kept += file->free.items[i].hole ? 0 : file->free.items[i].end - file->free.items[i].begin;
    if (kept <= FREE_MOST)
        return;
    region->hole = fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                             (off_t)region->begin, (off_t)(region->end - region->begin)) == 0;
    file->kept.released += region->hole ? region->end - region->begin : 0;
}

void tracefile_free_regions(struct tracefile *file, uint32_t before)
{
    size_t gone = 0;
    pthread_mutex_lock(&file->lock);
    while (gone < file->old.count && file->old.items[gone].epoch < before) {
        file_space_add_region(&file->free, file->old.items[gone++]);
        file_space_release_region(file, &file->free.items[file->free.count - 1]);
    }
    if (gone)
        memmove(file->old.items, file->old.items + gone,
                (file->old.count - gone) * sizeof *file->old.items);
    file->old.count -= gone;
    pthread_mutex_unlock(&file->lock);
}

/* ---- parts that are discarded ---- */

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
    uint64_t end = file->region.end == NO_END ? file->at : file->end,
             kept = end - file->kept.released;
    pthread_mutex_unlock(&file->lock);
    return kept;
}

static int file_space_area_by_place(const void *a, const void *b)
{
    uint64_t x = ((const struct checkpoint_area *)a)->place,
             y = ((const struct checkpoint_area *)b)->place;
    return x < y ? -1 : x > y;
}

static void file_space_release_space(struct tracefile *file, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    /* not every file system supports this; then the space stays allocated */
    if (fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                  (off_t)(to - from)) == 0)
        file->kept.released += to - from;
}

/* Returns what discarding must not free: kept areas and regions of the journal, sorted by place.
 * The caller frees it. */
static struct checkpoint_area *file_space_in_use(const struct tracefile *file, size_t *count)
{
    struct checkpoint_area *areas = NULL;
    size_t room = 0;
    for (size_t i = 0; i < file->kept.count; i++) {
        areas = array_reserve(areas, &room, *count + 1, sizeof *areas);
        areas[(*count)++] = file->kept.areas[i];
    }
    const struct tracefile_region *lists[] = {file->old.items, file->free.items, &file->region};
    const size_t counts[] = {file->old.count, file->free.count, 1};
    for (size_t l = 0; l < 3; l++)
        for (size_t i = 0; i < counts[l]; i++) {
            areas = array_reserve(areas, &room, *count + 1, sizeof *areas);
            areas[(*count)++] =
                (struct checkpoint_area){lists[l][i].begin, lists[l][i].end - lists[l][i].begin};
        }
    qsort(areas, *count, sizeof *areas, file_space_area_by_place);
    return areas;
}

void tracefile_discard_before(struct tracefile *file, uint64_t place)
{
    size_t count = 0;
    pthread_mutex_lock(&file->lock);
    struct checkpoint_area *areas = file_space_in_use(file, &count);
    uint64_t at = file->kept.discarded_until;
    for (size_t i = 0; i < count && at < place; i++) {
        uint64_t end = areas[i].place + areas[i].room;
        file_space_release_space(file, at, areas[i].place < place ? areas[i].place : place);
        at = end > at ? end : at;
    }
    file_space_release_space(file, at, place);
    file->kept.discarded_until =
        place > file->kept.discarded_until ? place : file->kept.discarded_until;
    pthread_mutex_unlock(&file->lock);
    free(areas);
}

/* ---- parts of old checkpoints ----
 *
 * The two newest checkpoints are kept, with all parts that either needs; parts that only an older
 * one needs are freed after a delay, since a process may be opening the file by that one. */

#define OPENING_SECONDS 120 /* maximum time that opening a file takes */

int file_space_by_place(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool file_space_contains(const struct rests *rests, uint64_t place)
{
    return rests->count &&
           bsearch(&place, rests->places, rests->count, sizeof place, file_space_by_place);
}

/* Returns the place after the part at a place, or 0 if there is no part. */
static uint64_t file_space_part_end(const struct tracefile *file, uint64_t place)
{
    uint8_t head[CHUNK_HEAD_BYTES];
    struct chunk chunk;
    if (pread(file->fd, head, sizeof head, (off_t)place) != (ssize_t)sizeof head ||
        !chunk_read_head(head, &chunk) || chunk.kind != CHUNK_PART)
        return 0;
    return place + CHUNK_HEAD_BYTES + chunk.size;
}

static time_t file_space_now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static void file_space_postpone(struct tracefile *file, uint64_t from, uint64_t to)
{
    struct unused *unused = &file->unused;
    if (from == to)
        return;
    unused->items =
        array_reserve(unused->items, &unused->room, unused->count + 1, sizeof *unused->items);
    unused->items[unused->count++] = (struct stretch_unused){from, to, file_space_now_seconds()};
}

/* Punches holes for old stretches.  Not every file system can; then the space stays allocated.
 * It is not counted as freed space: only discarding counts that. */
static void punch_old(struct tracefile *file)
{
    struct unused *unused = &file->unused;
    size_t gone = 0;
    for (; gone < unused->count &&
           file_space_now_seconds() - unused->items[gone].since > OPENING_SECONDS;
         gone++)
        fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)unused->items[gone].from,
                  (off_t)(unused->items[gone].to - unused->items[gone].from));
    unused->count -= gone;
    if (gone)
        memmove(unused->items, unused->items + gone, unused->count * sizeof *unused->items);
}

void file_space_reclaim(struct tracefile *file, unsigned slot, const struct checkpoint *state)
{
    struct rests *old = &file->rests[slot], *other = &file->rests[slot ^ 1];
    struct rests now = {xmalloc(state->part_count * sizeof *now.places), state->part_count};
    if (now.count)
        memcpy(now.places, state->parts, now.count * sizeof *now.places);
    qsort(now.places, now.count, sizeof *now.places, file_space_by_place);
    uint64_t from = 0, to = 0; /* adjacent parts are freed together */
    for (size_t i = 0; i < old->count; i++) {
        uint64_t place = old->places[i], end;
        if (file_space_contains(other, place) || file_space_contains(&now, place) ||
            (end = file_space_part_end(file, place)) == 0)
            continue;
        if (place != to) {
            file_space_postpone(file, from, to);
            from = place;
        }
        to = end;
    }
    file_space_postpone(file, from, to);
    punch_old(file);
    free(old->places);
    *old = now;
}

/* ---- preallocation ----
 *
 * The last chunks of a run, which report what was lost, must fit on a full disk. */

#define LAST_WORDS (64u << 10)
#define AHEAD (256u << 10) /* bytes that are preallocated at once, if there is enough space */

uint64_t preallocation_bytes(const struct tracefile *file)
{
    uint64_t eighth = file->region_bytes / 8;
    return eighth < LAST_WORDS ? eighth : LAST_WORDS;
}

/* Returns the maximum size of a file of this process. */
static uint64_t preallocation_file_size_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                                   : INT64_MAX;
}

/* Preallocates a range; returns false if there is no space.  Not every file system supports this;
 * then only writing shows whether there is space. */
static bool preallocation_allocate(const struct tracefile *file, uint64_t from, uint64_t to)
{
    return fallocate(file->fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from)) == 0 ||
           (errno != ENOSPC && errno != EDQUOT && errno != EFBIG);
}

bool preallocation_at(struct tracefile *file, uint64_t begin, uint64_t bytes, uint64_t end)
{
    uint64_t need = begin + bytes + preallocation_bytes(file),
             limit = preallocation_file_size_limit();
    need = need < end ? need : end;
    if (need <= file->reserved)
        return true;
    if (need > limit) {
        errno = EFBIG;
        return false;
    }
    uint64_t more = need + (bytes > AHEAD / 4 ? 4 * bytes : AHEAD);
    more = more < end ? more : end;
    more = more < limit ? more : limit;
    if (preallocation_allocate(file, begin, more)) {
        file->reserved = more;
        return true;
    }
    if (!preallocation_allocate(file, begin, need))
        return false;
    file->reserved = need;
    return true;
}

bool preallocation_reserve(struct tracefile *file, uint64_t bytes)
{
    pthread_mutex_lock(&file->lock);
    uint64_t at = file->at, end = file->region.end;
    pthread_mutex_unlock(&file->lock);
    return preallocation_at(file, at, bytes, end);
}

/* Returns preallocated, unused space to the file system.  This does not change the contents, and
 * leaves the time of their last change. */
void preallocation_give_back(struct tracefile *file)
{
    struct stat st;
    if (!file->reading && fstat(file->fd, &st) == 0) {
        struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, st.st_mtim};
        if (ftruncate(file->fd, st.st_size) < 0 || futimens(file->fd, times) < 0)
            return;
    }
    file->reserved = 0;
}

uint64_t tracefile_last_room(struct tracefile *file)
{
    pthread_mutex_lock(&file->lock);
    uint64_t end = file->reserved < file->region.end ? file->reserved : file->region.end;
    pthread_mutex_unlock(&file->lock);
    uint64_t used = file->at + file->journal.size + NEXT_BYTES;
    return end > used ? end - used : 0;
}

uint64_t tracefile_room(const struct tracefile *file)
{
    struct statvfs fs;
    uint64_t limit = preallocation_file_size_limit(), used = file->at + preallocation_bytes(file);
    uint64_t room = fstatvfs(file->fd, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
    limit = limit > used ? limit - used : 0;
    return room < limit ? room : limit;
}
