/* Sequential and concurrent calls: in which state functions were called, and in which state their
 * callers had been called (Malony, cprof, 1987): S-S, S-C, C-S, C-C, each with its number of calls,
 * thread time and elapsed time.  One sweep over the call records of all threads; exact.
 *
 * A call is concurrent (C) if, as it begins, another thread is between its first call and its last,
 * does not wait, and is not absent; else it is sequential (S).  Absences are times in which a
 * thread is known to be blocked (such as idle threads of a pool); the caller adds them.  A thread
 * that waits at a barrier does not wait any more once the last member has arrived, so that of
 * threads that one barrier releases together each counts, whichever runs first.
 *
 * An arc of a sequential caller is S-S or S-C as the call is.  If the caller is concurrent, its
 * calls on its own thread are no more concurrent than itself: C-S.  C-C is the first call of a
 * thread that it created.  The first call of a thread is attributed to the creating thread, in the
 * innermost call that this was in.
 *
 * The sums can be divided by thread, or by the place (a CPU) where the calls began.  Times are
 * ns. */
#ifndef SERVER_TIMING_SEQ_CONC_H
#define SERVER_TIMING_SEQ_CONC_H

#include "server/timing/call_entries.h"

struct seq_conc_sums {
    uint32_t from, to; /* scopes; from 0: all calls of `to`; to 0: all calls by `from` */
    uint32_t in; /* thread, or place, where the calls began; 0: all */
    uint8_t is; /* state of the caller * 2 + state of the call, 1 is C; with from 0 the latter */
    uint64_t calls;
    uint64_t same; /* calls that began while another thread ran in the same function */
    int64_t thread_ns; /* sum over threads: time in which each was in one of these calls */
    int64_t elapsed_ns; /* time in which any thread was in one of them */
    uint32_t open; /* threads in one of them now */
    int64_t since_ns;
};

/* Zero-initialize it except these: */
struct seq_conc {
    uint32_t scopes; /* all are below */
    const bool *waits; /* by scope: it is waiting rather than a call, or not a single scope */
    /* Results: */
    struct seq_conc_sums *items;
    size_t count, room;
    /* Private: */
    struct map index;
    struct seq_conc_thread *threads;
    uint32_t thread_count;
    bool begun;
};

#define SEQ_CONC_NO_CALLER UINT32_MAX
/* A time in which a thread did nothing. */
struct seq_conc_absence {
    int64_t from_ns, to_ns;
};

/* Adds a thread. maker: number, in the order of adding, of the thread that created it; made_ns:
 * when.  The arguments must remain valid until the end. */
void seq_conc_add(struct seq_conc *c, const struct call_entries_thread *thread,
                  const uint32_t *scope_of, size_t context_count, uint32_t maker, int64_t made_ns);
/* Adds absences, in the order of time, of the thread added last; takes ownership of `absences`. */
void seq_conc_add_absence(struct seq_conc *c, struct seq_conc_absence *absences, size_t count);
/* Adds the times, in ascending order, at which barriers release the thread added last; takes
 * ownership of `at_ns`. */
void seq_conc_add_releases(struct seq_conc *c, int64_t *at_ns, size_t count);
/* A time in which a thread was in a place. */
struct seq_conc_place {
    int64_t from_ns, to_ns;
    uint32_t in;
};
/* Adds where the thread added last was, in the order of time; takes ownership of `places`.  Calls
 * that begin at other times are in place 0. */
void seq_conc_add_places(struct seq_conc *c, struct seq_conc_place *places, size_t count);
/* Processes about `budget` records; returns true when all are processed. */
bool seq_conc_step(struct seq_conc *c, uint64_t *budget);
void seq_conc_free(struct seq_conc *c);

#endif
