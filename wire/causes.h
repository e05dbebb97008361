/* What makes the order of some events known to somebody who has nothing else: of each the causes that are next to it
 * among them, and which doubts it has; as structs and as bytes, as in found.h. */
#ifndef WIRE_CAUSES_H
#define WIRE_CAUSES_H

#include "wire/message.h"
#include "wire/unseen.h"

/* Which events: positions in the log, rising. */
struct causes_request {
    uint64_t *positions;
    uint32_t count; /* at most LIMIT_STANDS */
};

#define NO_CHAIN UINT32_MAX /* the event is not there, or takes no part in the order */
#define ANY_DOUBTS UINT32_MAX /* how it stands to what it is not ordered with is not known */

/* Events of one point have one `point`, the index of the first of them, which alone tells its causes.  The points of a
 * chain come one after the other, in the order in which they are asked for.  A point is before another if a way leads from the one
 * to the other by causes and along chains.  If none does either way, they are concurrent where their doubts are the
 * same number, else it is not known.  Of an event without a chain, doubts are the reasons why it has none, as bits. */
struct shown_cause {
    uint32_t point, chain, doubts;
    uint32_t first, count; /* of `causes`: indices of points; the one before it on its chain, too */
    int64_t time_ns; /* of its point; moved to that of its latest cause, where it would be earlier */
};

/* Of two events with different doubts, what is not known is not known for those reasons of which their kinds differ. */
struct shown_doubts {
    uint32_t doubts; /* the number of the set, each once */
    uint32_t kinds[UNSEEN_COUNT]; /* by reason; 0: it is not among them */
};

struct shown_causes {
    bool whole; /* false: there would be too much to tell, and nothing is told */
    uint32_t hiding,
        mechanisms; /* bits of enum unseen, for the whole run; hiding: not 0, all that is
                                  * not ordered is not known */
    struct shown_cause *events;
    uint32_t event_count;
    uint32_t *causes;
    uint32_t cause_count;
    uint32_t any; /* bits: the reasons where doubts are ANY_DOUBTS */
    struct shown_doubts *doubts;
    uint32_t doubts_count;
};

void put_causes_request(struct out *out, const struct causes_request *request);
void get_causes_request(struct in *in, struct causes_request *request);
void causes_request_free(struct causes_request *request);
void put_causes(struct out *out, const struct shown_causes *causes);
/* What it names is there: points and causes are indices of events, causes of earlier ones. */
void get_causes(struct in *in, struct shown_causes *causes);
void shown_causes_free(struct shown_causes *causes);

#endif
