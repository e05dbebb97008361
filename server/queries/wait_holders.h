/* Threads that keep a waiter waiting, by the kind of what it waits for: those that hold a lock,
 * that held it when the process was forked, or that have not posted the unit of a semaphore. */
#ifndef SERVER_QUERIES_WAIT_HOLDERS_H
#define SERVER_QUERIES_WAIT_HOLDERS_H

#include "server/queries/wait_graph.h"

/* Adds a holder to an object, which must be the last one that holders were added to. */
void wait_graph_add_holder(struct wait_graph *graph, struct wait_graph_object *object,
                           struct holder_info holder);
/* Sets the process and address of a call site; those of an unknown one remain. */
void wait_holder_copy_site(const struct run *run, uint32_t site, uint32_t *process,
                           uint64_t *address);
/* Sets the call site of the event with which a holder entered the awaited line. */
void wait_holder_set_site(const struct run *run, struct holder_info *holder);
/* Finds, for a thread that holds a lock for reading and waits for it again, which other waiter
 * requested it before: since it is not this one's own hold that keeps it from reading, the lock
 * prefers that one, a writer.  The waiters are sorted. */
void wait_holders_find_ahead(struct wait_graph *graph, size_t waiter);
/* Adds the holders of the object that a thread waits for. */
void wait_holders_find(struct wait_graph *graph, struct wait_graph_object *object,
                       const struct waiter *waiter);
/* Makes a thread that is in no traced wait a waiter if it sleeps at the loader's lock, and the
 * holder is known: that has recorded nothing since it was seen asleep, holding the lock. Returns
 * whether it is one. */
bool wait_holders_find_loader(const struct wait_graph *graph, struct waiter *waiter);

#endif
