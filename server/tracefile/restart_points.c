#include "server/tracefile/restart_points.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define MARKS_MOST 64u

struct tracefile_region tracefile_region_for(const struct tracefile *file, uint32_t epoch)
{
    for (size_t i = file->old.count; i-- > 0;)
        if (file->old.items[i].epoch == epoch)
            return file->old.items[i];
    return file->region;
}

static struct restart_point *restart_point_append(struct tracefile *file)
{
    struct restart_point_list *marks = &file->marks;
    marks->items =
        array_reserve(marks->items, &marks->room, marks->count + 1, sizeof *marks->items);
    struct restart_point *mark = &marks->items[marks->count++];
    *mark = (struct restart_point){.number = ++marks->newest, .delivered = file->delivered};
    return mark;
}

void restart_point_begin(struct tracefile *file)
{
    file->delivered = (struct delivered_until){1, TRACEFILE_HEAD_BYTES};
    restart_point_append(file);
}

/* Drops every other restart point.  Reading may begin at an earlier one instead. */
static void thin_out(struct restart_point_list *marks)
{
    size_t kept = 1;
    for (size_t i = 1; i < marks->count; i++) {
        if (i % 2)
            encoder_free(&marks->items[i].threads);
        else
            marks->items[kept++] = marks->items[i];
    }
    marks->count = kept;
}

uint32_t restart_point_set(struct tracefile *file, uint32_t oldest, struct chunk threads)
{
    struct restart_point_list *marks = &file->marks;
    if (marks->count >= MARKS_MOST)
        thin_out(marks);
    struct restart_point *mark = restart_point_append(file);
    encode_bytes(&mark->threads, threads.data, threads.size);
    size_t i = marks->count - 1;
    while (i && marks->items[i].number > oldest)
        i--;
    return marks->items[i].number;
}

const struct restart_point *restart_point_for_epoch(const struct restart_point_list *marks,
                                                    uint32_t number)
{
    size_t i = marks->count - 1;
    while (i && marks->items[i].number > number)
        i--;
    return &marks->items[i];
}

void restart_points_drop(struct restart_point_list *marks, uint32_t before)
{
    size_t gone = 0;
    while (gone < marks->count && marks->items[gone].number < before)
        encoder_free(&marks->items[gone++].threads);
    memmove(marks->items, marks->items + gone, (marks->count - gone) * sizeof *marks->items);
    marks->count -= gone;
}

void restart_points_free(struct restart_point_list *marks)
{
    for (size_t i = 0; i < marks->count; i++)
        encoder_free(&marks->items[i].threads);
    free(marks->items);
}
