#define _GNU_SOURCE
#include "server/analysis/attribution.h"

#include <stdlib.h>

__extension__ typedef __int128 wide; /* for the product of two times */

struct attribution_remainder {
    int64_t left;
    size_t of;
};

static int attribution_by_remainder(const void *a, const void *b)
{
    const struct attribution_remainder *x = a, *y = b;
    if (x->left != y->left)
        return x->left > y->left ? -1 : 1;
    return x->of < y->of ? -1 : 1;
}

/* Returns whole * weight / sum and sets *left to the remainder. */
static int64_t attribution_divide(int64_t whole, int64_t weight, wide sum, int64_t *left)
{
    int64_t small, by = (int64_t)sum;
    if (by == sum && !__builtin_mul_overflow(whole, weight, &small)) {
        *left = small % by;
        return small / by;
    }
    wide product = (wide)whole * weight;
    *left = (int64_t)(product % sum);
    return (int64_t)(product / sum);
}

void attribution_apportion(struct attribution *charges, int64_t whole, const int64_t *weights,
                           int64_t *parts, size_t count)
{
    wide sum = 0;
    int64_t given = 0;
    charges->rest = array_reserve(charges->rest, &charges->rest_room, count, sizeof *charges->rest);
    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    for (size_t i = 0; i < count; i++) {
        charges->rest[i].of = i;
        parts[i] = attribution_divide(whole, weights[i], sum, &charges->rest[i].left);
        given += parts[i];
    }
    if (given < whole)
        qsort(charges->rest, count, sizeof *charges->rest, attribution_by_remainder);
    for (size_t i = 0; given < whole; i++, given++)
        parts[charges->rest[i].of]++;
}

static void read_shares(struct attribution *charges, struct list_pool_reader reader)
{
    charges->share_count = 0;
    charges->shares =
        array_reserve(charges->shares, &charges->share_room, reader.left, sizeof *charges->shares);
    while (list_pool_next(&reader, &charges->shares[charges->share_count]))
        charges->share_count++;
}

static void attribution_reserve(struct attribution *charges, size_t count)
{
    charges->weights =
        array_reserve(charges->weights, &charges->weight_room, count, sizeof *charges->weights);
    charges->parts =
        array_reserve(charges->parts, &charges->part_room, count, sizeof *charges->parts);
}

/* Returns the scope of a share, as the number of one of its code segments. */
static uint32_t scope_of(const struct wait_attribution *why, const struct path_share *share)
{
    const struct code_segments *steps = &why->paths.all->steps;
    uint32_t step = wait_attribution_pair(why, share->pair).step;
    return step && step <= steps->count ? code_segments_scope(steps, step) : step;
}

static int by_scope(const void *a, const void *b, void *context)
{
    const struct path_share *x = a, *y = b;
    struct segment_id p = wait_attribution_pair(context, x->pair),
                      q = wait_attribution_pair(context, y->pair);
    uint32_t s = scope_of(context, x), t = scope_of(context, y);
    if (s != t)
        return s < t ? -1 : 1;
    if (p.step != q.step)
        return p.step < q.step ? -1 : 1;
    return p.thread < q.thread ? -1 : p.thread > q.thread;
}

/* Sorts shares by scope: those of a function with several callers are not adjacent otherwise. */
static void attribution_sort_by_scope(struct attribution *charges,
                                      const struct wait_attribution *why)
{
    bool apart = false;
    for (size_t i = 0; i < charges->share_count && !apart; i++)
        apart = scope_of(why, &charges->shares[i]) !=
                wait_attribution_pair(why, charges->shares[i].pair).step;
    if (apart)
        qsort_r(charges->shares, charges->share_count, sizeof *charges->shares, by_scope,
                (void *)(uintptr_t)why);
}

/* Returns the index after the shares of the same scope. */
static size_t scope_end(const struct attribution *charges, const struct wait_attribution *why,
                        size_t from)
{
    uint32_t scope = scope_of(why, &charges->shares[from]);
    while (++from < charges->share_count && scope_of(why, &charges->shares[from]) == scope)
        ;
    return from;
}

static enum cause_kind kind_of(const struct attribution *charges,
                               const struct wait_attribution *why, uint32_t segment,
                               const struct path_share *share)
{
    const struct intervals *all = why->paths.all;
    uint32_t code = wait_attribution_pair(why, share->pair).step;
    if (all->segments[segment].class == WAIT_CONTENTION || code == STEP_STARTING)
        return CAUSE_CONTENTION;
    if (code && code <= all->steps.count) {
        struct code_segment_key step = code_segments_at(&all->steps, code);
        uint8_t category =
            charges->category ? charges->category(charges->context, code) : step.category;
        if (step.is == STEP_LATENCY || (category < 64 && charges->communication >> category & 1))
            return CAUSE_CONTENTION;
    }
    return share->too ? CAUSE_IMBALANCE : CAUSE_SERIAL;
}

static void attribution_add(struct attribution *charges, const struct wait_attribution *why,
                            uint32_t segment, const struct path_share *share, int64_t ns)
{
    if (!ns)
        return;
    charges->items =
        array_reserve(charges->items, &charges->room, charges->count + 1, sizeof *charges->items);
    charges->items[charges->count++] =
        (struct attributed_time){.pair = share->pair,
                                 .ns = ns,
                                 .kind = kind_of(charges, why, segment, share),
                                 .direct = wait_attribution_pair(why, share->pair).thread ==
                                           why->paths.all->segments[segment].thread};
}

/* Distributes time within a scope among the code segments and threads with positive shares, in
 * proportion to these. */
static void share_out(struct attribution *charges, const struct wait_attribution *why,
                      uint32_t segment, size_t from, size_t to, int64_t ns)
{
    int64_t *weights = charges->weights + charges->share_count,
            *parts = charges->parts + charges->share_count;
    for (size_t i = from; i < to; i++)
        weights[i] = charges->shares[i].ns > 0 ? charges->shares[i].ns : 0;
    attribution_apportion(charges, ns, weights + from, parts + from, to - from);
    for (size_t i = from; i < to; i++)
        attribution_add(charges, why, segment, &charges->shares[i], parts[i]);
}

/* Computes the weights of the scopes; returns the number of scopes. */
static size_t attribution_compute_weights(struct attribution *charges,
                                          const struct wait_attribution *why)
{
    size_t steps = 0;
    for (size_t i = 0, end; i < charges->share_count; i = end) {
        int64_t sum = 0;
        end = scope_end(charges, why, i);
        for (size_t j = i; j < end; j++)
            sum += charges->shares[j].ns;
        charges->weights[steps++] = sum > 0 ? sum : 0;
    }
    return steps;
}

void attribution_compute(struct attribution *charges, const struct wait_attribution *why,
                         uint32_t segment, enum path_list_kind which, int64_t ns)
{
    charges->count = 0;
    read_shares(charges, which == PATH_OVERLAP ? wait_attribution_overlap(why, segment)
                                               : wait_attribution_reasons(why, segment));
    if (!charges->share_count)
        return;
    if (charges->share_count == 1) {
        attribution_add(charges, why, segment, charges->shares, ns);
        return;
    }
    attribution_sort_by_scope(charges, why);
    attribution_reserve(charges, 2 * charges->share_count);
    size_t steps = attribution_compute_weights(charges, why);
    attribution_apportion(charges, ns, charges->weights, charges->parts, steps);
    for (size_t i = 0, end, step = 0; i < charges->share_count; i = end, step++) {
        end = scope_end(charges, why, i);
        if (charges->parts[step])
            share_out(charges, why, segment, i, end, charges->parts[step]);
    }
}

void attribution_free(struct attribution *charges)
{
    free(charges->items);
    free(charges->shares);
    free(charges->weights);
    free(charges->parts);
    free(charges->rest);
    *charges = (struct attribution){.communication = charges->communication,
                                    .category = charges->category,
                                    .context = charges->context};
}
