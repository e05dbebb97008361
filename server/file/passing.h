/* Facts that are forgotten with the events that they are of, as no names are: what threads did between their events
 * (STEPS), when their calls began and ended (ENTRIES), when they went on processors and off them (SWITCHES).  They make parts of the file, which lie among those of the order and go with them (--keep); a fact of a few
 * bytes, PASSED, says where one lies.  What is not in a part yet is in the journal.
 *
 * Of the facts of a thread the oldest go first, so that what is left has no gaps. */
#ifndef SERVER_FILE_PASSING_H
#define SERVER_FILE_PASSING_H

#include "server/store/chunk.h"

#include <stdbool.h>
#include <stddef.h>

struct run;
struct passing;

/* ---- writing ---- */

struct passing *passing_new(void);
void passing_free(struct passing *passing);
bool passing_takes(const struct chunk *fact);
/* Once the run knows it. */
void passing_put(struct passing *passing, const struct run *run, struct chunk fact);
/* Puts away what was gathered, where that is enough, or any (all).  True: *passed, whose data lasts until the next call,
 * is a fact that says where. */
bool passing_flush(struct passing *passing, const struct run *run, bool all, struct chunk *passed);

/* ---- reading ---- */

/* Zero-initialised: none. */
struct passed {
    struct passed_part {
        uint64_t place, events; /* so many were there when it was put */
    } *items;
    size_t count, room;
};

bool passed_note(struct passed *passed, struct chunk fact); /* false: it cannot be */
/* Once the order is there: plays what was not forgotten.  False: a part of it cannot be read.  Empties it. */
bool passed_play(struct passed *passed, struct run *run, void (*play)(void *, struct chunk),
                 void *context);

#endif
