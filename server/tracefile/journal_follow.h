/* Follower of a journal: reads it chunk by chunk from its begin, while it may still be written.
 * The journal must be complete: no region of it was reused, which holds until the first
 * checkpoint.  Only whole chunks are returned. */
#ifndef SERVER_TRACEFILE_JOURNAL_FOLLOW_H
#define SERVER_TRACEFILE_JOURNAL_FOLLOW_H

#include "server/tracefile/chunks.h"

struct journal_follower;

struct journal_position { /* a place of the journal, between two chunks */
    uint64_t at, end;
    uint32_t epoch;
    uint64_t chunk; /* number of chunks before it */
};

/* Opens a journal for reading.  Returns NULL with the reason in *why. */
struct journal_follower *journal_follower_new(const char *path, const char **why);
/* Opens a journal at a place that a checkpoint names; the journal is complete from there on. */
struct journal_follower *journal_follower_from(const char *path, struct journal_position place,
                                               const char **why);
void journal_follower_free(struct journal_follower *following);
/* Reads the next chunk, with data that are valid until the next call; returns false if there is
 * none yet. */
bool journal_follower_next(struct journal_follower *following, struct chunk *chunk);
struct journal_position journal_follower_position(const struct journal_follower *following);
void journal_follower_seek(struct journal_follower *following, struct journal_position place);
/* Locks a file that no process writes; returns false if one does. */
bool journal_follower_lock(struct journal_follower *following);
/* Returns whether bytes other than preallocated space follow the last whole chunk. */
bool journal_follower_is_truncated(struct journal_follower *following);
/* Appends a chunk to a file that no other process writes. */
bool journal_follower_append(struct journal_follower *following, struct chunk chunk);

#endif
