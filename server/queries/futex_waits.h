/* Waits that no event records, but the samples of sleeping threads: without a timeout, and such
 * that only another thread of the program can end them.  There are two kinds: at futexes, by a call
 * that libpoet saw, and in event loops, for descriptors that no other process has.
 *
 * If the task of a future has begun, the thread that runs it is the only one: the once flag in
 * which libstdc++ runs the task, and sets the value, is a traced object. */
#ifndef SERVER_QUERIES_FUTEX_WAITS_H
#define SERVER_QUERIES_FUTEX_WAITS_H

#include "server/queries/wait_graph.h"
#include "wire/request.h"

/* Makes a thread that is in no traced wait a waiter if it sleeps so. */
bool futex_wait_find(const struct run *run, const struct wait_graph_sleeper *asleep,
                     struct waiter *waiter);
/* Appends a response part for a sleeping thread. */
void futex_wait_put_sleeper(const struct wait_graph *graph, const struct wait_graph_sleeper *asleep,
                            struct response *reply);

/* Sets which process, of which nothing is recorded, can end a wait at a pipe or the like, too. */
void futex_wait_set_outsider(const struct run *run, const struct waiter *waiter,
                             struct wait_info *wait);

#endif
