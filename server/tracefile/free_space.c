/* Frees the space of parts that an old state needs and no kept state does.  The two newest
 * states are kept, with all parts that either needs; the other parts are freed after a delay,
 * since a process may be opening the file by an older state. */
#define _GNU_SOURCE
#include "server/tracefile/free_space.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OPENING_SECONDS 120 /* maximum time that opening a file takes */

int free_space_by_place(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool free_space_contains(const struct rests *rests, uint64_t place)
{
    return rests->count &&
           bsearch(&place, rests->places, rests->count, sizeof place, free_space_by_place);
}

/* Returns the place after the part at a place, or 0 if there is no part. */
static uint64_t response_chunk_end(const struct tracefile *file, uint64_t place)
{
    uint8_t head[CHUNK_HEAD_BYTES];
    struct chunk chunk;
    if (pread(file->fd, head, sizeof head, (off_t)place) != (ssize_t)sizeof head ||
        !chunk_read_head(head, &chunk) || chunk.kind != CHUNK_PART)
        return 0;
    return place + CHUNK_HEAD_BYTES + chunk.size;
}

static time_t free_space_now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static void free_space_postpone(struct tracefile *file, uint64_t from, uint64_t to)
{
    struct unused *unused = &file->unused;
    if (from == to)
        return;
    unused->items =
        array_reserve(unused->items, &unused->room, unused->count + 1, sizeof *unused->items);
    unused->items[unused->count++] = (struct stretch_unused){from, to, free_space_now_seconds()};
}

/* Punches holes for old stretches.  Not every file system can; then the space stays allocated.
 * It is not counted as freed space: only discarding counts that. */
static void punch_old(struct tracefile *file)
{
    struct unused *unused = &file->unused;
    size_t gone = 0;
    for (; gone < unused->count &&
           free_space_now_seconds() - unused->items[gone].since > OPENING_SECONDS;
         gone++)
        fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)unused->items[gone].from,
                  (off_t)(unused->items[gone].to - unused->items[gone].from));
    unused->count -= gone;
    if (gone)
        memmove(unused->items, unused->items + gone, unused->count * sizeof *unused->items);
}

void free_space_reclaim(struct tracefile *file, unsigned slot, const struct checkpoint *state)
{
    struct rests *old = &file->rests[slot], *other = &file->rests[slot ^ 1];
    struct rests now = {xmalloc(state->part_count * sizeof *now.places), state->part_count};
    if (now.count)
        memcpy(now.places, state->parts, now.count * sizeof *now.places);
    qsort(now.places, now.count, sizeof *now.places, free_space_by_place);
    uint64_t from = 0, to = 0; /* adjacent parts are freed together */
    for (size_t i = 0; i < old->count; i++) {
        uint64_t place = old->places[i], end;
        if (free_space_contains(other, place) || free_space_contains(&now, place) ||
            (end = response_chunk_end(file, place)) == 0)
            continue;
        if (place != to) {
            free_space_postpone(file, from, to);
            from = place;
        }
        to = end;
    }
    free_space_postpone(file, from, to);
    punch_old(file);
    free(old->places);
    *old = now;
}
