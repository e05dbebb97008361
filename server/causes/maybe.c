#include "server/causes/maybe.h"

#include "memory/memory.h"
#include "server/causes/flips.h"
#include "server/causes/inversions.h"
#include "server/causes/wakings.h"

#include <stdlib.h>

struct maybe {
    struct inversions inversions;
    struct wakings wakings;
    struct flips flips;
    bool flipped;
    struct map within; /* lock and thread */
    struct findings findings;
    bool sorted;
};

struct maybe *maybe_new(void) { return memory_zeroed(1, sizeof(struct maybe)); }

/* Does it come into a lock in which it is, as one that comes back from another, or asks for that? */
static bool is_within(struct maybe *m, const struct deed *d)
{
    bool in = d->lock && map_get(&m->within, d->lock, d->thread);
    if (d->is == DEED_TAKES && !in)
        map_put(&m->within, d->lock, d->thread, m);
    else if ((d->is == DEED_GIVES || d->is == DEED_WAITS) && in)
        map_take(&m->within, d->lock, d->thread);
    return in && (d->is == DEED_TAKES || d->is == DEED_ASKS);
}

void maybe_deed(struct maybe *m, const struct deed *deed)
{
    if (is_within(m, deed))
        return;
    inversions_deed(&m->inversions, deed);
    wakings_deed(&m->wakings, deed);
    flips_deed(&m->flips, deed);
}

bool maybe_go_on(struct maybe *m, uint64_t *budget)
{
    if (!inversions_go_on(&m->inversions, &m->findings, budget) ||
        !wakings_go_on(&m->wakings, &m->findings, budget))
        return false;
    if (!m->flipped)
        flips_end(&m->flips, &m->findings);
    return m->flipped = true;
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
    wakings_free(&m->wakings);
    flips_free(&m->flips);
    map_free(&m->within);
    findings_free(&m->findings);
    free(m);
}
