/* Placement of a program's tasks on its carriers (wire/task_placement.h): encodes the ring of one
 * carrier as bodies of SPANS and decodes them for a session.  The contents of a ring are not
 * trusted.
 *
 * The body: u32 the task that is on the carrier when it begins, 0 none, and u64 since when; u64
 * switches lost before it; u64 a time; u32 the number of switches; then for each switch two
 * numbers, encoded as in wire/message.h: the ns since the one before, and the task.  Tasks are
 * codes, times CLOCK_MONOTONIC's; after lost switches another body begins, with an unknown task
 * on the carrier. */
#ifndef SERVER_DECODE_PLACEMENT_RECORDS_H
#define SERVER_DECODE_PLACEMENT_RECORDS_H

#include "server/decode/tsc_clock.h"
#include "wire/message.h"
#include "wire/task_placement.h"

struct placement_ring {
    struct placement_ring *next;
    struct task_placement_head *head; /* mapped */
    uint32_t carrier; /* its number in the program */
    uint64_t taken; /* switches; our own copy */
    uint32_t on; /* the task that is on it, 0 none, */
    uint64_t since_ns; /* and since when */
    uint64_t last_ns, lost; /* of the switch before; lost switches, not reported yet */
};

/* Maps a ring and puts it at the front of a list; the descriptor stays the caller's.  NULL, or what
 * is wrong with it. */
const char *placement_ring_add(struct placement_ring **list, int fd, uint32_t carrier);
void placement_ring_free(struct placement_ring *ring);
unsigned placement_ring_is_full(const struct placement_ring *ring); /* in 256th */
bool placement_ring_is_over(const struct placement_ring *ring); /* empty, and nothing more comes */
/* Appends the body of a SPANS with what is there, up to some thousand; false: there is nothing, and
 * nothing was appended. */
bool placement_ring_decode(struct placement_ring *ring, struct tsc_clock *ticks,
                           struct encoder *out);

#endif
