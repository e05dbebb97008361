/* Who was in which line from when to when: the visits of late, so that from the event by which one left, the one by which
 * it had come in is found at once.
 *
 * On each line the newest HOLDS_KEPT visits are kept.  Not thread-safe. */
#ifndef SERVER_MEASURE_HOLDS_H
#define SERVER_MEASURE_HOLDS_H

#include "memory/map.h"

#include <stdbool.h>
#include <stdint.h>

#ifndef HOLDS_KEPT /* a power of two */
#define HOLDS_KEPT 256u
#endif

struct hold {
    uint64_t entry, exit; /* positions */
    int64_t entry_ns;
};

/* Zero-initialised: nobody was anywhere. */
struct holds {
    struct holds_line {
        struct hold *kept; /* a ring, as soon as it has HOLDS_KEPT of them */
        size_t room;
        uint64_t count; /* that there were */
    } *lines; /* by line - 1 */
    size_t line_room;
    struct map inside; /* line and thread -> the visit under way */
};

/* A thread comes into a line.  If it is there already, the visit goes on, or, anew, it counts from here. */
void holds_enter(struct holds *holds, uint32_t line, uint32_t thread, uint64_t position,
                 int64_t at_ns, bool anew);
/* It leaves; false: it was not seen to come in. */
bool holds_leave(struct holds *holds, uint32_t line, uint32_t thread, uint64_t position);
/* The visit that ended with the event at this position; false: it ended none, or that is long ago. */
bool holds_ended(const struct holds *holds, uint32_t line, uint64_t position, struct hold *hold);
void holds_free(struct holds *holds); /* empties it */

#endif
