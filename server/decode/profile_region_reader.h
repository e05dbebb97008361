/* The region of one thread of a program (wire/profile_region.h), as the server reads it.
 *
 * Nothing in it is trusted, and all of it may change while it is read: each number is looked at
 * once.  What cannot be (a parent that comes later, a context that is not there, a number that ran
 * back, a time that is longer than the region is old) is mended and counted. */
#ifndef SERVER_DECODE_PROFILE_REGION_READER_H
#define SERVER_DECODE_PROFILE_REGION_READER_H

#include "server/decode/tsc_clock.h"
#include "wire/message.h"
#include "wire/profile_region.h"

struct region_reader {
    struct region_reader *next;
    const struct profile_region_head *head; /* mapped, to be read only */
    uint32_t thread; /* code of its own line */
    struct region_context_seen *seen; /* by context: as it was when it was looked at */
    size_t count, room;
    uint64_t backwards;
    uint64_t age; /* ticks, by the last look: no time is longer; UINT64_MAX: not known */
    uint32_t from; /* where to go on with telling */
    struct metric_sums *cells; /* as they were told last (metric_records.c), by their codes */
};

/* Maps a region and puts it at the front of a list; the descriptor stays the caller's.  NULL, or
 * what is wrong with it. */
const char *region_reader_add(struct region_reader **list, int fd, uint32_t thread);
void region_reader_free(struct region_reader *region);

struct region_moment {
    uint64_t ns, counter; /* by the monotonic clock, and by the counter */
    double rate; /* ns of a tick */
    bool all; /* tell also of calls that have done nothing but go on */
};
/* Now.  It may take two milliseconds, where the counter was not read before. */
struct region_moment region_reader_now(struct tsc_clock *ticks, bool all);

/* Looks at all of it; false: there is nothing to tell. */
bool region_reader_poll(struct region_reader *region, const struct region_moment *moment);
/* Appends the body of a SUMS (wire/profile_snapshot.h): of those that have changed,
 * REGION_READER_CHUNK at most.  False: that was all. */
#define REGION_READER_CHUNK 4096u
bool region_reader_encode(struct region_reader *region, const struct region_moment *moment,
                          struct encoder *out);
/* What was told got lost: the next time all of it is told. */
void region_reader_pending(struct region_reader *region);

#endif
