/* Following a journal, chunk by chunk from its begin, while it may still be written.
 *
 * It needs a journal that is whole: no region of it was written again, which is so until the first
 * state.  Only chunks that are whole are there. */
#ifndef SERVER_TRACEFILE_JOURNAL_FOLLOW_H
#define SERVER_TRACEFILE_JOURNAL_FOLLOW_H

#include "server/tracefile/chunks.h"

struct journal_follower;

struct journal_position { /* a place of the journal, between two chunks */
    uint64_t at, end;
    uint32_t epoch;
    uint64_t chunk; /* how many were before it */
};

/* Opens a journal for reading.  Returns NULL with a reason in *why. */
struct journal_follower *journal_follower_new(const char *path, const char **why);
/* From a place on, which a state names: what is behind it is whole. */
struct journal_follower *journal_follower_from(const char *path, struct journal_position place,
                                               const char **why);
void journal_follower_free(struct journal_follower *following);
/* The next chunk, whose data are there until the next call; false: there is none, or not yet. */
bool journal_follower_next(struct journal_follower *following, struct chunk *chunk);
struct journal_position journal_follower_position(const struct journal_follower *following);
void journal_follower_seek(struct journal_follower *following, struct journal_position place);
/* Locks a file that no process writes; returns false if one does. */
bool journal_follower_lock(struct journal_follower *following);
/* Are there bytes behind the last whole chunk that are none, and not just room for more? */
bool journal_follower_is_truncated(struct journal_follower *following);
/* Appends a chunk to a file that no other process writes. */
bool journal_follower_append(struct journal_follower *following, struct chunk chunk);

#endif
