/* Certain bounds of the offset and drift of clocks, from messages between their hosts: no message
 * arrives before it was sent.
 *
 * A message from A to B was sent at s by A's clock and got at r by B's, so B's clock showed at most
 * r when A's showed s; one back bounds it from below.  Clocks that go evenly show B = A + at +
 * drift * (A - middle): each message cuts a half-plane off what (drift, at) can be, and what is
 * left is a convex region (Duda et al. 1987).  Only the messages on the lower hull of (s, r) of
 * each direction cut anything off.
 *
 * If the region is empty, the clocks did not run so evenly: all bounds are widened by
 * `slack_ns`, until it is not.
 *
 * Ties join the messages between several hosts and bound each of their clocks.  Not thread-safe. */
#ifndef SERVER_RUN_CLOCK_BOUNDS_H
#define SERVER_RUN_CLOCK_BOUNDS_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_REGION_DRIFT 1e-3 /* maximum drift of two clocks against each other */
#define CLOCK_REGION_LEAST_NS 2.0 /* minimum slack: the error of rounding to whole ns */
#define CLOCK_REGION_MOST_NS 4e6 /* maximum slack; with more, nothing is known */
#define CLOCK_REGION_CORNERS 64u

/* ---- messages between two clocks ---- */

struct clock_message { /* times of one message, each by the clock of its host */
    int64_t sent, got;
};

/* The messages in one direction that bound the clocks most; zero-initialize it. */
struct clock_messages {
    struct clock_message *items;
    size_t count, room, hull; /* the first `hull` messages form a hull */
};

/* Adds a message; drops times that no clock shows. */
void clock_messages_add(struct clock_messages *ways, int64_t sent, int64_t got);
void clock_messages_close(struct clock_messages *ways); /* keeps only the hull, sorted by time */
void clock_messages_free(struct clock_messages *ways);

/* ---- region of what the offset and drift can be ---- */

struct clock_half_plane { /* at + drift * x <= y; not is_upper: >= */
    double x, y;
    bool is_upper;
};

struct clock_region { /* convex, its corners in order */
    struct clock_corner {
        double drift, at;
    } corners[CLOCK_REGION_CORNERS];
    unsigned count; /* 0: nothing is known */
    double slack_ns;
};

/* Computes the region within all cuts; with cuts from one side alone, nothing is known. */
void clock_region_from(struct clock_region *region, const struct clock_half_plane *cuts,
                       size_t count);
/* Computes the cuts of messages in both directions, both closed, with x relative to `middle`.
 * The array `cuts` must have room for all of them. */
size_t clock_region_cuts(struct clock_half_plane *cuts, const struct clock_messages *forth,
                         const struct clock_messages *back, double middle);

struct clock_interval {
    double low, high;
};
/* Map a reading of A's clock, as an interval relative to `middle`, to one of B's clock, and the
 * reverse. */
struct clock_interval clock_region_map(const struct clock_region *region,
                                       struct clock_interval shown);
struct clock_interval clock_region_map_back(const struct clock_region *region,
                                            struct clock_interval shown);
struct clock_interval clock_region_drift(const struct clock_region *region);
struct clock_corner clock_region_center(const struct clock_region *region);

/* ---- ties between the clocks of several hosts ---- */

struct clock_pair { /* two clocks between which messages were sent: a < b */
    uint32_t a, b;
    struct clock_messages forth, back; /* from a to b; from b to a */
};

struct clock_ties {
    uint32_t clocks;
    double middle;
    struct clock_pair *bonds;
    size_t count, room;
    struct map places; /* a, b -> 1 + place of the bond */
    /* once it is closed: the bonds of a clock c are of[begin[c]] to of[begin[c + 1] - 1] */
    size_t *begin, *of;
};

struct clock_tied { /* a clock relative to the first one */
    bool known, uneven; /* uneven: bounds were widened */
    struct clock_interval ahead_ns, drift;
};

struct clock_ties *clock_ties_new(uint32_t clocks, double middle);
/* Records a message and returns the index of its pair of clocks, which must differ. */
size_t clock_ties_note(struct clock_ties *tying, uint32_t from, uint32_t to, int64_t sent,
                       int64_t got);
void clock_ties_close(struct clock_ties *tying); /* must follow the last clock_ties_note() */
size_t clock_pair_messages(const struct clock_pair *bond);
uint32_t clock_pair_other(const struct clock_pair *bond, uint32_t clock);
/* Computes how far each clock is ahead when the first one shows `shown`. */
void clock_ties_bound(const struct clock_ties *tying, double shown, struct clock_tied *bounds);
void clock_ties_free(struct clock_ties *tying);

#endif
