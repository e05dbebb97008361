#include "server/analysis/findings.h"

#include "base/alloc.h"

#include <stdlib.h>

struct finding *findings_add(struct findings *f, enum finding_kind kind)
{
    f->items = array_reserve(f->items, &f->room, f->count + 1, sizeof *f->items);
    f->items[f->count] = (struct finding){.kind = kind, .times = 1};
    return &f->items[f->count++];
}

void finding_add_participant(struct finding *f, struct finding_participant part)
{
    if (f->part_count < FINDING_PARTICIPANTS)
        f->parts[f->part_count++] = part;
}

void findings_free(struct findings *f)
{
    free(f->items);
    *f = (struct findings){0};
}
