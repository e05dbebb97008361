/* Who waits for what at the end of what was recorded, who holds it, and who waits in a cycle: from the
 * TAIL messages of a run and what its descriptions say of the types. */
#ifndef CLIENTS_SOURCE_WAITS_H
#define CLIENTS_SOURCE_WAITS_H

#include "clients/book/book.h"
#include "wire/ask.h"

struct waits {
    struct shown_tail *tails; /* by line - 1 */
    uint32_t tail_count;
    int64_t now_ns; /* of the latest event */
    struct wait {
        uint32_t thread, about;          /* lines; about 0: something that was not seen */
        const struct shown_event *event; /* the thread's last one, in tails */
    } *items; /* oldest first */
    uint32_t count;
    struct wait_cycle { /* each waits for the next, the last for the first */
        uint32_t *threads;
        uint32_t count;
    } *cycles;
    uint32_t cycle_count;
};

/* Takes a part of the answer to TAILS into waits, zeroed at first.  True when all is there. */
bool waits_take(struct waits *waits, const struct book *book, const struct answer *answer);
void waits_free(struct waits *waits); /* empties it */

const struct wait *waits_of(const struct waits *waits, uint32_t thread); /* NULL: it does not wait */
/* The i-th holder of what a thread waits for, with the event by which it came in; 0: no more. */
uint32_t waits_holder(const struct waits *waits, const struct book *book, const struct wait *wait,
                      uint32_t i, struct ref *since);

#endif
