/* Marks: places of the journal from which it can be read on, since it is known where each thread stood.  One is
 * set where the order stands when a state begins. */
#ifndef SERVER_STORE_MARKS_H
#define SERVER_STORE_MARKS_H

#include "server/store/opened.h"

struct mark {
    uint32_t number;
    struct told_until told; /* the place */
    struct out threads;
};

struct region region_of(const struct tracefile *file, uint32_t epoch); /* under the lock */
void mark_begin(struct tracefile *file); /* the journal's begin */
/* A new one where the order has got to; the number of the one from which the journal must be read if `oldest` is
 * the number that what waits has come under. */
uint32_t mark_set(struct tracefile *file, uint32_t oldest, struct chunk threads);
const struct mark *mark_of(const struct tracefile *file, uint32_t number); /* not dropped */
void marks_drop(struct tracefile *file, uint32_t before); /* those with smaller numbers */
void marks_free(struct tracefile *file);

#endif
