/* Who was in which line from when to when: the visits of late, so that from the event by which one
 * left, the one by which it had come in is found at once.
 *
 * On each line the newest LOCK_HOLDERS_KEPT visits are kept; where there are very many lines, fewer
 * of those that come into use late.  Not thread-safe. */
#ifndef SERVER_TIMING_LOCK_HOLDERS_H
#define SERVER_TIMING_LOCK_HOLDERS_H

#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>

#ifndef LOCK_HOLDERS_KEPT /* powers of two */
#define LOCK_HOLDERS_KEPT 256u
#endif
#define LOCK_HOLDERS_FEW 16u /* of each line, once there are */
#ifndef LOCK_HOLDERS_MANY
#define LOCK_HOLDERS_MANY (1u << 20) /* of all lines */
#endif

struct lock_hold {
    uint64_t number; /* of those on its line that ended */
    uint64_t entry, exit; /* positions */
    uint64_t before; /* the event before its entry on the line */
    int64_t entry_ns, exit_ns;
    uint32_t thread;
    bool plain; /* its entry's point comes after nothing but what is before on its lines */
};

/* Zero-initialised: nobody was anywhere. */
struct lock_holders {
    struct lock_holders_line {
        struct lock_hold *kept; /* a ring, as soon as it may not grow any more */
        size_t room; /* 0 or a power of two */
        size_t most; /* of them, once it is a ring; 0: it may grow */
        uint64_t count; /* that there were */
        uint64_t last; /* 1 + the position of its last event */
        struct lock_hold *first; /* room for a visit under way; NULL: not yet */
        uint32_t others; /* how many there are besides */
        bool is_first; /* that one is under way */
    } *lines; /* by line - 1 */
    size_t line_room, kept; /* kept: of all */
    struct map others; /* line and thread -> another visit under way */
};

/* An event of a thread at a place of the log, on a line. */
struct lock_visit {
    uint32_t line, thread;
    uint64_t position;
    int64_t ns;
    bool plain; /* as in struct hold */
};

/* It comes into the line.  If it is there already, the visit goes on, or, anew, it counts from
 * here. */
void lock_holders_enter(struct lock_holders *holds, const struct lock_visit *at, bool anew);
/* It leaves; false: it was not seen to come in. */
bool lock_holders_leave(struct lock_holders *holds, const struct lock_visit *at);
/* To be told of each event, after what it does. */
void lock_holders_seen(struct lock_holders *holds, uint32_t line, uint64_t position);
/* The visit that ended with the event at this position; false: it ended none, or that is long
 * ago. */
bool lock_holders_ended(const struct lock_holders *holds, uint32_t line, uint64_t position,
                        struct lock_hold *hold);
/* The visit that ended right before another one began: with the event before its entry. */
bool lock_holders_before(const struct lock_holders *holds, uint32_t line,
                         const struct lock_hold *hold, struct lock_hold *before);
void lock_holders_free(struct lock_holders *holds); /* empties it */

#endif
