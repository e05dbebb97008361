/* The order that atomic operations make, by the rules of C11: a release operation heads a release
 * sequence, a read-modify-write continues it, a relaxed store ends it (that of its own thread it
 * continues, unless a unit of the program was compiled as C++20, C23 or later: they have dropped
 * that), and an acquire operation synchronizes with all heads of the value that it reads.
 * Sequentially consistent operations release and acquire; their total order is not used.
 *
 * An operation is made between a call that begins it and one that ends it. */
#ifndef CLIENTS_LIBPOET_ATOMICS_ATOMIC_ORDER_H
#define CLIENTS_LIBPOET_ATOMICS_ATOMIC_ORDER_H

#include "clients/libpoet/atomics/atomic_objects.h"
#include "clients/libpoet/atomics/atomic_thread.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* One operation. The object is NULL if it is not traced. */
struct atomic_operation {
    struct atomic_thread *thread;
    struct atomic_object *object;
    const volatile void *address;
    size_t bytes;
    const void *site;
    uint64_t sequence;
    int order;
    bool locked;
    bool passes; /* a load that nothing can be learned from */
};

/* Returns whether an order, as the compiler passes it, acquires or releases. */
static inline int atomic_order_of(int order) { return order & 0x7fff; }
static inline bool atomic_order_acquires(int order)
{
    return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}
static inline bool atomic_order_releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* Begins a store or a read-modify-write (update). `found`: the value that is there; if a traced
 * operation did not leave it, the object is another one now. Nothing is recorded of an operation
 * that releases only if it succeeds, and will not (writes: false). */
void atomic_order_begin_write(struct atomic_operation *operation, const volatile void *address,
                              size_t bytes, struct atomic_value found, bool update, bool writes);
/* End it: a store, of `stored`, over `found`; an update that has read `found`; and a compare and
 * exchange that has failed, with its own order. */
void atomic_order_end_store(struct atomic_operation *operation, struct atomic_value found,
                            struct atomic_value stored);
void atomic_order_end_update(struct atomic_operation *operation, struct atomic_value found,
                             struct atomic_value stored);
void atomic_order_end_failure(struct atomic_operation *operation, struct atomic_value found,
                              int order);

/* Begins a load. */
void atomic_order_begin_load(struct atomic_operation *operation, const volatile void *address,
                             size_t bytes);
/* Ends it. Returns false if it must be begun again: a writer was at work. */
bool atomic_order_end_load(struct atomic_operation *operation, struct atomic_value found);

void atomic_order_fence(int order, const void *site);

#pragma GCC visibility pop
#endif
