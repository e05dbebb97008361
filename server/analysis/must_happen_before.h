/* Must-happen-before relation of a run: happened-before without the edges of lock hand-over, kept
 * as vector clocks.
 *
 * The happened-before order of a run includes the succession at each lock, which depends on
 * scheduling.  Here that is left out: an event is before another one if program order and edges
 * between threads say so, and no trace line of a lock is between them.  Kept as vectors (Fidge
 * 1988, Mattern 1989) of strands, which are threads and hidden lines.  A new vector is made only
 * where its strand comes after another one.  Not thread-safe. */
#ifndef SERVER_ANALYSIS_MUST_HAPPEN_BEFORE_H
#define SERVER_ANALYSIS_MUST_HAPPEN_BEFORE_H

#include "server/order/order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The events that must happen before an event of a strand. */
struct mhb_vector {
    uint32_t count; /* of strands */
    uint32_t at[]; /* by strand: 1 + position, counted from the first; 0: nothing of that strand */
};

/* An event's clock; valid while the struct must_happen_before exists. */
struct mhb_clock_mark {
    uint32_t strand, at; /* at 0: none */
    const struct mhb_vector *after; /* NULL: nothing */
};

struct mhb_thread {
    const struct mhb_vector *now;
    uint32_t at; /* of its last event */
    struct sure_since {
        uint32_t at;
        const struct mhb_vector *after;
    } *since; /* by at */
    size_t count, room;
};

struct must_happen_before {
    const struct order *order;
    /* True if the succession on the line depends on scheduling. */
    bool (*is_lock)(const void *context, uint32_t line);
    const void *context;
    uint64_t first; /* position */
    struct mhb_thread *strands;
    uint32_t strand_count;
    size_t strand_room;
    uint32_t *of_line, *of_hidden; /* 1 + strand; 0: none */
    size_t line_room, hidden_room;
    struct mhb_last {
        uint32_t strand, at;
    } *last; /* on each line */
    size_t last_room;
    void **blocks; /* of vectors */
    size_t block_count, block_room;
    size_t bytes; /* of all vectors */
    /* by strand: scratch memory for joining the vectors of a synchronization point */
    uint32_t *joined;
    size_t joined_room;
};

#define MHB_BYTES_MAX (512u << 20)

/* Adds the events of one synchronization point, with positions in the log from `first` on; points
 * must be added in the order of the log.  Returns false, and adds nothing, if MHB_BYTES_MAX is
 * exceeded. */
bool mhb_add_point(struct must_happen_before *sure, uint64_t first,
                   const struct order_event *events, uint32_t count);
/* Returns the clock of the last event of a thread that was added. */
struct mhb_clock_mark mhb_clock(const struct must_happen_before *sure, uint32_t thread);
/* Returns the clock of an event that was added. */
struct mhb_clock_mark mhb_clock_at(const struct must_happen_before *sure, uint32_t thread,
                                   uint64_t position);
/* Returns whether a must happen before b.  No event is before itself. */
bool mhb_before(struct mhb_clock_mark a, struct mhb_clock_mark b);
void mhb_free(struct must_happen_before *sure); /* frees the memory; it is empty then */

#endif
