/* Why waits took so long: for each segment of a wait, what ran meanwhile, and what made the other come later.
 *
 * Of a segment x..y of a wait of p for q:
 *     overlap   what ran from x to y, in q or whom q waited for
 *     reasons   exclusion: the overlap: nobody could have come earlier
 *               meeting: the expanded path of q from T to y, less that of p from T to x; T: when the two met last
 * Both add up to the length of the segment, to the nanosecond; single reasons may be negative: p did more of it.
 *
 * Computed in steps, wait by wait in their order; what is known stays as it is as the run grows.  Not thread-safe. */
#ifndef SERVER_CAUSES_WHY_H
#define SERVER_CAUSES_WHY_H

#include "server/causes/encounters.h"
#include "server/causes/paths.h"

/* How far back one looks. */
enum since {
    SINCE_CLASS, /* as the class of the segment says */
    SINCE_WAIT, /* always to the wait's begin */
    SINCE_MEETING, /* always to the last meeting */
};

/* Zero-initialised but for `since` and paths.all: nothing is known. */
struct why {
    enum since since;
    struct paths paths;
    struct encounters encounters;
    size_t done; /* waits */
    struct tally theirs, mine, stepped; /* scratch */
    struct share *shares, *sorting; /* likewise */
    size_t share_room, sorting_room;
};

/* Goes on for about so many intervals looked at.  True: all waits there are now are known. */
bool why_go_on(struct why *why, uint64_t budget);

/* Whether a segment is looked at from a meeting on, and from when. */
bool why_by_meeting(const struct why *why, uint32_t segment);
struct encounter why_since(const struct why *why, uint32_t segment);
/* What is known of a segment, in the order of steps, then of threads; of a wait that is done. */
static inline struct bag_reader why_overlap(const struct why *why, uint32_t segment)
{
    return bag_open(&why->paths.bag, why->paths.lists[PATH_OVERLAP][segment]);
}
static inline struct bag_reader why_reasons(const struct why *why, uint32_t segment)
{
    return bag_open(&why->paths.bag, why->paths.lists[PATH_EXPANDED][segment]);
}
static inline struct pair why_pair(const struct why *why, uint32_t pair)
{
    return why->paths.pairs.items[pair];
}

/* The two paths side by side, of a segment that is known: of whom it waited for and of who waited, into two tallies
 * (added to) of `pairs`. */
void why_paths(struct why *why, uint32_t segment, struct tally *theirs, struct tally *mine);
void why_free(struct why *why); /* empties it, but for paths.all */

#endif
