/* Records of events, written into the calling thread's queue. */
#ifndef CLIENTS_LIBPOET_CORE_RECORD_H
#define CLIENTS_LIBPOET_CORE_RECORD_H

#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "wire/message.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

static inline void record_mark_nonempty(void)
{
    if (!atomic_load_explicit(&tracer.events.has_any, memory_order_relaxed))
        atomic_store_explicit(&tracer.events.has_any, true, memory_order_relaxed);
}

struct record {
    uint16_t shape;
    uint16_t flags;
    struct trace_line *a, *b;
    unsigned take_a, take_b; /* numbers taken on each */
    uint32_t about;
    uintptr_t site;
    uint64_t began; /* when it happened, by record_time; 0: now */
    struct event_id partner; /* if b is NULL: line_b and number_b as they are */
    uint64_t key;
    uint32_t count;
    const void *payload;
    uint32_t payload_bytes;
    const struct slot_stack *stack; /* NULL: none */
    bool answers; /* what the text says must be the same in a replayed run */
};

/* Writes one record and publishes it. Returns the first number taken on a, and sets *first_b to the
 * first on b; returns 0 if it was dropped and only counted. */
uint64_t record_write(struct traced_thread *thread, const struct record *record, uint64_t *first_b);
uint64_t record_time(const struct traced_thread *thread);
/* Writes a pair, on b and after take_a - 1 other events on a; the hot path. Must be called while
 * busy. */
void record_pair(struct traced_thread *thread, uint16_t shape, struct trace_line *a,
                 unsigned take_a, struct trace_line *b, uintptr_t site);
/* Records that a request of a thread failed, after its lock request or together with it. */
void record_refused(struct traced_thread *thread, const struct trace_line *line, bool requested,
                    uintptr_t site);
/* Writes a single event without partners. Returns its number. */
uint64_t record_event(struct traced_thread *thread, uint16_t type, struct trace_line *line,
                      uint32_t about, uintptr_t site);
/* Writes the event by which a thread requests an object for which it may have to wait, with its
 * call stack. */
void record_request(struct traced_thread *thread, uint16_t type, struct trace_line *line,
                    uint32_t about, uintptr_t site);

#pragma GCC visibility pop
#endif
