/* Lines by identity: two numbers that are equal in each program that shares the line.
 *
 * Most identities are a program's instance and a number counted from 1: their lines lie in an
 * array, which takes a tenth of the memory of a map and of its cache misses; the others lie in a
 * map. */
#ifndef SERVER_RUN_LINE_IDENTITY_H
#define SERVER_RUN_LINE_IDENTITY_H

#include "base/map.h"

struct line_identities {
    struct counted {
        uint64_t high;
        uint32_t owner; /* session */
        uint32_t *lines; /* by the second number */
        size_t room, count;
    } *counted;
    size_t counted_count, counted_room;
    struct map by_high; /* 1 + index into counted */
    struct map others;
};

/* Declares that second numbers with this first one are counted, and belong to that session; the
 * first declaration holds. */
void line_identity_expect(struct line_identities *identities, uint64_t high, uint32_t session);
/* Returns whether lines with that number belong to a session other than this one. */
bool line_identity_has_changed(const struct line_identities *identities, uint64_t high,
                               uint32_t session);
uint32_t line_identity_get(const struct line_identities *identities, uint64_t high,
                           uint64_t low); /* 0: none */
void line_identity_put(struct line_identities *identities, uint64_t high, uint64_t low,
                       uint32_t line);
void line_identity_free(struct line_identities *identities);

#endif
