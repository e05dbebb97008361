/* Questions and their answers.
 *
 * A viewer gives each question an id of its own, not 0, and asks: ASK {u32 id, u16 what, body}.
 * Every part of the answer comes back with it: ANSWER {u32 id, u8 last, u16 part, body}; after the
 * part that says `last` the id is free.  CANCEL {u32 id}: the question is not worked on any more,
 * and nothing more is told of it.  What is told without being asked (tables, GROWN, SELECTED) are
 * messages of their own. */
#ifndef WIRE_REQUEST_H
#define WIRE_REQUEST_H

#include "wire/message.h"

/* One row a question: number, NAME, name.  These are about the server: */
#define SERVER_REQUESTS(Q)                                                                         \
    Q(1, RUNS, runs)       /* which runs are there? */                                                   \
    Q(2, SELECT, select)   /* speak of this run from now on */

/* These are about the run that was selected: server/queries has a `question_NAME`, in lower case,
 * for each. */
#define RUN_REQUESTS(Q)                                                                            \
    Q(16, WINDOW, window)  /* placed events, please */                                              \
    Q(17, RELATIONS, stands)  /* how do these events stand to this one? */                          \
    Q(18, DENSITY, density) /* how many events, how long blocked, per row and pixel */             \
    Q(19, DUMP, dump)      /* every event once */                                                       \
    Q(20, ORDER, order)    /* how do these events stand to each other? */                             \
    Q(21, CAUSAL_CHAIN, why)        /* a chain of events that makes one come before the other */          \
    Q(22, COUNT, count)    /* how many events are before, after, concurrent with one? */              \
    Q(23, STAT, stat)      /* the figures of the run */                                                 \
    Q(24, WAITS, waits)    /* who waits for what at the end, who holds it? */                         \
    Q(25, SEARCH, search)  /* which events are of these types, on these lines, ...? */              \
    Q(26, LOG_RANGE, list)      /* some events in the order of the log */                               \
    Q(27, NEIGHBOR, step)      /* the next event from one, along its line or the order */               \
    Q(28, SITES, sites)    /* every place that something was called from */                           \
    Q(29, DOWNLOAD, fetch)    /* a part of the run's trace file, as it is now */                      \
    Q(30, LINES, lines)    /* tell me of these lines */                                               \
    Q(31, BETWEEN, span)      /* how much lies between two events? */                                   \
    Q(32, STATE_BANDS, strip) /* which share of each pixel of a row was spent in which state? */   \
    Q(33, CAUSES, causes) /* what makes the order of these events known? */                        \
    Q(34, TABLE, table) /* how much, how long, why so late? */                                     \
    Q(35, SET_MEASUREMENT, want) /* measure this from now on */                                    \
    Q(36, TIME_SERIES, curve) /* what did figures stand at, per pixel of time? */                  \
    Q(52, INPUT, input) /* what did its calls bring from outside? */

#define REQUESTS(Q) SERVER_REQUESTS(Q) RUN_REQUESTS(Q)

enum request_type {
#define Q(number, NAME, name) REQUEST_##NAME = number,
    REQUESTS(Q)
#undef Q
};

#define REQUEST_TYPE_LIMIT 64u /* all numbers of questions are below */

/* What the parts of answers are: number, NAME. */
/* clang-format off */
#define RESPONSE_CHUNKS(P)                                                                  \
    P(0, END)      /* nothing: the end of an answer whose length was not known */ \
    P(1, ERROR)  /* why there is no answer */                                   \
    P(2, RUN)      /* of RUNS */                                                  \
    P(3, WINDOW)   P(4, RELATIONS)   P(5, DENSITY)                                   \
    P(6, EVENT)    /* of DUMP, WHY, LIST; of STAT, if pending */                  \
    P(7, LOST)     /* of DUMP: a gap */                                           \
    P(8, ORDER)    P(9, CHAIN)    P(10, COUNT)    P(11, STAT)                     \
    P(12, INCONSISTENCY) /* of STAT: a contradiction */                                 \
    P(13, WAIT)    P(14, CYCLE)   /* of WAITS: a thread; threads that wait for each other */ \
    P(15, FOUND)   /* of SEARCH, STEP */                                          \
    P(16, LOG_POSITION)  /* of LIST: where to go on */                                  \
    P(17, SITES)   P(18, BYTES)                                                   \
    P(19, NOW)     /* of WAITS: the time */                                        \
    P(20, DIAGNOSIS) /* of WAITS: what becomes of those who wait to be woken */          \
    P(21, BETWEEN)    P(22, STATE_BANDS)    P(23, CAUSES)                                  \
    P(24, TABLE)   P(25, ROWS)     P(26, TABLE_END) /* of TABLE: columns, rows, what comes last */ \
    P(27, MEASURED_PROGRAMS)  /* of WANT: how many programs are there to measure it */ \
    P(28, TIME_SERIES)                                                                  \
    P(29, SLEEPER) /* of WAITS: a thread that sleeps in a call that is not traced */ \
    P(34, CLOCK)   /* of STAT: how a host's clock stands to that of the first one */ \
    P(40, INPUT)   /* of a thread */
/* clang-format on */

enum response_chunk_type {
#define P(number, NAME) RESPONSE_##NAME = number,
    RESPONSE_CHUNKS(P)
#undef P
};

/* "WINDOW", or "unknown". */
const char *request_type_name(unsigned what);
const char *response_chunk_name(unsigned part);

/* ---- asking ---- */

/* Appends a whole ASK; body NULL: it is empty. */
void encode_request(struct encoder *out, uint32_t id, enum request_type what,
                    const struct encoder *body);
/* Reads its head; the body is what is left. */
struct request_header {
    uint32_t id;
    uint16_t what;
};
void decode_request_header(struct decoder *in, struct request_header *asked);
void encode_cancel(struct encoder *out, uint32_t id);

/* ---- answering ---- */

/* Where the answer to one question goes. */
struct response {
    struct encoder *out;
    uint32_t id;
    size_t last; /* 1 + where the last part keeps its `last`, 0: there was no part */
};

/* A part of it, appended to reply->out between the two. */
void response_chunk_begin(struct response *reply, enum response_chunk_type part);
void response_chunk_end(struct response *reply);
/* The part that was told last was the last; if there was none, one is told.  To be called before
 * anything is dropped from the front of reply->out. */
void response_finish(struct response *reply);
/* The whole answer: why there is none. */
void response_error(struct encoder *out, uint32_t id, const char *why);

struct response_chunk {
    uint32_t id;
    bool last;
    uint16_t part; /* an enum part */
    struct decoder *in; /* its body */
};
/* Reads the head of an ANSWER; the body is what is left of `in`. */
void decode_response_chunk(struct decoder *in, struct response_chunk *answer);

#endif
