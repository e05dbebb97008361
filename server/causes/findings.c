#include "server/causes/findings.h"

#include "memory/memory.h"

#include <stdlib.h>

const char *maybe_word(enum maybe_kind kind)
{
    static const char *const words[] = {
#define K(NAME, word) [MAYBE_##NAME] = word,
        MAYBE_KINDS(K)
#undef K
    };
    return words[kind];
}

struct finding *findings_add(struct findings *f, enum maybe_kind kind)
{
    f->items = grow(f->items, &f->room, f->count + 1, sizeof *f->items);
    f->items[f->count] = (struct finding){.kind = kind, .times = 1};
    return &f->items[f->count++];
}

void findings_part(struct finding *f, struct maybe_part part)
{
    if (f->part_count < MAYBE_PARTS)
        f->parts[f->part_count++] = part;
}

void findings_free(struct findings *f)
{
    free(f->items);
    *f = (struct findings){0};
}
