/* Expiring records: facts that are discarded with their events, unlike names: the activity of
 * threads between their events (STEPS), begins and ends of their calls (ENTRIES), and their context
 * switches (SWITCHES).  They are stored in parts of the file, which lie among those of the order
 * and are discarded with them (--keep); a fact of a few bytes, PASSED, holds the place of a part.
 * Records that are not in a part yet are in the journal.
 *
 * The oldest records of a thread are discarded first, so that the rest has no gaps. */
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
/* Must be called after the run has received the record. */
void expiring_records_append(struct expiring_records *passing, const struct run *run,
                             struct chunk fact);
/* Puts the records so far as a part, if they are enough for one or, with `all`, if there are any.
 * Returns true and sets *passed, valid until the next call, to a fact with the place of the
 * part. */
bool expiring_records_flush(struct expiring_records *passing, const struct run *run, bool all,
                            struct chunk *passed);

/* ---- reading ---- */

/* A zero-initialized struct is empty. */
struct expiring_parts {
    struct expiring_part {
        uint64_t place, events; /* events: number of events of the run when the part was put */
    } *items;
    size_t count, room;
};

bool expiring_parts_note(struct expiring_parts *passed,
                         struct chunk fact); /* returns false if the record is invalid */
/* Plays the records that were not discarded and empties `passed`; the order must have been
 * restored.  Returns false if a part cannot be read. */
bool expiring_parts_apply(struct expiring_parts *passed, struct run *run,
                          void (*play)(void *, struct chunk), void *context);

#endif
