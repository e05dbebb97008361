#include "server/tracefile/restart_points.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define MARKS_MOST 64u

struct tracefile_region tracefile_region_for(const struct tracefile *file, uint32_t epoch)
{
    for (size_t i = file->old_count; i-- > 0;)
        if (file->old[i].epoch == epoch)
            return file->old[i];
    return file->region;
}

static struct restart_point *restart_point_append(struct tracefile *file)
{
    file->marks =
        array_reserve(file->marks, &file->mark_room, file->mark_count + 1, sizeof *file->marks);
    struct restart_point *mark = &file->marks[file->mark_count++];
    *mark = (struct restart_point){.number = ++file->marked, .delivered = file->delivered};
    return mark;
}

void restart_point_begin(struct tracefile *file)
{
    file->delivered = (struct delivered_until){1, TRACEFILE_HEAD_BYTES};
    restart_point_append(file);
}

/* Drops every other restart point.  Reading may begin at an earlier one instead. */
static void thin_out(struct tracefile *file)
{
    size_t kept = 1;
    for (size_t i = 1; i < file->mark_count; i++) {
        if (i % 2)
            encoder_free(&file->marks[i].threads);
        else
            file->marks[kept++] = file->marks[i];
    }
    file->mark_count = kept;
}

uint32_t restart_point_set(struct tracefile *file, uint32_t oldest, struct chunk threads)
{
    if (file->mark_count >= MARKS_MOST)
        thin_out(file);
    struct restart_point *mark = restart_point_append(file);
    encode_bytes(&mark->threads, threads.data, threads.size);
    size_t i = file->mark_count - 1;
    while (i && file->marks[i].number > oldest)
        i--;
    return file->marks[i].number;
}

const struct restart_point *restart_point_for_epoch(const struct tracefile *file, uint32_t number)
{
    size_t i = file->mark_count - 1;
    while (i && file->marks[i].number > number)
        i--;
    return &file->marks[i];
}

void restart_points_drop(struct tracefile *file, uint32_t before)
{
    size_t gone = 0;
    while (gone < file->mark_count && file->marks[gone].number < before)
        encoder_free(&file->marks[gone++].threads);
    memmove(file->marks, file->marks + gone, (file->mark_count - gone) * sizeof *file->marks);
    file->mark_count -= gone;
}

void restart_points_free(struct tracefile *file)
{
    for (size_t i = 0; i < file->mark_count; i++)
        encoder_free(&file->marks[i].threads);
    free(file->marks);
}
