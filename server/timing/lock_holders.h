/* Lock holders: which thread held which line from when to when.  Keeps recent critical sections, so
 * that the acquisition that belongs to a release is found at once.
 *
 * On each line the newest LOCK_HOLDERS_KEPT critical sections are kept; if there are very many
 * lines, fewer on those that come into use late.  Not thread-safe. */
#ifndef SERVER_TIMING_LOCK_HOLDERS_H
#define SERVER_TIMING_LOCK_HOLDERS_H

#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>

#ifndef LOCK_HOLDERS_KEPT /* powers of two */
#define LOCK_HOLDERS_KEPT 256u
#endif
#define LOCK_HOLDERS_FEW 16u /* kept per line, once LOCK_HOLDERS_MANY are kept */
#ifndef LOCK_HOLDERS_MANY
#define LOCK_HOLDERS_MANY (1u << 20) /* limit for all lines */
#endif

struct lock_hold {
    uint64_t number; /* number among those on its line that ended */
    uint64_t entry, exit; /* positions of the events */
    uint64_t before; /* position of the event before its entry on the line */
    int64_t entry_ns, exit_ns;
    uint32_t thread;
    /* the synchronization point of its entry directly follows only events on its own lines */
    bool plain;
};

/* A zero-initialized struct has no critical sections. */
struct lock_holders {
    struct lock_holders_line {
        struct lock_hold *kept; /* a ring, once it may not grow any more */
        size_t room; /* 0 or a power of two */
        size_t most; /* its capacity, once it is a ring; 0: it may grow */
        uint64_t count; /* number of ended critical sections so far */
        uint64_t last; /* 1 + the position of the line's last event */
        /* memory for a critical section in progress; NULL: not allocated yet */
        struct lock_hold *first;
        uint32_t others; /* number of further ones in progress */
        bool is_first; /* `first` is in progress */
    } *lines; /* by line - 1 */
    size_t line_room, kept; /* kept: number for all lines */
    struct map others; /* line and thread -> a further critical section in progress */
};

/* An event of a thread on a line. */
struct lock_visit {
    uint32_t line, thread;
    uint64_t position;
    int64_t ns;
    bool plain; /* as in struct lock_hold */
};

/* Begins a critical section.  If the thread is in one already, that continues or, with `restart`,
 * is counted from here. */
void lock_holders_enter(struct lock_holders *holds, const struct lock_visit *at, bool restart);
/* Ends a critical section; returns false if its begin was not recorded. */
bool lock_holders_leave(struct lock_holders *holds, const struct lock_visit *at);
/* Records an event; must be called for each event after the functions above. */
void lock_holders_seen(struct lock_holders *holds, uint32_t line, uint64_t position);
/* Finds the critical section that ended with the event at this position; returns false if there is
 * none or it is not kept any more. */
bool lock_holders_ended(const struct lock_holders *holds, uint32_t line, uint64_t position,
                        struct lock_hold *hold);
/* Finds the critical section that ended right before another one began, i.e. with the event before
 * its entry. */
bool lock_holders_before(const struct lock_holders *holds, uint32_t line,
                         const struct lock_hold *hold, struct lock_hold *before);
void lock_holders_free(struct lock_holders *holds); /* frees the memory; it is empty then */

#endif
