/* Block store: storage for the finished parts of an order.
 *
 * A part is a run of bytes that never changes.  The order keeps only what is still growing and a
 * bounded cache in memory; everything else is in the block store.  The server's block store is
 * the trace file (server/tracefile/tracefile.h); block_store_in_memory is one for tests and
 * small orders. */
#ifndef SERVER_ORDER_BLOCK_STORE_H
#define SERVER_ORDER_BLOCK_STORE_H

#include <stddef.h>
#include <stdint.h>

struct block_store {
    void *context;
    /* Stores bytes. Returns the place by which to get them, never 0. Must not fail: what cannot be
     * written yet is kept in memory. */
    uint64_t (*put)(void *context, const void *bytes, size_t size);
    /* Gets a part as new memory with 8 more bytes behind it (caller frees), or NULL: damaged. */
    uint8_t *(*get)(void *context, uint64_t place, size_t *size);
    void (*free)(void *context);
};

/* Keeps everything in memory. */
struct block_store block_store_in_memory(void);

#endif
