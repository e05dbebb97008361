/* Search for wakers: which threads woke the waiters of an object before, and so may do it again.
 *
 * Threads that wait to be woken (for a signal, a post, the other members of a barrier) are grouped
 * by object and types of wake-up events (waker_subject).  The log, or the line of the object, is
 * searched backwards for such events, up to a limit, and what was found is compared with the waits.
 * The caller adds all waiters, then continues the three stages in their order, each until it
 * returns true.  Not thread-safe. */
#ifndef SERVER_QUERIES_WAKER_SEARCH_H
#define SERVER_QUERIES_WAKER_SEARCH_H

#include "server/queries/wait_graph.h"

#define WAKERS_MOST 64u
#define WAKER_PAIRS_MOST 16u /* maximum number of wakers, and of waiters, that are compared */

/* An object at which threads wait to be woken, all by the same types of events. */
struct waker_subject {
    uint32_t line;
    uint32_t next; /* 1 + index of another subject of this object, with other types; 0: none */
    size_t waiters[WAKER_PAIRS_MOST]; /* indices, the longest wait first */
    unsigned waiter_count;
    uint32_t waiting; /* number of all its waiters */
    const struct target_names *wakers, *expects;
    bool rests; /* its threads wait for work, so there is no diagnosis */
    uint32_t meets; /* as at a barrier, all must arrive, with an event of this type; 0: not so */
    bool own;        /* the events of its line are searched, not the log */
    uint64_t ordinal;
    /* settled: a thread that can still wake the waiters was found; cut: the search was limited. */
    bool settled, cut;
    struct past_waker {
        uint32_t thread;
        uint64_t position;
        int64_t time_ns;
        bool woke_none; /* it must arrive, too, but its event woke no thread */
    } able[WAKERS_MOST];
    unsigned able_count;
    bool begun; /* an arrival was found in the backward search */
    uint32_t left[WAKERS_MOST]; /* threads that arrived the previous time, and not since */
    unsigned left_count;
    const struct past_waker *waker; /* the last possible waker; NULL: none */
    int64_t went_on_ns; /* the last time that a waiter resumed; INT64_MIN: never */
    uint32_t resumed; /* the thread that resumed after the last possible waker; 0: none, several */
    unsigned resumed_count; /* number of these events */
    uint32_t doubts;
    uint8_t waker_relation;
    size_t reported_waiter; /* index of the waiter that is reported */
};

struct waker_search {
    const struct wait_graph *graph;
    /* returns whether a thread resumes if every waiter is woken */
    bool (*can_resume)(const void *context, uint32_t thread);
    const void *context;
    uint8_t *wanted; /* by line - 1: whether the log is searched for events about the object */
    uint32_t *subject_of; /* by line - 1: 1 + index of its last subject; 0: none */
    struct waker_subject *subjects;
    size_t count, room;
    uint64_t from, least; /* the log is searched from `from` on; the search ends at `least` */
    size_t at; /* index of the current subject */
    unsigned able, waiter; /* indices of the pair being compared */
    bool comparing;
    struct comparison *comparison;
};

/* Begins a search.  The graph must be complete; it and the context are borrowed. */
void waker_search_begin(struct waker_search *search, const struct wait_graph *graph,
                        bool (*can_resume)(const void *context, uint32_t thread),
                        const void *context);
void waker_search_free(struct waker_search *search); /* frees what it contains */

/* Returns whether it waits at an object of the kernel, such as a pipe: any thread of a process that
 * has it may wake the thread, whether it did before or not. */
bool waker_search_is_communication(const struct waker_search *search, const struct waiter *waiter);
/* Returns whether the kernel may wake the waiters of a subject, too. */
bool waker_search_may_kernel_wake(const struct waker_search *search,
                                  const struct waker_subject *subject);
/* Returns whether a process that is not traced may open the object of a subject by its name. */
bool waker_search_may_process_open(const struct waker_search *search,
                                   const struct waker_subject *subject);
/* Returns whether a diagnosis may be based on a wait: at a FIFO or queue that any process can
 * open by its name, if several processes of the run used it; else one that is not traced may be
 * meant to. */
bool waker_search_may_conclude(const struct waker_search *search,
                               const struct waker_subject *subject);
/* Returns whether it waits until another thread wakes it, and it is known which can. */
bool waker_search_needs_waking(const struct waker_search *search, const struct waiter *waiter);
/* Adds a waiter, by its index in the graph, to its object, unless it needs no waking. */
void waker_search_add(struct waker_search *search, size_t waiter);
/* Returns the object and types that a waiter waits for, or NULL. */
struct waker_subject *waker_search_subject(const struct waker_search *search,
                                           const struct waiter *waiter);

/* Search the log and the lines of objects, and compare what they found with the waits, up to about
 * *budget events. */
bool waker_search_scan_log(struct waker_search *search, uint64_t *budget);
bool waker_search_scan_lines(struct waker_search *search, uint64_t *budget);
bool waker_search_compare(struct waker_search *search, uint64_t *budget);

/* Returns the event at a position. */
struct event_id waker_search_event_at(const struct waker_search *search, uint64_t position);

#endif
