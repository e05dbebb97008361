/* The events of OpenMP, recorded through poet.h. */
#ifndef CLIENTS_LIBPOET_OPENMP_OMP_EVENTS_H
#define CLIENTS_LIBPOET_OPENMP_OMP_EVENTS_H

#include "clients/libpoet/poet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* clang-format off */
#define EVENTS(T)                                                                          \
    T(region) T(part) T(done) T(idle) T(region_end) T(reach) T(through) T(uneven)          \
    T(spawn) T(run) T(ran) T(taskwait) T(taskgroup) T(waited)                              \
    T(ordered) T(turn) T(over) T(sink) T(chosen) T(not_chosen) T(chunk) T(nothing) T(asks) \
    T(stop) T(stopped)                                                                     \
    T(acquire) T(lock) T(acquired) T(released) T(unlock) T(acquire_failed)
enum omp_event {
#define T(name) EVENT_##name,
    EVENTS(T)
#undef T
    EVENT_COUNT
};
/* clang-format on */

#define KEYS_MOST 4096u /* of one receive */

/* Returns the first half of all keys of this process, which no other process of the run has; 0: it
 * is not recorded. */
uint64_t omp_event_key_high(void);

/* Records an event on the line where the thread is; site: the call's. Returns whether it was
 * recorded. doubt: 0 or POET_DOUBT_... */
bool event_record(enum omp_event type, poet_line_t about, unsigned doubt, const void *site);
poet_event_t omp_event_record_sent(enum omp_event type, poet_line_t about, uint64_t low,
                                   const void *site);
bool event_record_send(enum omp_event type, poet_line_t about, uint64_t low, const void *site);
/* Records as many events as the keys need; without keys, one event without a message. */
bool event_record_receive(enum omp_event type, poet_line_t about, const uint64_t *low, size_t count,
                          unsigned doubt, const void *site);
bool event_record_group(enum omp_event type, poet_line_t about, uint64_t low, uint32_t members,
                        unsigned doubt, const void *site);

poet_type_t event_type(enum omp_event type);

#pragma GCC visibility pop
#endif
