#define _GNU_SOURCE
#include "server/causes/charges.h"

#include <stdlib.h>

__extension__ typedef __int128 wide; /* a product of two times */

struct remainder {
    int64_t left;
    size_t of;
};

static int larger(const void *a, const void *b)
{
    const struct remainder *x = a, *y = b;
    if (x->left != y->left)
        return x->left > y->left ? -1 : 1;
    return x->of < y->of ? -1 : 1;
}

/* whole * weight / sum, and what is left over. */
static int64_t divided(int64_t whole, int64_t weight, wide sum, int64_t *left)
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

void charges_apportion(struct charges *charges, int64_t whole, const int64_t *weights,
                       int64_t *parts, size_t count)
{
    wide sum = 0;
    int64_t given = 0;
    charges->rest = grow(charges->rest, &charges->rest_room, count, sizeof *charges->rest);
    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    for (size_t i = 0; i < count; i++) {
        charges->rest[i].of = i;
        parts[i] = divided(whole, weights[i], sum, &charges->rest[i].left);
        given += parts[i];
    }
    if (given < whole)
        qsort(charges->rest, count, sizeof *charges->rest, larger);
    for (size_t i = 0; given < whole; i++, given++)
        parts[charges->rest[i].of]++;
}

static void read_shares(struct charges *charges, struct bag_reader reader)
{
    charges->share_count = 0;
    charges->shares =
        grow(charges->shares, &charges->share_room, reader.left, sizeof *charges->shares);
    while (bag_next(&reader, &charges->shares[charges->share_count]))
        charges->share_count++;
}

static void room(struct charges *charges, size_t count)
{
    charges->weights =
        grow(charges->weights, &charges->weight_room, count, sizeof *charges->weights);
    charges->parts = grow(charges->parts, &charges->part_room, count, sizeof *charges->parts);
}

/* The scope of a share, as the number of one of its steps. */
static uint32_t scope_of(const struct why *why, const struct share *share)
{
    const struct steps *steps = &why->paths.all->steps;
    uint32_t step = why_pair(why, share->pair).step;
    return step && step <= steps->count ? steps_scope(steps, step) : step;
}

static int by_scope(const void *a, const void *b, void *context)
{
    const struct share *x = a, *y = b;
    struct pair p = why_pair(context, x->pair), q = why_pair(context, y->pair);
    uint32_t s = scope_of(context, x), t = scope_of(context, y);
    if (s != t)
        return s < t ? -1 : 1;
    if (p.step != q.step)
        return p.step < q.step ? -1 : 1;
    return p.thread < q.thread ? -1 : p.thread > q.thread;
}

/* Of a function that several called its steps do not stand side by side. */
static void gather(struct charges *charges, const struct why *why)
{
    bool apart = false;
    for (size_t i = 0; i < charges->share_count && !apart; i++)
        apart = scope_of(why, &charges->shares[i]) != why_pair(why, charges->shares[i].pair).step;
    if (apart)
        qsort_r(charges->shares, charges->share_count, sizeof *charges->shares, by_scope,
                (void *)(uintptr_t)why);
}

/* The end of the shares of the same scope. */
static size_t scope_end(const struct charges *charges, const struct why *why, size_t from)
{
    uint32_t scope = scope_of(why, &charges->shares[from]);
    while (++from < charges->share_count && scope_of(why, &charges->shares[from]) == scope)
        ;
    return from;
}

static enum cause_kind kind_of(const struct charges *charges, const struct why *why,
                               uint32_t segment, const struct share *share)
{
    const struct intervals *all = why->paths.all;
    uint32_t code = why_pair(why, share->pair).step;
    if (all->segments[segment].class == WAIT_EXCLUSION || code == STEP_STARTING)
        return CAUSE_CONTENTION;
    if (code && code <= all->steps.count) {
        struct step step = steps_at(&all->steps, code);
        uint8_t category =
            charges->category ? charges->category(charges->context, code) : step.category;
        if (step.is == STEP_LATENCY || (category < 64 && charges->communication >> category & 1))
            return CAUSE_CONTENTION;
    }
    return share->too ? CAUSE_IMBALANCE : CAUSE_SERIAL;
}

static void charge(struct charges *charges, const struct why *why, uint32_t segment,
                   const struct share *share, int64_t ns)
{
    if (!ns)
        return;
    charges->items =
        grow(charges->items, &charges->room, charges->count + 1, sizeof *charges->items);
    charges->items[charges->count++] = (struct charge){
        .pair = share->pair,
        .ns = ns,
        .kind = kind_of(charges, why, segment, share),
        .direct = why_pair(why, share->pair).thread == why->paths.all->segments[segment].thread};
}

/* Within a scope: among those steps and threads that took more. */
static void share_out(struct charges *charges, const struct why *why, uint32_t segment, size_t from,
                      size_t to, int64_t ns)
{
    int64_t *weights = charges->weights + charges->share_count,
            *parts = charges->parts + charges->share_count;
    for (size_t i = from; i < to; i++)
        weights[i] = charges->shares[i].ns > 0 ? charges->shares[i].ns : 0;
    charges_apportion(charges, ns, weights + from, parts + from, to - from);
    for (size_t i = from; i < to; i++)
        charge(charges, why, segment, &charges->shares[i], parts[i]);
}

/* The weights of the scopes; returns how many there are. */
static size_t weigh(struct charges *charges, const struct why *why)
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

void charges_of(struct charges *charges, const struct why *why, uint32_t segment,
                enum path_is which, int64_t ns)
{
    charges->count = 0;
    read_shares(charges,
                which == PATH_OVERLAP ? why_overlap(why, segment) : why_reasons(why, segment));
    if (!charges->share_count)
        return;
    if (charges->share_count == 1) {
        charge(charges, why, segment, charges->shares, ns);
        return;
    }
    gather(charges, why);
    room(charges, 2 * charges->share_count);
    size_t steps = weigh(charges, why);
    charges_apportion(charges, ns, charges->weights, charges->parts, steps);
    for (size_t i = 0, end, step = 0; i < charges->share_count; i = end, step++) {
        end = scope_end(charges, why, i);
        if (charges->parts[step])
            share_out(charges, why, segment, i, end, charges->parts[step]);
    }
}

void charges_free(struct charges *charges)
{
    free(charges->items);
    free(charges->shares);
    free(charges->weights);
    free(charges->parts);
    free(charges->rest);
    *charges = (struct charges){.communication = charges->communication,
                                .category = charges->category,
                                .context = charges->context};
}
