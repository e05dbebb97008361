#include "server/analysis/bug_prediction.h"

#include "base/alloc.h"
#include "server/analysis/order_races.h"
#include "server/analysis/lock_order.h"
#include "server/analysis/wakeup_races.h"

#include <stdlib.h>

struct bug_prediction {
    struct lock_order inversions;
    struct wakeup_races wakings;
    struct order_races flips;
    bool flipped;
    struct map within; /* lock and thread, for each lock that is held */
    struct findings findings;
    bool sorted;
};

struct bug_prediction *predict_new(void) { return xcalloc(1, sizeof(struct bug_prediction)); }

/* Returns whether the operation acquires or requests a lock that the thread already holds, as when
 * it returns to it from another lock. */
static bool is_within(struct bug_prediction *m, const struct sync_op *d)
{
    bool in = d->lock && map_get(&m->within, d->lock, d->thread);
    if (d->is == SYNC_OP_ACQUIRE && !in)
        map_put(&m->within, d->lock, d->thread, m);
    else if ((d->is == SYNC_OP_RELEASE || d->is == SYNC_OP_WAIT) && in)
        map_remove(&m->within, d->lock, d->thread);
    return in && (d->is == SYNC_OP_ACQUIRE || d->is == SYNC_OP_REQUEST);
}

void predict_feed(struct bug_prediction *m, const struct sync_op *op)
{
    if (is_within(m, op))
        return;
    lock_order_feed(&m->inversions, op);
    wakeup_races_feed(&m->wakings, op);
    order_races_feed(&m->flips, op);
}

bool predict_step(struct bug_prediction *m, uint64_t *budget)
{
    if (!lock_order_step(&m->inversions, &m->findings, budget) ||
        !wakeup_races_step(&m->wakings, &m->findings, budget))
        return false;
    if (!m->flipped)
        order_races_end(&m->flips, &m->findings);
    return m->flipped = true;
}

/* Sorts by kind, the worst first; within a kind by the number of participants, the fewest first,
 * then by how often it was found. */
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

const struct findings *predict_results(struct bug_prediction *m)
{
    if (!m->sorted && m->findings.count)
        qsort(m->findings.items, m->findings.count, sizeof *m->findings.items, by_weight);
    m->sorted = true;
    return &m->findings;
}

void predict_free(struct bug_prediction *m)
{
    if (!m)
        return;
    lock_order_free(&m->inversions);
    wakeup_races_free(&m->wakings);
    order_races_free(&m->flips);
    map_free(&m->within);
    findings_free(&m->findings);
    free(m);
}
