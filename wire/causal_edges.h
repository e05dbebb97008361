/* The happened-before order among selected events, complete in itself: for each event its immediate
 * causes among them, and its uncertainty; as structs and as bytes, as in query_results.h. */
#ifndef WIRE_CAUSAL_EDGES_H
#define WIRE_CAUSAL_EDGES_H

#include "wire/message.h"
#include "wire/untraced.h"

/* The selected events: ascending positions in the log. */
struct causal_edges_request {
    uint64_t *positions;
    uint32_t count; /* at most LIMIT_STANDS */
};

#define NO_CHAIN UINT32_MAX /* the event is missing or not ordered */
#define ANY_DOUBTS UINT32_MAX /* its order to events that it is not ordered with is unknown */

/* Simultaneous events have the same `point`, the index of the first of them, which alone has their
 * causes. The points of a chain follow each other in the order of the request. A point happened
 * before another if a path of causes and chains leads from the one to the other. If there is none
 * in either direction, they are concurrent if their doubts are the same number; otherwise their
 * order is unknown. For an event without a chain, doubts are the reasons for that, as bits. */
struct causal_edge_info {
    uint32_t point, chain, doubts;
    /* of `causes`: indices of points, including its predecessor on its chain */
    uint32_t first, count;
    /* of its point; raised to that of its latest cause, if it would be earlier */
    int64_t time_ns;
};

/* If two events have different doubts, the reasons for an unknown order are those whose kinds
 * differ. */
struct uncertainty_info {
    uint32_t doubts; /* the number of the set, each once */
    uint32_t kinds[UNTRACED_COUNT]; /* by reason; 0: not in the set */
};

struct causal_edges_info {
    bool whole; /* false: the result was too large, and is empty */
    /* bits of enum untraced_reason, for the whole run; if hiding is not 0, everything that is not
     * ordered is unknown */
    uint32_t hiding, mechanisms;
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
/* Validates references: points and causes are indices of events, and causes precede their
 * effects. */
void decode_causal_edges(struct decoder *in, struct causal_edges_info *causes);
void causal_edges_info_free(struct causal_edges_info *causes);

#endif
