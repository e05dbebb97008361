/* Reads the region of one thread of a program (wire/profile_region.h).
 *
 * The server does not trust its contents, which may change while they are read: it reads each
 * number once.  Invalid values (a parent with a higher number, a context that does not exist, a
 * counter that decreased, a time longer than the age of the region) are corrected and counted. */
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
    uint32_t from; /* context from which the next body continues */
    struct metric_sums *cells; /* as last reported (metric_records.c), by their codes */
};

/* Maps a region and puts it at the front of a list; the descriptor stays the caller's.  NULL, or
 * what is wrong with it. */
const char *region_reader_add(struct region_reader **list, int fd, uint32_t thread);
void region_reader_free(struct region_reader *region);

struct region_moment {
    uint64_t ns, counter; /* by the monotonic clock, and by the counter */
    double rate; /* ns of a tick */
    bool all; /* include calls that are active without other changes */
};
/* Returns the current moment.  It may take two milliseconds if the counter was not read before. */
struct region_moment region_reader_now(struct tsc_clock *ticks, bool all);

/* Reads the whole region; returns false if there is nothing to report. */
bool region_reader_poll(struct region_reader *region, const struct region_moment *moment);
/* Appends the body of a SUMS (wire/profile_snapshot.h): of those that have changed,
 * REGION_READER_CHUNK at most.  False: that was all. */
#define REGION_READER_CHUNK 4096u
bool region_reader_encode(struct region_reader *region, const struct region_moment *moment,
                          struct encoder *out);
/* Records that the last body was lost: the next time all values are sent. */
void region_reader_pending(struct region_reader *region);

#endif
