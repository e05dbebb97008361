#include "server/analysis/wait_attribution.h"

#include <stdlib.h>

#define FUEL 65536 /* maximum number of time spans that are followed for one sum */
/* pieces of the list pool, of 1 MB each, after which only the largest shares of a list are kept
 */
#define ROOM 640
#define CHIEF 48

static const struct wait_interval *segment_of(const struct wait_attribution *why, uint32_t segment)
{
    return &why->paths.all->segments[segment];
}

static const struct wait_record *wait_of(const struct wait_attribution *why, uint32_t segment)
{
    return &why->paths.all->waits[segment_of(why, segment)->wait];
}

bool wait_attribution_by_sync(const struct wait_attribution *why, uint32_t segment)
{
    return why->since == SINCE_CLASS ? segment_of(why, segment)->class == WAIT_RENDEZVOUS
                                     : why->since == SINCE_LAST_SYNC;
}

struct last_sync wait_attribution_since(const struct wait_attribution *why, uint32_t segment)
{
    const struct wait_record *wait = wait_of(why, segment);
    return last_sync_find(&why->encounters, why->paths.all, wait->thread,
                          segment_of(why, segment)->thread, wait->from_ns);
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
    int64_t x = wait_interval_begin(why->paths.all, segment), y = segment_of(why, segment)->to_ns;
    uint32_t other = segment_of(why, segment)->thread, self = wait_of(why, segment)->thread;
    if (!wait_attribution_by_sync(why, segment)) {
        wait_attribution_add_path(why, theirs, PATH_OVERLAP, other, x, y);
        return;
    }
    int64_t since = wait_attribution_since(why, segment).at_ns;
    wait_attribution_add_path(why, theirs, PATH_EXPANDED, other, since, y);
    wait_attribution_add_path(why, mine, PATH_EXPANDED, self, since, x);
}

static bool is_after(const struct segment_id *a, const struct segment_id *b)
{
    return a->step != b->step ? a->step > b->step : a->thread > b->thread;
}

static void sort_by_hand(struct path_share *shares, size_t count, const struct segment_id *pairs)
{
    for (size_t i = 1; i < count; i++) {
        struct path_share share = shares[i];
        size_t j = i;
        for (; j && is_after(&pairs[shares[j - 1].pair], &pairs[share.pair]); j--)
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

static uint32_t sorted_by(const struct wait_attribution *why, const struct path_share *share,
                          bool thread)
{
    const struct segment_id *pair = &why->paths.pairs.items[share->pair];
    return thread ? pair->thread : wait_attribution_step_rank(why, pair->step);
}

/* Counting sort (stable) by eight bits of the key: one pass of a radix sort. */
static void sort_bits(struct wait_attribution *why, size_t count, bool thread, unsigned shift)
{
    size_t at[257] = {0};
    why->sorting = array_reserve(why->sorting, &why->sorting_room, count, sizeof *why->sorting);
    for (size_t i = 0; i < count; i++)
        at[(sorted_by(why, &why->shares[i], thread) >> shift & 255) + 1]++;
    for (unsigned i = 1; i < 256; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < count; i++)
        why->sorting[at[sorted_by(why, &why->shares[i], thread) >> shift & 255]++] = why->shares[i];
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
        sort_by_hand(why->shares, count, why->paths.pairs.items);
        return;
    }
    for (unsigned thread = 2; thread-- > 0;) {
        uint32_t most = 0;
        for (size_t i = 0; i < count; i++)
            most |= sorted_by(why, &why->shares[i], thread);
        for (unsigned shift = 0; shift < 32 && most >> shift; shift += 8)
            sort_bits(why, count, thread, shift);
    }
}

static int by_size(const void *a, const void *b)
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
    qsort(why->shares, count, sizeof *why->shares, by_size);
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
static uint32_t scope_of(const struct wait_attribution *why, uint32_t pair)
{
    const struct code_segments *steps = &why->paths.all->steps;
    uint32_t step = why->paths.pairs.items[pair].step;
    bool recorded = step && step <= steps->count;
    return (recorded ? code_segments_scope(steps, step) : step) + SEGMENT_IDS_RESERVED;
}

/* Notes the scopes of the waiter's path, whichever thread executed them. */
static void note_scopes(struct wait_attribution *why)
{
    for (size_t i = 0; i < why->mine.count; i++) {
        uint32_t pair = why->mine.keys[i];
        if (why->mine.ns[pair] > 0)
            accumulator_add(&why->stepped, scope_of(why, pair), 1);
    }
}

static bool was_there(const struct wait_attribution *why, uint32_t pair)
{
    return accumulator_get(&why->stepped, scope_of(why, pair));
}

/* Stores `theirs` minus `mine` as a list of shares, and empties both; returns the list's number. */
static uint64_t wait_attribution_store_difference(struct wait_attribution *why)
{
    size_t count = 0;
    note_scopes(why);
    for (size_t i = 0; i < why->theirs.count; i++) {
        uint32_t pair = why->theirs.keys[i];
        int64_t ns = why->theirs.ns[pair] - accumulator_get(&why->mine, pair);
        if (ns)
            wait_attribution_add_share(why, &count, pair, was_there(why, pair), ns);
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
    int64_t x = wait_interval_begin(why->paths.all, segment), y = segment_of(why, segment)->to_ns;
    uint32_t other = segment_of(why, segment)->thread;
    if (y <= x) {
        path_difference_store(&why->paths, 0, 0);
        return;
    }
    if (other == wait_of(why, segment)->thread)
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
