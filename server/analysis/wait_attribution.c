#define _GNU_SOURCE
#include "server/analysis/wait_attribution.h"

#include "base/lower_bound.h"
#include "server/order/order.h"

#include <stdlib.h>

static void *last_sync_lookup(const struct last_sync_index *encounters, uint32_t a, uint32_t b)
{
    return map_get(&encounters->last, a < b ? a : b, a < b ? b : a);
}

/* Adds the wait intervals of a wait.  Waits must be added in their order. */
static void last_sync_add(struct last_sync_index *encounters, const struct intervals *all,
                          const struct wait_record *wait)
{
    for (uint32_t i = wait->segment; i < wait->segment + wait->count; i++) {
        encounters->before = array_reserve(encounters->before, &encounters->room, (size_t)i + 1,
                                           sizeof *encounters->before);
        encounters->before[i] = 0;
        uint32_t a = wait->thread, b = all->segments[i].thread;
        if (all->segments[i].class != WAIT_RENDEZVOUS)
            continue;
        encounters->before[i] = (uint32_t)(uintptr_t)last_sync_lookup(encounters, a, b);
        map_put(&encounters->last, a < b ? a : b, a < b ? b : a, (void *)((uintptr_t)i + 1));
    }
}

/* Returns how many of a thread's group memberships are at or before a time. */
static size_t last_sync_count_gatherings(const struct thread_timeline *course, int64_t until_ns)
{
    return LOWER_BOUND(i, 0, course->gathering_count, course->gatherings[i].at_ns <= until_ns);
}

/* Walks both lists back to the last group of both threads, no further than `since`. */
static int64_t last_sync_common_gathering(const struct thread_timeline *a,
                                          const struct thread_timeline *b, int64_t since_ns,
                                          int64_t until_ns)
{
    size_t i = last_sync_count_gatherings(a, until_ns), j = last_sync_count_gatherings(b, until_ns);
    while (i && j) {
        const struct gathering *x = &a->gatherings[i - 1], *y = &b->gatherings[j - 1];
        if (x->at_ns <= since_ns || y->at_ns <= since_ns)
            break;
        if (x->at_ns == y->at_ns && x->group == y->group)
            return x->at_ns;
        if (x->at_ns > y->at_ns || (x->at_ns == y->at_ns && x->group > y->group))
            i--;
        else
            j--;
    }
    return INTERVALS_NEVER;
}

static uint32_t depth_of(const struct intervals *all, const struct thread_timeline *course)
{
    uint32_t depth = 0;
    for (;
         course && course->maker && course->made_ns != INTERVALS_NEVER && depth < all->thread_count;
         depth++)
        course = intervals_for_thread(all, course->maker);
    return depth;
}

/* One of two chains of creators, followed backwards. */
struct creator_walk {
    const struct thread_timeline *at;
    int64_t left_ns; /* creation time of the thread that was followed last */
    uint64_t left; /* position of its creation */
    uint32_t depth, steps;
};

static void last_sync_step_back(const struct intervals *all, struct creator_walk *descent)
{
    descent->left_ns = descent->at->made_ns;
    descent->left = descent->at->made;
    descent->at = intervals_for_thread(all, descent->at->maker);
    descent->depth--;
    descent->steps++;
}

static int64_t last_sync_earlier_time(int64_t a, int64_t b)
{
    return a == INTERVALS_NEVER ? b : b == INTERVALS_NEVER || a < b ? a : b;
}

/* Finds where the chains of creators of two threads diverge. */
static struct last_sync last_sync_common_creator(const struct intervals *all,
                                                 const struct thread_timeline *p,
                                                 const struct thread_timeline *q)
{
    struct creator_walk a = {p, INTERVALS_NEVER, NO_POSITION, depth_of(all, p), 0},
                        b = {q, INTERVALS_NEVER, NO_POSITION, depth_of(all, q), 0};
    while (a.at && b.at && a.at != b.at && (a.depth || b.depth))
        last_sync_step_back(all, a.depth >= b.depth ? &a : &b);
    if (!a.at || !b.at)
        return (struct last_sync){INTERVALS_NEVER, SYNC_KIND_NEVER, NO_POSITION};
    if (a.at != b.at)
        return (struct last_sync){last_sync_earlier_time(a.at->start_ns, b.at->start_ns),
                                  SYNC_KIND_NEVER, NO_POSITION};
    int64_t left_ns = last_sync_earlier_time(a.left_ns, b.left_ns);
    return (struct last_sync){left_ns, a.steps && b.steps ? SYNC_KIND_PARTED : SYNC_KIND_MADE,
                              left_ns == a.left_ns ? a.left : b.left};
}

/* Returns the last synchronization of two threads that is not after a time. */
static struct last_sync last_sync_find(const struct last_sync_index *encounters,
                                       const struct intervals *all, uint32_t a, uint32_t b,
                                       int64_t until_ns)
{
    uint32_t at = (uint32_t)(uintptr_t)last_sync_lookup(encounters, a, b);
    while (at && all->segments[at - 1].to_ns > until_ns)
        at = encounters->before[at - 1];
    struct last_sync met = {at ? all->segments[at - 1].to_ns : INTERVALS_NEVER, SYNC_KIND_WAITING,
                            at ? all->segments[at - 1].release : NO_POSITION};
    const struct thread_timeline *p = intervals_for_thread(all, a),
                                 *q = intervals_for_thread(all, b);
    int64_t group_ns =
        p && q ? last_sync_common_gathering(p, q, met.at_ns, until_ns) : INTERVALS_NEVER;
    if (group_ns != INTERVALS_NEVER)
        met = (struct last_sync){group_ns, SYNC_KIND_GATHERING, NO_POSITION};
    if (met.at_ns == INTERVALS_NEVER)
        met = last_sync_common_creator(all, p, q);
    if (met.at_ns == INTERVALS_NEVER || met.at_ns > until_ns) {
        met.at_ns = until_ns;
        met.position = NO_POSITION;
    }
    return met;
}

/* frees the memory; it is empty then */
static void last_sync_free(struct last_sync_index *encounters)
{
    map_free(&encounters->last);
    free(encounters->before);
    *encounters = (struct last_sync_index){0};
}

#define FUEL 65536 /* maximum number of time spans that are followed for one sum */
/* pieces of the list pool, of 1 MB each, after which only the largest shares of a list are kept
 */
#define ROOM 640
#define CHIEF 48

static const struct wait_interval *wait_attribution_segment_of(const struct wait_attribution *why,
                                                               uint32_t segment)
{
    return &why->paths.all->segments[segment];
}

static const struct wait_record *wait_attribution_wait_of(const struct wait_attribution *why,
                                                          uint32_t segment)
{
    return &why->paths.all->waits[wait_attribution_segment_of(why, segment)->wait];
}

bool wait_attribution_by_sync(const struct wait_attribution *why, uint32_t segment)
{
    return why->since == SINCE_CLASS
               ? wait_attribution_segment_of(why, segment)->class == WAIT_RENDEZVOUS
               : why->since == SINCE_LAST_SYNC;
}

struct last_sync wait_attribution_since(const struct wait_attribution *why, uint32_t segment)
{
    const struct wait_record *wait = wait_attribution_wait_of(why, segment);
    return last_sync_find(&why->encounters, why->paths.all, wait->thread,
                          wait_attribution_segment_of(why, segment)->thread, wait->from_ns);
}

static void wait_attribution_add_path(struct wait_attribution *why, struct accumulator *tally,
                                      enum path_list_kind which, uint32_t line, int64_t from_ns,
                                      int64_t to_ns)
{
    why->paths.fuel = FUEL;
    path_difference_add(&why->paths, tally, which, line, from_ns, to_ns);
}

void wait_attribution_paths(struct wait_attribution *why, uint32_t segment,
                            struct accumulator *theirs, struct accumulator *mine)
{
    int64_t x = wait_interval_begin(why->paths.all, segment),
            y = wait_attribution_segment_of(why, segment)->to_ns;
    uint32_t other = wait_attribution_segment_of(why, segment)->thread,
             self = wait_attribution_wait_of(why, segment)->thread;
    if (!wait_attribution_by_sync(why, segment)) {
        wait_attribution_add_path(why, theirs, PATH_OVERLAP, other, x, y);
        return;
    }
    int64_t since = wait_attribution_since(why, segment).at_ns;
    wait_attribution_add_path(why, theirs, PATH_EXPANDED, other, since, y);
    wait_attribution_add_path(why, mine, PATH_EXPANDED, self, since, x);
}

static bool wait_attribution_is_after(const struct segment_id *a, const struct segment_id *b)
{
    return a->step != b->step ? a->step > b->step : a->thread > b->thread;
}

static void wait_attribution_sort_by_hand(struct path_share *shares, size_t count,
                                          const struct segment_id *pairs)
{
    for (size_t i = 1; i < count; i++) {
        struct path_share share = shares[i];
        size_t j = i;
        for (; j && wait_attribution_is_after(&pairs[shares[j - 1].pair], &pairs[share.pair]); j--)
            shares[j] = shares[j - 1];
        shares[j] = share;
    }
}

/* Returns a rank of a code segment for sorting; the special segments come last. */
static uint32_t wait_attribution_step_rank(const struct wait_attribution *why, uint32_t step)
{
    uint32_t last = why->paths.all->steps.count;
    return step == STEP_STARTING ? last + 2 : step == STEP_OTHERS ? last + 1 : step;
}

static uint32_t wait_attribution_sort_key(const struct wait_attribution *why,
                                          const struct path_share *share, bool thread)
{
    const struct segment_id *pair = &why->paths.pairs.items[share->pair];
    return thread ? pair->thread : wait_attribution_step_rank(why, pair->step);
}

/* Counting sort (stable) by eight bits of the key: one pass of a radix sort. */
static void wait_attribution_sort_bits(struct wait_attribution *why, size_t count, bool thread,
                                       unsigned shift)
{
    size_t at[257] = {0};
    why->sorting = array_reserve(why->sorting, &why->sorting_room, count, sizeof *why->sorting);
    for (size_t i = 0; i < count; i++)
        at[(wait_attribution_sort_key(why, &why->shares[i], thread) >> shift & 255) + 1]++;
    for (unsigned i = 1; i < 256; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < count; i++)
        why->sorting[at[wait_attribution_sort_key(why, &why->shares[i], thread) >> shift & 255]++] =
            why->shares[i];
    struct path_share *sorted = why->sorting;
    size_t room = why->sorting_room;
    why->sorting = why->shares;
    why->sorting_room = why->share_room;
    why->shares = sorted;
    why->share_room = room;
}

/* Sorts shares by code segment, then by thread; with insertion sort if there are few, as is usual.
 */
static void wait_attribution_sort_shares(struct wait_attribution *why, size_t count)
{
    if (count <= 24) {
        wait_attribution_sort_by_hand(why->shares, count, why->paths.pairs.items);
        return;
    }
    for (unsigned thread = 2; thread-- > 0;) {
        uint32_t most = 0;
        for (size_t i = 0; i < count; i++)
            most |= wait_attribution_sort_key(why, &why->shares[i], thread);
        for (unsigned shift = 0; shift < 32 && most >> shift; shift += 8)
            wait_attribution_sort_bits(why, count, thread, shift);
    }
}

static int wait_attribution_by_size(const void *a, const void *b)
{
    int64_t x = llabs(((const struct path_share *)a)->ns),
            y = llabs(((const struct path_share *)b)->ns);
    return x > y ? -1 : x < y;
}

/* Merges the smallest shares into one if there are more than a list may have; returns the count. */
static size_t wait_attribution_limit_shares(struct wait_attribution *why, size_t count)
{
    size_t most = why->paths.bag.count > ROOM ? CHIEF : LIST_POOL_LIST_MAX;
    if (count <= most)
        return count;
    qsort(why->shares, count, sizeof *why->shares, wait_attribution_by_size);
    struct path_share rest = {.pair = path_difference_pair(&why->paths, 0, STEP_OTHERS)};
    for (size_t i = most - 1; i < count; i++)
        rest.ns += why->shares[i].ns;
    why->shares[most - 1] = rest;
    return most;
}

static void wait_attribution_add_share(struct wait_attribution *why, size_t *count, uint32_t pair,
                                       bool too, int64_t ns)
{
    why->shares = array_reserve(why->shares, &why->share_room, *count + 1, sizeof *why->shares);
    why->shares[(*count)++] = (struct path_share){pair, too, ns};
}

/* Returns the scope of a code segment as a number; those of special segments come first. */
static uint32_t wait_attribution_scope_of(const struct wait_attribution *why, uint32_t pair)
{
    const struct code_segments *steps = &why->paths.all->steps;
    uint32_t step = why->paths.pairs.items[pair].step;
    bool recorded = step && step <= steps->count;
    return (recorded ? code_segments_scope(steps, step) : step) + SEGMENT_IDS_RESERVED;
}

/* Notes the scopes of the waiter's path, whichever thread executed them. */
static void wait_attribution_note_scopes(struct wait_attribution *why)
{
    for (size_t i = 0; i < why->mine.count; i++) {
        uint32_t pair = why->mine.keys[i];
        if (why->mine.ns[pair] > 0)
            accumulator_add(&why->stepped, wait_attribution_scope_of(why, pair), 1);
    }
}

static bool wait_attribution_was_there(const struct wait_attribution *why, uint32_t pair)
{
    return accumulator_get(&why->stepped, wait_attribution_scope_of(why, pair));
}

/* Stores `theirs` minus `mine` as a list of shares, and empties both; returns the list's number. */
static uint64_t wait_attribution_store_difference(struct wait_attribution *why)
{
    size_t count = 0;
    wait_attribution_note_scopes(why);
    for (size_t i = 0; i < why->theirs.count; i++) {
        uint32_t pair = why->theirs.keys[i];
        int64_t ns = why->theirs.ns[pair] - accumulator_get(&why->mine, pair);
        if (ns)
            wait_attribution_add_share(why, &count, pair, wait_attribution_was_there(why, pair),
                                       ns);
    }
    for (size_t i = 0; i < why->mine.count; i++) {
        uint32_t pair = why->mine.keys[i];
        if (why->mine.ns[pair] && (pair >= why->theirs.room || !why->theirs.at[pair]))
            wait_attribution_add_share(why, &count, pair, true, -why->mine.ns[pair]);
    }
    accumulator_clear(&why->theirs);
    accumulator_clear(&why->mine);
    accumulator_clear(&why->stepped);
    count = wait_attribution_limit_shares(why, count);
    wait_attribution_sort_shares(why, count);
    return list_pool_append(&why->paths.bag, why->shares, count);
}

static void wait_attribution_attribute_segment(struct wait_attribution *why, uint32_t segment)
{
    int64_t x = wait_interval_begin(why->paths.all, segment),
            y = wait_attribution_segment_of(why, segment)->to_ns;
    uint32_t other = wait_attribution_segment_of(why, segment)->thread;
    if (y <= x) {
        path_difference_store(&why->paths, 0, 0);
        return;
    }
    if (other == wait_attribution_wait_of(why, segment)->thread)
        other = 0; /* a thread does not wait for itself */
    wait_attribution_add_path(why, &why->theirs, PATH_OVERLAP, other, x, y);
    uint64_t overlap = wait_attribution_store_difference(why), reasons = overlap;
    if (wait_attribution_by_sync(why, segment) && other) {
        wait_attribution_paths(why, segment, &why->theirs, &why->mine);
        reasons = wait_attribution_store_difference(why);
    }
    path_difference_store(&why->paths, overlap, reasons);
}

bool wait_attribution_step(struct wait_attribution *why, uint64_t budget)
{
    const struct intervals *all = why->paths.all;
    for (uint64_t until = why->paths.visited + budget; why->done < all->wait_count; why->done++) {
        if (why->paths.visited >= until)
            return false;
        const struct wait_record *wait = &all->waits[why->done];
        for (uint32_t i = 0; i < wait->count; i++)
            wait_attribution_attribute_segment(why, wait->segment + i);
        last_sync_add(&why->encounters, all, wait);
        why->paths.visited++;
    }
    return true;
}

void wait_attribution_free(struct wait_attribution *why)
{
    const struct intervals *all = why->paths.all;
    path_difference_free(&why->paths);
    last_sync_free(&why->encounters);
    accumulator_free(&why->theirs);
    accumulator_free(&why->mine);
    accumulator_free(&why->stepped);
    free(why->shares);
    free(why->sorting);
    *why = (struct wait_attribution){.since = why->since, .paths.all = all};
}

/* ---- attribution to code segments ---- */

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

/* Distributes a whole in proportion to weights, which must not be negative nor all 0. */
static void attribution_apportion(struct attribution *charges, int64_t whole,
                                  const int64_t *weights, int64_t *parts, size_t count)
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

static void attribution_read_shares(struct attribution *charges, struct list_pool_reader reader)
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
static uint32_t attribution_scope_of(const struct wait_attribution *why,
                                     const struct path_share *share)
{
    const struct code_segments *steps = &why->paths.all->steps;
    uint32_t step = wait_attribution_pair(why, share->pair).step;
    return step && step <= steps->count ? code_segments_scope(steps, step) : step;
}

static int attribution_by_scope(const void *a, const void *b, void *context)
{
    const struct path_share *x = a, *y = b;
    struct segment_id p = wait_attribution_pair(context, x->pair),
                      q = wait_attribution_pair(context, y->pair);
    uint32_t s = attribution_scope_of(context, x), t = attribution_scope_of(context, y);
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
        apart = attribution_scope_of(why, &charges->shares[i]) !=
                wait_attribution_pair(why, charges->shares[i].pair).step;
    if (apart)
        qsort_r(charges->shares, charges->share_count, sizeof *charges->shares,
                attribution_by_scope, (void *)(uintptr_t)why);
}

/* Returns the index after the shares of the same scope. */
static size_t attribution_scope_end(const struct attribution *charges,
                                    const struct wait_attribution *why, size_t from)
{
    uint32_t scope = attribution_scope_of(why, &charges->shares[from]);
    while (++from < charges->share_count &&
           attribution_scope_of(why, &charges->shares[from]) == scope)
        ;
    return from;
}

static enum cause_kind attribution_kind_of(const struct attribution *charges,
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
                                 .kind = attribution_kind_of(charges, why, segment, share),
                                 .direct = wait_attribution_pair(why, share->pair).thread ==
                                           why->paths.all->segments[segment].thread};
}

/* Distributes time within a scope among the code segments and threads with positive shares, in
 * proportion to these. */
static void attribution_share_out(struct attribution *charges, const struct wait_attribution *why,
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
        end = attribution_scope_end(charges, why, i);
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
    attribution_read_shares(charges, which == PATH_OVERLAP
                                         ? wait_attribution_overlap(why, segment)
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
        end = attribution_scope_end(charges, why, i);
        if (charges->parts[step])
            attribution_share_out(charges, why, segment, i, end, charges->parts[step]);
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
