/* What is certainly before what in a run, whoever is first at a lock: who made, let go on or met
 * whom.
 *
 * The order of a run has also the succession at each lock, which luck decided.  Here that is left
 * out: an event is before another if its thread's own succession and edges between threads say so,
 * and no line of a lock is between them.  Kept as vectors (Fidge 1988, Mattern 1989) of strands,
 * which are threads and hidden lines; one is made anew only where its strand comes after
 * another. */
#ifndef SERVER_ANALYSIS_MUST_HAPPEN_BEFORE_H
#define SERVER_ANALYSIS_MUST_HAPPEN_BEFORE_H

#include "server/order/order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a strand is certainly after. */
struct mhb_vector {
    uint32_t count; /* of strands */
    uint32_t at[]; /* 1 + position, from the first; 0: nothing of it */
};

/* An event, as long as the struct must_happen_before is there. */
struct mhb_clock_mark {
    uint32_t strand, at; /* at 0: none */
    const struct mhb_vector *after; /* NULL: nothing */
};

struct mhb_thread {
    const struct mhb_vector *now;
    uint32_t at; /* its last event */
    struct sure_since {
        uint32_t at;
        const struct mhb_vector *after;
    } *since; /* by at */
    size_t count, room;
};

struct must_happen_before {
    const struct order *order;
    bool (*is_lock)(const void *context, uint32_t line); /* succession on it is luck */
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
    size_t bytes; /* of them */
    uint32_t *joined; /* by strand, for who meets */
    size_t joined_room;
};

#define MHB_BYTES_MAX (512u << 20)

/* The events of one point, which stand at these positions of the log; in the order of the log.
 * False: there is no more room, and nothing was learnt. */
bool mhb_add_point(struct must_happen_before *sure, uint64_t first,
                   const struct order_event *events, uint32_t count);
/* A thread's last event that was learnt. */
struct mhb_clock_mark mhb_clock(const struct must_happen_before *sure, uint32_t thread);
/* Of an event that was learnt before. */
struct mhb_clock_mark mhb_clock_at(const struct must_happen_before *sure, uint32_t thread,
                                   uint64_t position);
/* Is a certainly before b?  No event is before itself. */
bool mhb_before(struct mhb_clock_mark a, struct mhb_clock_mark b);
void mhb_free(struct must_happen_before *sure); /* empties it */

#endif
