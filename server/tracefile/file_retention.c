/* Retention in a trace file: frees parts and journal regions that no checkpoint needs, for reuse
 * or to the file system. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "server/tracefile/file_retention.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

void file_retention_add(struct kept_space *kept, uint64_t place, uint64_t room)
{
    kept->areas = array_reserve(kept->areas, &kept->room, kept->count + 1, sizeof *kept->areas);
    kept->areas[kept->count++] = (struct checkpoint_area){place, room};
}

/* ---- the journal ---- */

void file_retention_add_region(struct region_list *list, struct tracefile_region region)
{
    list->items = array_reserve(list->items, &list->room, list->count + 1, sizeof *list->items);
    list->items[list->count++] = region;
}

#define FREE_MOST ((uint64_t)64 << 20) /* bytes of free regions that are kept for reuse */

/* Returns a freed region's space to the file system if more than FREE_MOST bytes are free.  The
 * region can still be reused. */
static void file_retention_release_region(struct tracefile *file, struct tracefile_region *region)
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
        file_retention_add_region(&file->free, file->old.items[gone++]);
        file_retention_release_region(file, &file->free.items[file->free.count - 1]);
    }
    if (gone)
        memmove(file->old.items, file->old.items + gone,
                (file->old.count - gone) * sizeof *file->old.items);
    file->old.count -= gone;
    pthread_mutex_unlock(&file->lock);
}

/* ---- parts ---- */

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

static int by_place(const void *a, const void *b)
{
    uint64_t x = ((const struct checkpoint_area *)a)->place,
             y = ((const struct checkpoint_area *)b)->place;
    return x < y ? -1 : x > y;
}

static void file_retention_release_space(struct tracefile *file, uint64_t from, uint64_t to)
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
static struct checkpoint_area *file_retention_is_in_use(const struct tracefile *file, size_t *count)
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
    qsort(areas, *count, sizeof *areas, by_place);
    return areas;
}

void tracefile_discard_before(struct tracefile *file, uint64_t place)
{
    size_t count = 0;
    pthread_mutex_lock(&file->lock);
    struct checkpoint_area *areas = file_retention_is_in_use(file, &count);
    uint64_t at = file->kept.discarded_until;
    for (size_t i = 0; i < count && at < place; i++) {
        uint64_t end = areas[i].place + areas[i].room;
        file_retention_release_space(file, at, areas[i].place < place ? areas[i].place : place);
        at = end > at ? end : at;
    }
    file_retention_release_space(file, at, place);
    file->kept.discarded_until =
        place > file->kept.discarded_until ? place : file->kept.discarded_until;
    pthread_mutex_unlock(&file->lock);
    free(areas);
}
