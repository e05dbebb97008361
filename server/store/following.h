/* Following a journal, chunk by chunk from its begin, while it may still be written.
 *
 * It needs a journal that is whole: no region of it was written again, which is so until the first state.  Only
 * chunks that are whole are there. */
#ifndef SERVER_STORE_FOLLOWING_H
#define SERVER_STORE_FOLLOWING_H

#include "server/store/chunk.h"

struct following;

struct followed { /* a place of the journal, between two chunks */
    uint64_t at, end;
    uint32_t epoch;
    uint64_t chunk; /* how many were before it */
};

/* NULL with a reason. */
struct following *following_new(const char *path, const char **why);
/* From a place on, which a state names: what is behind it is whole. */
struct following *following_from(const char *path, struct followed place, const char **why);
void following_free(struct following *following);
/* The next chunk, whose data are there until the next call; false: there is none, or not yet. */
bool following_next(struct following *following, struct chunk *chunk);
struct followed following_place(const struct following *following);
void following_go_to(struct following *following, struct followed place);
/* A file that nobody writes is taken for oneself; false: somebody does. */
bool following_lock(struct following *following);
/* Are there bytes behind the last whole chunk that are none, and not just room for more? */
bool following_is_cut(struct following *following);
/* Writes a chunk behind the last one of a file that nobody else writes. */
bool following_append(struct following *following, struct chunk chunk);

#endif
