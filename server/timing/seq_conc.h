/* Sequential or concurrent: in which state functions were called, by callers that had been called
 * in which (Malony, cprof, 1987): S-S, S-C, C-S, C-C, with how often, how long by threads and how
 * long by the clock.  One sweep over when the calls of all threads began and ended: exact.
 *
 * A call is concurrent (C) if, as it begins, another thread is between its first call and its last,
 * does not wait, and is not away: what is known besides of when threads were blocked (as the idle
 * ones of a pool) is given with them; else sequential (S).
 *
 * An arc of a caller that was sequential is S-S or S-C as the call is.  Of a caller that was
 * concurrent itself, what it calls on its own thread is no more concurrent than it is: C-S; C-C is
 * what a thread that it made begins with.  What a thread begins with is called by whoever made the
 * thread, from the innermost call that he was in.  Times are ns. */
#ifndef SERVER_TIMING_SEQ_CONC_H
#define SERVER_TIMING_SEQ_CONC_H

#include "server/timing/call_entries.h"

#define SEQ_CONC_CASES 4u /* state of the caller * 2 + how it is called; 1 is C */

struct seq_conc_sums {
    uint32_t from,
        to; /* scopes; from 0: of `to`, whoever called it; to 0: of all that `from` called */
    uint8_t is; /* its case; with from 0 its state, 0 or 1 */
    uint64_t calls;
    int64_t thread_ns; /* summed over threads: while each was in one of them, or several */
    int64_t elapsed_ns; /* while any thread was in one of them */
    uint32_t open; /* threads that are */
    int64_t since_ns;
};

/* Zero-initialised, with these set: */
struct seq_conc {
    uint32_t scopes; /* all are below */
    const bool *waits; /* by scope: it is no call but waiting, or no one scope */
    /* the answer: */
    struct seq_conc_sums *items;
    size_t count, room;
    /* its own: */
    struct map index;
    struct seq_conc_thread *threads;
    uint32_t thread_count;
    bool begun;
};

#define SEQ_CONC_NO_CALLER UINT32_MAX
/* From when to when a thread did nothing. */
struct seq_conc_absence {
    int64_t from_ns, to_ns;
};

/* A thread; maker: the number, in the order of adding, of the thread that made it, and when.  What
 * is given stays until the end; `away`, in the order of time, is the callee's. */
void seq_conc_add(struct seq_conc *c, const struct call_entries_thread *thread,
                  const uint32_t *scope_of, size_t context_count, uint32_t maker, int64_t made_ns);
void seq_conc_add_absence(struct seq_conc *c, struct seq_conc_absence *away,
                          size_t count); /* of the last one added */
/* About `budget` entries more; true: that was all. */
bool seq_conc_step(struct seq_conc *c, uint64_t *budget);
void seq_conc_free(struct seq_conc *c);

#endif
