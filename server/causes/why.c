#include "server/causes/why.h"

#include <stdlib.h>

#define FUEL 65536 /* stretches followed for one sum, at most */
#define ROOM                                                                                       \
    640 /* pieces of the bag, of 1 MB each, after which only the chief shares of a list are kept */
#define CHIEF 48

static const struct segment *segment_of(const struct why *why, uint32_t segment)
{
    return &why->paths.all->segments[segment];
}

static const struct wait *wait_of(const struct why *why, uint32_t segment)
{
    return &why->paths.all->waits[segment_of(why, segment)->wait];
}

bool why_by_meeting(const struct why *why, uint32_t segment)
{
    return why->since == SINCE_CLASS ? segment_of(why, segment)->class == WAIT_MEETING
                                     : why->since == SINCE_MEETING;
}

struct encounter why_since(const struct why *why, uint32_t segment)
{
    const struct wait *wait = wait_of(why, segment);
    return encounters_last(&why->encounters, why->paths.all, wait->thread,
                           segment_of(why, segment)->thread, wait->from_ns);
}

static void add(struct why *why, struct tally *tally, enum path_is which, uint32_t line,
                int64_t from_ns, int64_t to_ns)
{
    why->paths.fuel = FUEL;
    paths_add(&why->paths, tally, which, line, from_ns, to_ns);
}

void why_paths(struct why *why, uint32_t segment, struct tally *theirs, struct tally *mine)
{
    int64_t x = segment_begin(why->paths.all, segment), y = segment_of(why, segment)->to_ns;
    uint32_t other = segment_of(why, segment)->thread, self = wait_of(why, segment)->thread;
    if (!why_by_meeting(why, segment)) {
        add(why, theirs, PATH_OVERLAP, other, x, y);
        return;
    }
    int64_t since = why_since(why, segment).at_ns;
    add(why, theirs, PATH_EXPANDED, other, since, y);
    add(why, mine, PATH_EXPANDED, self, since, x);
}

static bool is_after(const struct pair *a, const struct pair *b)
{
    return a->step != b->step ? a->step > b->step : a->thread > b->thread;
}

static void sort_by_hand(struct share *shares, size_t count, const struct pair *pairs)
{
    for (size_t i = 1; i < count; i++) {
        struct share share = shares[i];
        size_t j = i;
        for (; j && is_after(&pairs[shares[j - 1].pair], &pairs[share.pair]); j--)
            shares[j] = shares[j - 1];
        shares[j] = share;
    }
}

/* A step as a number that is not much greater than the others: those that are not recorded come last. */
static uint32_t rank(const struct why *why, uint32_t step)
{
    uint32_t last = why->paths.all->steps.count;
    return step == STEP_STARTING ? last + 2 : step == STEP_OTHERS ? last + 1 : step;
}

static uint32_t sorted_by(const struct why *why, const struct share *share, bool thread)
{
    const struct pair *pair = &why->paths.pairs.items[share->pair];
    return thread ? pair->thread : rank(why, pair->step);
}

/* By eight bits of what they are sorted by, and as they were where those are the same. */
static void sort_bits(struct why *why, size_t count, bool thread, unsigned shift)
{
    size_t at[257] = {0};
    why->sorting = grow(why->sorting, &why->sorting_room, count, sizeof *why->sorting);
    for (size_t i = 0; i < count; i++)
        at[(sorted_by(why, &why->shares[i], thread) >> shift & 255) + 1]++;
    for (unsigned i = 1; i < 256; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < count; i++)
        why->sorting[at[sorted_by(why, &why->shares[i], thread) >> shift & 255]++] = why->shares[i];
    struct share *sorted = why->sorting;
    size_t room = why->sorting_room;
    why->sorting = why->shares;
    why->sorting_room = why->share_room;
    why->shares = sorted;
    why->share_room = room;
}

/* By steps, then by threads; by hand where they are few, as mostly. */
static void sort(struct why *why, size_t count)
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
    int64_t x = llabs(((const struct share *)a)->ns), y = llabs(((const struct share *)b)->ns);
    return x > y ? -1 : x < y;
}

/* What is more than may be kept of one list becomes one share. */
static size_t folded(struct why *why, size_t count)
{
    size_t most = why->paths.bag.count > ROOM ? CHIEF : BAG_LIST;
    if (count <= most)
        return count;
    qsort(why->shares, count, sizeof *why->shares, by_size);
    struct share rest = {.pair = paths_pair(&why->paths, 0, STEP_OTHERS)};
    for (size_t i = most - 1; i < count; i++)
        rest.ns += why->shares[i].ns;
    why->shares[most - 1] = rest;
    return most;
}

static void share(struct why *why, size_t *count, uint32_t pair, bool too, int64_t ns)
{
    why->shares = grow(why->shares, &why->share_room, *count + 1, sizeof *why->shares);
    why->shares[(*count)++] = (struct share){pair, too, ns};
}

/* The scope of a step, by a number; those of what is not recorded come first. */
static uint32_t scope_of(const struct why *why, uint32_t pair)
{
    const struct steps *steps = &why->paths.all->steps;
    uint32_t step = why->paths.pairs.items[pair].step;
    bool recorded = step && step <= steps->count;
    return (recorded ? steps_scope(steps, step) : step) + PAIRS_RESERVED;
}

/* Which scopes was who waited in, in whatever thread? */
static void note_scopes(struct why *why)
{
    for (size_t i = 0; i < why->mine.count; i++) {
        uint32_t pair = why->mine.keys[i];
        if (why->mine.ns[pair] > 0)
            tally_add(&why->stepped, scope_of(why, pair), 1);
    }
}

static bool was_there(const struct why *why, uint32_t pair)
{
    return tally_get(&why->stepped, scope_of(why, pair));
}

/* What is in `theirs` and not in `mine`, as a list; both are empty then. */
static uint64_t difference(struct why *why)
{
    size_t count = 0;
    note_scopes(why);
    for (size_t i = 0; i < why->theirs.count; i++) {
        uint32_t pair = why->theirs.keys[i];
        int64_t ns = why->theirs.ns[pair] - tally_get(&why->mine, pair);
        if (ns)
            share(why, &count, pair, was_there(why, pair), ns);
    }
    for (size_t i = 0; i < why->mine.count; i++) {
        uint32_t pair = why->mine.keys[i];
        if (why->mine.ns[pair] && (pair >= why->theirs.room || !why->theirs.at[pair]))
            share(why, &count, pair, true, -why->mine.ns[pair]);
    }
    tally_clear(&why->theirs);
    tally_clear(&why->mine);
    tally_clear(&why->stepped);
    count = folded(why, count);
    sort(why, count);
    return bag_put(&why->paths.bag, why->shares, count);
}

static void explain(struct why *why, uint32_t segment)
{
    int64_t x = segment_begin(why->paths.all, segment), y = segment_of(why, segment)->to_ns;
    uint32_t other = segment_of(why, segment)->thread;
    if (y <= x) {
        paths_know(&why->paths, 0, 0);
        return;
    }
    if (other == wait_of(why, segment)->thread)
        other = 0; /* nobody waits for himself */
    add(why, &why->theirs, PATH_OVERLAP, other, x, y);
    uint64_t overlap = difference(why), reasons = overlap;
    if (why_by_meeting(why, segment) && other) {
        why_paths(why, segment, &why->theirs, &why->mine);
        reasons = difference(why);
    }
    paths_know(&why->paths, overlap, reasons);
}

bool why_go_on(struct why *why, uint64_t budget)
{
    const struct intervals *all = why->paths.all;
    for (uint64_t until = why->paths.visited + budget; why->done < all->wait_count; why->done++) {
        if (why->paths.visited >= until)
            return false;
        const struct wait *wait = &all->waits[why->done];
        for (uint32_t i = 0; i < wait->count; i++)
            explain(why, wait->segment + i);
        encounters_add(&why->encounters, all, wait);
        why->paths.visited++;
    }
    return true;
}

void why_free(struct why *why)
{
    const struct intervals *all = why->paths.all;
    paths_free(&why->paths);
    encounters_free(&why->encounters);
    tally_free(&why->theirs);
    tally_free(&why->mine);
    tally_free(&why->stepped);
    free(why->shares);
    free(why->sorting);
    *why = (struct why){.since = why->since, .paths.all = all};
}
