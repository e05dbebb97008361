/* Data races of a run: conflicting accesses (server/run/conflicts.h) of which none happened before
 * the other.  An access comes before the next event of its thread, and after the last one; so the
 * earlier access happened before the later one if and only if the event that follows it happened
 * before, or is simultaneous with, the event before the later one.
 *
 * Races at the same places of the code, about memory of the same kind, are one.  Computed in steps,
 * in one pass over the log and one comparison for each pair of events.  Not thread-safe. */
#ifndef SERVER_QUERIES_DATA_RACES_H
#define SERVER_QUERIES_DATA_RACES_H

#include "server/run/conflicts.h"

struct data_race {
    size_t conflict; /* the first one, of those that are certain if there are any */
    uint64_t count; /* conflicts that are not ordered */
    uint64_t first_byte, end_byte; /* addresses of the bytes that are accessed */
    /* why the accesses may be ordered nevertheless: bits of enum untraced_reason; 0: they are
     * not */
    uint32_t reasons;
    uint64_t next; /* position of the event that follows the earlier access; NO_POSITION: none */
    /* positions of the last event of the earlier thread that happened before the later access, and
     * of the first event of the later thread that happened after the earlier access; or
     * NO_POSITION */
    uint64_t before, after;
};

struct data_races;

/* About the run as it is now; it must exist until data_races_free(). */
struct data_races *data_races_new(const struct run *run);
/* Continues for about `budget` steps, from the beginning if events were discarded meanwhile;
 * returns true once all races are found. */
bool data_races_step(struct data_races *races, uint64_t *budget);
/* Returns them in the order in which they were first recorded. */
const struct data_race *data_races_found(const struct data_races *races, size_t *count);
/* Returns how many conflicts could not be compared, as of discarded events; *reasons: why, bits of
 * enum unanswered_reason. */
uint64_t data_races_unknown(const struct data_races *races, uint32_t *reasons);
void data_races_free(struct data_races *races);

#endif
