/* The orders in which threads acquire locks, in one run or several of a program, and what
 * contradicts them: cycles (potential deadlocks: Goodlock, Havelund 2000), and a file of the
 * orders that are intended.
 *
 * An order is "a lock is requested while another one is held". Locks and threads have the same
 * name in each run. Orders of one thread only, and those below a lock that all of a cycle hold,
 * cannot deadlock. Not thread-safe. */
#ifndef CLIENTS_SCHEDULE_LOCK_ORDERS_H
#define CLIENTS_SCHEDULE_LOCK_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCK_CYCLE_MOST 4u /* locks of a cycle */
#define LOCKS_HELD_MOST 16u

struct lock_orders;

/* A request of a lock by a thread that holds another one, the first time in a run. */
struct acquisition_order {
    uint32_t held, requested; /* locks, by lock_orders_lock() */
    uint32_t run;
    const char *thread;
    bool single; /* no other thread of the run has this name */
    const char *text; /* a description for messages */
    uint32_t outer[LOCKS_HELD_MOST]; /* the other locks that the thread holds */
    unsigned outer_count;
};

struct lock_orders *lock_orders_new(void);
void lock_orders_free(struct lock_orders *orders);
/* Returns the number of a lock, from 0. */
uint32_t lock_orders_lock(struct lock_orders *orders, const char *name);
const char *lock_orders_name(const struct lock_orders *orders, uint32_t lock);
/* Adds an order; the texts are copied. Repeats of the same locks, thread and outer locks in one run
 * are ignored. */
void lock_orders_add(struct lock_orders *orders, const struct acquisition_order *order);

struct lock_cycle {
    const struct acquisition_order
        *orders[LOCK_CYCLE_MOST]; /* each requests what the next one holds */
    unsigned count;
};

/* Returns the cycles for which orders of different runs are needed, of each set of locks the first
 * that was added. The array is the caller's, its orders are valid until another is added. */
struct lock_cycle *lock_orders_cycles(const struct lock_orders *orders, uint32_t *count);

/* ---- intended orders ---- */

/* Reads intended orders: each line has locks, the one to be acquired first first, separated by
 * white space; "#" begins a comment. Returns false with the number of the line that contradicts an
 * earlier one, or has one lock only. */
bool lock_orders_read(struct lock_orders *orders, const char *text, unsigned *line);
/* Returns the added orders that the intended ones forbid, the first of each pair of locks. The
 * array is the caller's. */
const struct acquisition_order **lock_orders_violations(const struct lock_orders *orders,
                                                        uint32_t *count);

#endif
