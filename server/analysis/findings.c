#include "server/analysis/findings.h"

#include "base/alloc.h"

#include <stdlib.h>

struct finding *findings_add(struct findings *f, enum finding_kind kind)
{
    f->items = array_reserve(f->items, &f->room, f->count + 1, sizeof *f->items);
    f->items[f->count] = (struct finding){.kind = kind, .times = 1};
    return &f->items[f->count++];
}

struct finding *findings_count_again(struct findings *f, const struct map *found, uint64_t a,
                                     uint64_t b)
{
    uintptr_t known = (uintptr_t)map_get(found, a, b);
    if (!known)
        return NULL;
    f->items[known - 1].times++;
    return &f->items[known - 1];
}

void findings_remember_last(const struct findings *f, struct map *found, uint64_t a, uint64_t b)
{
    map_put(found, a, b, (void *)(uintptr_t)f->count);
}

void finding_add_participant(struct finding *f, struct finding_participant part)
{
    if (f->part_count < FINDING_PARTICIPANTS)
        f->parts[f->part_count++] = part;
}

void finding_add_event(struct finding *f, uint32_t thread, uint32_t object, uint64_t position)
{
    finding_add_participant(f, (struct finding_participant){.thread = thread,
                                                            .lock = object,
                                                            .position = position,
                                                            .then = NO_POSITION,
                                                            .begin = NO_POSITION});
}

void findings_free(struct findings *f)
{
    free(f->items);
    *f = (struct findings){0};
}
