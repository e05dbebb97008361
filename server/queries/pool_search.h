/* Search for pools: condition variables at which threads waited before, as the threads of a pool do
 * for work, that are all blocked elsewhere now, while a signal came that woke none.
 *
 * The log is searched backwards, up to a limit, and only if threads hang.  The caller continues the
 * search until it returns true.  Not thread-safe. */
#ifndef SERVER_QUERIES_POOL_SEARCH_H
#define SERVER_QUERIES_POOL_SEARCH_H

#include "server/queries/wait_graph.h"

#define POOL_THREADS 64u /* maximum number of threads of a pool */

struct pool {
    uint32_t line; /* of the condition variable */
    bool excluded;
    uint64_t signal; /* position of the last event about it, a signal */
    const struct target_event *wait; /* of its threads; NULL: none was found */
    struct pool_thread {
        uint32_t thread;
        uint64_t waited; /* position of its last wait there */
    } threads[POOL_THREADS];
    unsigned count;
};

struct pool_search {
    const struct wait_graph *graph;
    /* returns whether a thread is blocked, and will not resume */
    bool (*is_stuck)(const void *context, uint32_t thread);
    const void *context;
    uint8_t *wanted; /* by line - 1: events about the line are searched */
    uint32_t *pool_of; /* by line - 1: 1 + index of its pool; 0: no event was found */
    uint32_t wanted_count;
    struct pool *pools; /* those that are not excluded are the result */
    size_t count, room;
    uint64_t from, least; /* the log is searched from `from` on; the search ends at `least` */
};

/* Begins a search.  The graph must be complete; it and the context are borrowed. */
void pool_search_begin(struct pool_search *search, const struct wait_graph *graph,
                       bool (*is_stuck)(const void *context, uint32_t thread), const void *context);
void pool_search_free(struct pool_search *search); /* frees what it contains */
/* Searches about *budget events; returns true at the end. */
bool pool_search_step(struct pool_search *search, uint64_t *budget);

#endif
