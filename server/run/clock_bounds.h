/* Certain bounds of the offset and drift of two clocks, from messages: no message arrives before it
 * was sent.
 *
 * A message from A to B was sent at s by A's clock and got at r by B's, so B's clock showed at most
 * r when A's showed s; one back bounds it from below.  Clocks that go evenly show B = A + at +
 * drift * (A - middle): each message cuts a half-plane off what (drift, at) can be, and what is
 * left is a convex region (Duda et al. 1987).  Only the messages on the lower hull of (s, r) of
 * each direction cut anything off.
 *
 * If the region is empty, the clocks did not run so evenly: all bounds are widened by
 * `slack_ns`, until it is not. */
#ifndef SERVER_RUN_CLOCK_BOUNDS_H
#define SERVER_RUN_CLOCK_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_REGION_DRIFT 1e-3 /* maximum drift of two clocks against each other */
#define CLOCK_REGION_LEAST_NS 2.0 /* minimum slack: the error of rounding to whole ns */
#define CLOCK_REGION_MOST_NS 4e6 /* maximum slack; with more, nothing is known */
#define CLOCK_REGION_CORNERS 64u

struct clock_message { /* times of one message, each by the clock of its host */
    int64_t sent, got;
};

struct
    /* the messages in one direction that bound the clocks most; zero-initialize it */
    clock_messages {
    struct clock_message *items;
    size_t count, room, hull; /* the first `hull` messages form a hull */
};

void clock_messages_add(struct clock_messages *ways, int64_t sent, int64_t got);
void clock_messages_close(struct clock_messages *ways); /* keeps only the hull, sorted by time */
void clock_messages_free(struct clock_messages *ways);

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

#endif
