/* What messages say of two clocks, for certain: no message is there before it went.
 *
 * A message from A to B was sent at s by A's clock and got at r by B's, so B's clock showed at most r when A's
 * showed s; one back bounds it from below.  Clocks that go evenly show B = A + at + drift * (A - middle): each message
 * cuts a half-plane off what (drift, at) can be, and what is left is a convex region (Duda et al. 1987).  Of all
 * messages one way only those on the lower hull of (s, r) cut anything off.
 *
 * Where nothing is left no clock went so evenly: all bounds are widened until something is, which `slack_ns` says. */
#ifndef SERVER_RUN_BOUNDS_H
#define SERVER_RUN_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOUNDS_DRIFT 1e-3 /* of two clocks against each other, at most */
#define BOUNDS_LEAST_NS 2.0 /* what rounding to whole ns may be off */
#define BOUNDS_MOST_NS 4e6 /* slack; beyond it nothing is known */
#define BOUNDS_CORNERS 64u

struct way { /* one message: by the clock of either */
    int64_t sent, got;
};

struct ways { /* of all messages from one to the other those that say most; zeroes: none */
    struct way *items;
    size_t count, room, hull; /* so many of the first are a hull */
};

void ways_add(struct ways *ways, int64_t sent, int64_t got);
void ways_close(struct ways *ways); /* only the hull is left, by time */
void ways_free(struct ways *ways);

struct cut { /* at + drift * x <= y; not is_upper: >= */
    double x, y;
    bool is_upper;
};

struct possible { /* convex, its corners in turn */
    struct corner {
        double drift, at;
    } corners[BOUNDS_CORNERS];
    unsigned count; /* 0: nothing is known */
    double slack_ns;
};

/* What is left behind all cuts; with cuts from one side alone: nothing is known. */
void possible_of(struct possible *region, const struct cut *cuts, size_t count);
/* The same of messages there and back, both closed, with x from a middle; the cuts go to room for all of them. */
size_t bounds_cuts(struct cut *cuts, const struct ways *forth, const struct ways *back,
                   double middle);

struct between {
    double low, high;
};
/* What B's clock shows when A's shows something in an interval, less `middle`; and the other way round. */
struct between possible_there(const struct possible *region, struct between shown);
struct between possible_back(const struct possible *region, struct between shown);
struct between possible_drift(const struct possible *region);
struct corner possible_centre(const struct possible *region);

#endif
