/* What makes the order of some events known to somebody who has nothing else: of each the causes
 * that are next to it among them, and which doubts it has; as structs and as bytes, as in
 * query_results.h. */
#ifndef WIRE_CAUSAL_EDGES_H
#define WIRE_CAUSAL_EDGES_H

#include "wire/message.h"
#include "wire/untraced.h"

/* Which events: positions in the log, rising. */
struct causal_edges_request {
    uint64_t *positions;
    uint32_t count; /* at most LIMIT_STANDS */
};

#define NO_CHAIN UINT32_MAX /* the event is not there, or takes no part in the order */
#define ANY_DOUBTS UINT32_MAX /* how it stands to what it is not ordered with is not known */

/* Events of one point have one `point`, the index of the first of them, which alone tells its
 * causes.  The points of a chain come one after the other, in the order in which they are asked
 * for.  A point is before another if a way leads from the one to the other by causes and along
 * chains.  If none does either way, they are concurrent where their doubts are the same number,
 * else it is not known.  Of an event without a chain, doubts are the reasons why it has none, as
 * bits. */
struct causal_edge_info {
    uint32_t point, chain, doubts;
    uint32_t first, count; /* of `causes`: indices of points; the one before it on its chain, too */
    /* of its point; moved to that of its latest cause, where it would be earlier */
    int64_t time_ns;
};

/* Of two events with different doubts, what is not known is not known for those reasons of which
 * their kinds differ. */
struct uncertainty_info {
    uint32_t doubts; /* the number of the set, each once */
    uint32_t kinds[UNTRACED_COUNT]; /* by reason; 0: it is not among them */
};

struct causal_edges_info {
    bool whole; /* false: there would be too much to tell, and nothing is told */
    uint32_t hiding,
        mechanisms; /* bits of enum untraced_reason, for the whole run; hiding: not 0, all that is
                                  * not ordered is not known */
    struct causal_edge_info *events;
    uint32_t event_count;
    uint32_t *causes;
    uint32_t cause_count;
    uint32_t any; /* bits: the reasons where doubts are ANY_DOUBTS */
    struct uncertainty_info *doubts;
    uint32_t doubts_count;
};

void encode_causal_edges_request(struct encoder *out, const struct causal_edges_request *request);
void decode_causal_edges_request(struct decoder *in, struct causal_edges_request *request);
void causal_edges_request_free(struct causal_edges_request *request);
void encode_causal_edges(struct encoder *out, const struct causal_edges_info *causes);
/* What it names is there: points and causes are indices of events, causes of earlier ones. */
void decode_causal_edges(struct decoder *in, struct causal_edges_info *causes);
void causal_edges_info_free(struct causal_edges_info *causes);

#endif
