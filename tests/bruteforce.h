/* The order of a random execution by brute force: a matrix of reachability. */
#ifndef TESTS_BRUTEFORCE_H
#define TESTS_BRUTEFORCE_H

#include "server/order/order.h"

#define EXECUTION_EVENTS 400
#define EXECUTION_LINES 12

struct execution { /* points: events with one id share everything */
    struct arrival arrivals[EXECUTION_EVENTS];
    struct event_id partners[EXECUTION_EVENTS];
    uint32_t point[EXECUTION_EVENTS]; /* number of its point */
    uint32_t count, points, lines;
    bool shared[EXECUTION_LINES + 1];
    uint8_t before[EXECUTION_EVENTS][EXECUTION_EVENTS]; /* by point: transitive */
    uint8_t direct[EXECUTION_EVENTS][EXECUTION_EVENTS]; /* how many edges say it at once */
    bool lost[EXECUTION_EVENTS]; /* by event: it is not fed */
};

/* Types used: 1 plain, 2 release (collected), 3 taken (after release), 4 read, 5 write. */
void execution_make(struct execution *x, unsigned seed);
enum causal_relation execution_compare(const struct execution *x, uint32_t a, uint32_t b);
/* An order with the same lines and after sets, nothing accepted yet. */
struct order *execution_order(const struct execution *x);
/* Accepts all arrivals in a random order. */
void execution_feed(const struct execution *x, struct order *order, unsigned seed);
/* Only the first .. end - 1 of them, in the order that the seed makes. */
void execution_feed_part(const struct execution *x, struct order *order, unsigned seed,
                         uint32_t first, uint32_t end);
/* Makes as if some edges had not been seen: the events they lead to are doubtful.  x->before is
 * then what is known. */
void execution_hide(struct execution *x, unsigned seed);
/* Is there a doubtful event before (or at) one of the two and not the other? */
bool execution_doubts_differ(const struct execution *x, uint32_t a, uint32_t b);
/* The reasons of all those: bits of enum untraced_reason. */
uint32_t execution_doubts_between(const struct execution *x, uint32_t a, uint32_t b);
/* Loses some events; x->before stays what was. */
void execution_lose(struct execution *x, unsigned seed);
uint32_t execution_random(unsigned *state, uint32_t below);

#endif
