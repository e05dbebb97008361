/* Overlap of scopes: which scopes were open at the same time as a given one, on other threads, and
 * for how long; and for how long each was open at all (elapsed: the union over all threads).  One
 * sweep over the call records of all threads; exact.
 *
 * A scope is open while a call of it has begun and not ended, including its callees.  Two scopes
 * are open together while one thread has the one open and another thread the other.  Times are ns.
 */
#ifndef SERVER_TIMING_SCOPE_OVERLAP_H
#define SERVER_TIMING_SCOPE_OVERLAP_H

#include "server/timing/call_entries.h"

struct scope_overlap_sums {
    uint64_t calls; /* calls that began in the range, or were open at its begin */
    int64_t elapsed_ns; /* time in which any thread had it open */
    int64_t thread_ns; /* over all threads: time of its outermost calls */
    int64_t together_ns; /* time in which it was open together with the other one */
    /* state of the computation: */
    uint32_t threads, both; /* threads that have it open; that have both open */
    int64_t since_ns, together_since_ns;
    bool together;
};

struct scope_overlap {
    uint32_t with; /* the other scope; 0: none */
    int64_t from_ns, to_ns;
    struct scope_overlap_sums *sums; /* by scope */
    uint32_t scopes; /* all are below */
    struct scope_overlap_thread *threads;
    uint32_t thread_count;
    bool begun;
};

/* Adds a thread. `o` must be zero-initialized except the request and the memory for `scopes` sums.
 * Contexts from context_count on count as scope 0. scope_of: by context; it and the thread must
 * remain valid until the end. */
void scope_overlap_add(struct scope_overlap *o, const struct call_entries_thread *thread,
                       const uint32_t *scope_of, size_t context_count);
/* Processes about `budget` records; returns true when all are processed and the sums are valid. */
bool scope_overlap_step(struct scope_overlap *o, uint64_t *budget);
void scope_overlap_free(struct scope_overlap *o);

#endif
