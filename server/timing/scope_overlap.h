/* Which scopes were open at the same time as one, on other threads, and for how long; and for how
 * long each was open at all (elapsed: the union over all threads).  One sweep over when the calls
 * of all threads began and ended: exact.
 *
 * A scope is open where a call of it has begun and not ended, whatever it calls.  Two scopes are
 * open together while one thread has the one open, and another one the other.  Times are ns. */
#ifndef SERVER_TIMING_SCOPE_OVERLAP_H
#define SERVER_TIMING_SCOPE_OVERLAP_H

#include "server/timing/call_entries.h"

struct scope_overlap_sums {
    uint64_t calls; /* that began in the range, or were open when it began */
    int64_t elapsed_ns; /* any thread had it open */
    int64_t thread_ns; /* over all threads: of the outermost calls of it */
    int64_t together_ns; /* with the other one */
    /* while it is worked out: */
    uint32_t threads, both; /* that have it open; that have both open */
    int64_t since_ns, together_since_ns;
    bool together;
};

struct scope_overlap {
    uint32_t with; /* scope; 0: none */
    int64_t from_ns, to_ns;
    struct scope_overlap_sums *sums; /* by scope */
    uint32_t scopes; /* all are below */
    struct scope_overlap_thread *threads;
    uint32_t thread_count;
    bool begun;
};

/* Zero-initialised, with what is asked for and room for `scopes` sums.  Scopes of contexts from
 * context_count on are not known: 0.  scope_numbers_of: of its contexts; the thread and that stay
 * until the end. */
void scope_overlap_add(struct scope_overlap *o, const struct call_entries_thread *thread,
                       const uint32_t *scope_of, size_t context_count);
/* About `budget` entries more; true: that was all, and the sums are there. */
bool scope_overlap_step(struct scope_overlap *o, uint64_t *budget);
void scope_overlap_free(struct scope_overlap *o);

#endif
