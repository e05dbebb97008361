#include "server/analysis/bug_prediction.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdlib.h>

static const struct predictor *const predictors[] = {
#define P(name) &predictor_##name,
    PREDICTORS(P)
#undef P
};
#define PREDICTOR_COUNT (sizeof predictors / sizeof *predictors)

struct bug_prediction {
    void *states[PREDICTOR_COUNT];
    size_t done; /* number of predictors that have found everything */
    struct map within; /* lock and thread, for each lock that is held */
    struct findings findings;
    bool sorted;
};

struct bug_prediction *predict_new(void)
{
    struct bug_prediction *m = xcalloc(1, sizeof *m);
    for (size_t i = 0; i < PREDICTOR_COUNT; i++)
        m->states[i] = xcalloc(1, predictors[i]->size);
    return m;
}

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

void predict_set_order(struct bug_prediction *m, const struct order *order)
{
    m->findings.order = order;
}

void predict_feed(struct bug_prediction *m, const struct sync_op *op)
{
    bool within = is_within(m, op), special = op->is >= SYNC_OP_USE;
    for (size_t i = 0; i < PREDICTOR_COUNT; i++)
        if (predictors[i]->all || (!special && !within && (!op->unit || predictors[i]->units)))
            predictors[i]->feed(m->states[i], op);
}

bool predict_step(struct bug_prediction *m, uint64_t *budget)
{
    while (m->done < PREDICTOR_COUNT &&
           predictors[m->done]->step(m->states[m->done], &m->findings, budget))
        m->done++;
    return m->done == PREDICTOR_COUNT;
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
    for (size_t i = 0; i < PREDICTOR_COUNT; i++)
        predictors[i]->free(m->states[i]);
    map_free(&m->within);
    findings_free(&m->findings);
    free(m);
}
