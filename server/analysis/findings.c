#include "server/analysis/findings.h"

#include "base/alloc.h"

#include <stdlib.h>

const char *finding_name(enum finding_kind kind)
{
    static const char *const words[] = {
#define K(NAME, word) [FINDING_##NAME] = word,
        FINDING_KINDS(K)
#undef K
    };
    return words[kind];
}

bool finding_is_order(enum finding_kind kind)
{
    return kind == FINDING_EARLY_SIGNAL || kind == FINDING_ATOMICITY ||
           kind == FINDING_ORDER_VIOLATION;
}

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
