/* Requests of a part of a run as a trace of its own (CUT), and what is said of it at its end, as
 * structs and as bytes. The structs own what is decoded into them; their _free frees it. */
#ifndef WIRE_CUT_MESSAGES_H
#define WIRE_CUT_MESSAGES_H

#include "wire/event_types.h"
#include "wire/message.h"

/* The events of a cut. */
enum cut_kind {
    CUT_OF_PAST, /* the events, and those that happened before one of them */
    CUT_OF_FUTURE, /* the event, and those that happened after it */
    CUT_OF_BETWEEN, /* two events, and those that happened after the first and before the second */
    CUT_OF_RANGE, /* those from one time up to another, ns of the run */
    CUT_OF_NEAR, /* of the threads of the events those near them, on whichever line */
    CUT_KINDS
};

struct cut_request {
    uint8_t kind; /* an enum cut_kind */
    struct event_id *events;
    uint32_t event_count;
    int64_t from_ns, to_ns;
    uint32_t near; /* how many events of the thread before and after each */
    char *keeps; /* kind of the finding that the cut is made for (wire/finding_kinds.h); "": none */
    uint32_t *lines; /* events on these lines, and of these threads; none: all */
    uint32_t line_count;
};

#define CUT_EVENTS_MOST 4096u /* of a request */

/* The end of the response. */
struct cut_result {
    char *problem; /* why there is none; "": there is one */
    uint64_t events, left_out;
    uint32_t lines, threads_left_out, threads_continuing;
    uint32_t
        *renumbered; /* by number in the cut - 1: the line of the run; none: the same numbers */
    uint32_t renumbered_count;
};

void encode_cut_request(struct encoder *out, const struct cut_request *request);
void decode_cut_request(struct decoder *in, struct cut_request *request);
void cut_request_free(struct cut_request *request);
void encode_cut_result(struct encoder *out, const struct cut_result *result);
void decode_cut_result(struct decoder *in, struct cut_result *result);
void cut_result_free(struct cut_result *result);

#endif
