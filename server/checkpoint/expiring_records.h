/* Facts that are forgotten with the events that they are of, as no names are: what threads did
 * between their events (STEPS), when their calls began and ended (ENTRIES), when they went on
 * processors and off them (SWITCHES).  They make parts of the file, which lie among those of the
 * order and go with them (--keep); a fact of a few bytes, PASSED, says where one lies.  What is not
 * in a part yet is in the journal.
 *
 * Of the facts of a thread the oldest go first, so that what is left has no gaps. */
#ifndef SERVER_CHECKPOINT_EXPIRING_RECORDS_H
#define SERVER_CHECKPOINT_EXPIRING_RECORDS_H

#include "server/tracefile/chunks.h"

#include <stdbool.h>
#include <stddef.h>

struct run;
struct expiring_records;

/* ---- writing ---- */

struct expiring_records *expiring_records_new(void);
void expiring_records_free(struct expiring_records *passing);
bool expiring_records_accept(const struct chunk *fact);
/* Once the run knows it. */
void expiring_records_append(struct expiring_records *passing, const struct run *run,
                             struct chunk fact);
/* Puts away what was gathered, where that is enough, or any (all).  True: *passed, whose data lasts
 * until the next call, is a fact that says where. */
bool expiring_records_flush(struct expiring_records *passing, const struct run *run, bool all,
                            struct chunk *passed);

/* ---- reading ---- */

/* Zero-initialised: none. */
struct expiring_parts {
    struct expiring_part {
        uint64_t place, events; /* so many were there when it was put */
    } *items;
    size_t count, room;
};

bool expiring_parts_note(struct expiring_parts *passed,
                         struct chunk fact); /* false: it cannot be */
/* Once the order is there: plays what was not forgotten.  False: a part of it cannot be read.
 * Empties it. */
bool expiring_parts_apply(struct expiring_parts *passed, struct run *run,
                          void (*play)(void *, struct chunk), void *context);

#endif
