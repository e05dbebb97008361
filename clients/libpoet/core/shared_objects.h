/* Synchronization objects that several processes share. */
#ifndef CLIENTS_LIBPOET_CORE_SHARED_OBJECTS_H
#define CLIENTS_LIBPOET_CORE_SHARED_OBJECTS_H

#include "clients/libpoet/core/sync_object.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Takes over the descriptor of the counters that the server created, -1 if there are none. random:
 * a number that no other process has. */
void shared_object_begin(int fd, uint64_t random);
/* Memory of an object, as far as it is known. */
struct shared_memory {
    bool unknown; /* it may be shared, but this cannot be checked */
    uint8_t reach; /* which other processes can use it: LINE_ flags, 0: none */
};
/* Returns the key of the object's identity and sets its far counter; 0: it belongs to this process
 * only, or its kind has no identity for all processes. */
uint64_t shared_object_key(struct sync_object *object, struct shared_memory *memory);

/* Returns the number by which all processes of the run know the object of a shared line; 0: it
 * belongs to this process only. */
uint64_t shared_object_id(const struct trace_line *line);
/* Returns a counter of such a line other than that of its events, created with 0, or NULL if there
 * is none. */
enum shared_note { SHARED_SIGNALS = 1, SHARED_MUTEX };
_Atomic uint64_t *shared_object_note_counter(const struct trace_line *line, enum shared_note what);
/* Finds the counter of an object without an announced line, as where no recorded call uses it. */
void shared_object_find(struct sync_object *object);
/* Ends the object that was at that address before, for all processes; for objects to which the
 * caller gives no line. */
void shared_object_initialized(const void *address, enum sync_object_kind kind);

#pragma GCC visibility pop
#endif
