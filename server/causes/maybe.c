#include "server/causes/maybe.h"

#include "memory/memory.h"
#include "server/causes/inversions.h"

#include <stdlib.h>

struct maybe {
    struct inversions inversions;
    struct findings findings;
    bool sorted;
};

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

struct maybe *maybe_new(void) { return memory_zeroed(1, sizeof(struct maybe)); }

void maybe_deed(struct maybe *m, const struct deed *deed) { inversions_deed(&m->inversions, deed); }

bool maybe_go_on(struct maybe *m, uint64_t *budget)
{
    return inversions_go_on(&m->inversions, &m->findings, budget);
}

/* What is worst first; of one kind that with the fewest parts, then as often as it is. */
static int by_weight(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->part_count != y->part_count)
        return x->part_count < y->part_count ? -1 : 1;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return (x->parts[0].position > y->parts[0].position) -
           (x->parts[0].position < y->parts[0].position);
}

const struct findings *maybe_found(struct maybe *m)
{
    if (!m->sorted && m->findings.count)
        qsort(m->findings.items, m->findings.count, sizeof *m->findings.items, by_weight);
    m->sorted = true;
    return &m->findings;
}

void maybe_free(struct maybe *m)
{
    if (!m)
        return;
    inversions_free(&m->inversions);
    findings_free(&m->findings);
    free(m);
}
