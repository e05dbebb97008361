/* Objects that several processes share. */
#ifndef CLIENTS_LIBPOET_CORE_SHARED_OBJECTS_H
#define CLIENTS_LIBPOET_CORE_SHARED_OBJECTS_H

#include "clients/libpoet/core/sync_object.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Of messages by numbers that counters gave: in the first half of their keys, as others have
 * counters of their own. */
extern uint64_t shared_object_machine; /* 0: there are no counters */
/* The counters that the server gave, -1 none; takes the descriptor.  random: no other process has
 * that number. */
void shared_object_begin(int fd, uint64_t random);
/* The key of its identity, and its far counter set; 0: it is this process's alone. */
uint64_t shared_object_key(struct sync_object *object,
                           bool *unknown); /* it may be shared, and cannot be looked for */

/* The number by which all processes of the run know the object of a line that they share, 0: it is
 * this process's alone. */
uint64_t shared_object_id(const struct trace_line *line);
/* Returns a count of such a line that is not that of its events, made with 0, NULL: there is
 * none. */
enum shared_note { SHARED_SIGNALS = 1, SHARED_MUTEX };
_Atomic uint64_t *shared_object_note_counter(const struct trace_line *line, enum shared_note what);
/* Finds the counter of an object whose line is not announced, as where no recorded call uses it. */
void shared_object_find(struct sync_object *object);
/* What was at that place before is over, for all processes; for what gets no line by the caller. */
void shared_object_initialized(const void *address, enum sync_object_kind kind);

#pragma GCC visibility pop
#endif
