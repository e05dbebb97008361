/* Event counters of lines that several processes report: a memfd with the seals F_SEAL_SHRINK and
 * F_SEAL_GROW that the server passes to every program of a run with its WELCOME.
 *
 * A table with open addressing: the first process that uses a line claims an entry for its key by a
 * compare-and-swap; entries are never freed. The server reads nothing in it.
 *
 * A pthread object has one entry for its address: above the last number on the line, the word has
 * the lifetime of the object, which each initialization increments. */
#ifndef WIRE_SHARED_COUNTERS_H
#define WIRE_SHARED_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

#define COUNTERS 65536u /* a power of two */

struct shared_counter {
    _Atomic uint64_t key;    /* of a line's identity; 0: free */
    _Atomic uint64_t number; /* last one allocated */
};

#define COUNTER_LIFETIME(word) ((uint32_t)((word) >> 40))
#define COUNTER_NUMBER(word) ((word) & ((UINT64_C(1) << 40) - 1))
#define COUNTER_BEGINS(lifetime) ((uint64_t)(lifetime) << 40)
#define COUNTER_LIFETIMES (1u << 24)

#define COUNTERS_BYTES (COUNTERS * sizeof(struct shared_counter))

#endif
