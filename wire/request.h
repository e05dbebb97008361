/* Requests of viewers and their responses; bodies of requests, as structs and as bytes.
 *
 * A viewer gives each request an id, not 0, and sends REQUEST {u32 id, u16 what, body}. Every part
 * of the response carries the id: RESPONSE {u32 id, u8 last, u16 part, body}; after the part with
 * `last` set, the id is free. CANCEL {u32 id} ends the work on a request; no further parts follow.
 * Messages that are sent without a request (tables, RUN_UPDATED, RUN_SELECTED) have types of their
 * own.
 *
 * The structs of bodies own what is decoded into them; their _free frees it. decode_ functions fail
 * the decoder on invalid input and leave a struct that may be freed. */
#ifndef WIRE_REQUEST_H
#define WIRE_REQUEST_H

#include "wire/event_types.h"
#include "wire/message.h"

/* One row for each request: number, NAME, name. Requests about the server: */
/* clang-format off */
#define SERVER_REQUESTS(Q)                                                                        \
    Q(1, RUNS, runs)                    /* lists the runs */ \
    Q(2, SELECT, select)                /* selects the run that later requests are about */

/* Requests about the selected run: server/queries has a `query_NAME`, in lower case, for
 * each. */
#define RUN_REQUESTS(Q)                                                                           \
    Q(16, WINDOW, window)               /* placed events */ \
    Q(17, RELATIONS, relations)         /* relation of these events to one event */ \
    Q(18, DENSITY, density)             /* events and blocked time, per row and pixel */ \
    Q(19, DUMP, dump)                   /* every event once */ \
    Q(20, ORDER, order)                 /* relation of these events to each other */ \
    Q(21, CAUSAL_CHAIN, causal_chain)   /* a causal chain between two events */ \
    Q(22, COUNT, count)                 /* events before, after and concurrent with one event */ \
    Q(23, STAT, stat)                   /* statistics of the run */ \
    Q(24, WAITS, waits)                 /* threads blocked at the end, and the holders */ \
    Q(25, SEARCH, search)               /* events by type, line, call site, text */ \
    Q(26, LOG_RANGE, log_range)         /* events in the order of the log */ \
    Q(27, NEIGHBOR, neighbor)           /* next event along the line or the order */ \
    Q(28, SITES, sites)                 /* all call sites */ \
    Q(29, DOWNLOAD, download)           /* a part of the run's trace file, as it is now */ \
    Q(30, LINES, lines)                 /* descriptions of these lines */ \
    Q(31, BETWEEN, between)             /* events and time between two events */ \
    Q(32, STATE_BANDS, state_bands)     /* the share of each pixel of a row spent in each state */ \
    Q(33, CAUSES, causes)               /* the order among these events */ \
    Q(34, TABLE, table)                 /* a table */ \
    Q(35, SET_MEASUREMENT, set_measurement)  /* what to measure from now on */ \
    Q(36, TIME_SERIES, time_series)     /* values of metrics, per pixel of time */ \
    Q(37, CUT, cut)                     /* a part of the run as a trace of its own */ \
    Q(52, INPUT, input)                 /* recorded input */

/* clang-format on */
#define REQUESTS(Q) SERVER_REQUESTS(Q) RUN_REQUESTS(Q)

enum request_type {
#define Q(number, NAME, name) REQUEST_##NAME = number,
    REQUESTS(Q)
#undef Q
};

#define REQUEST_TYPE_LIMIT 64u /* all numbers of requests are below */

/* The types of the parts of responses: number, NAME. */
/* clang-format off */
#define RESPONSE_CHUNKS(P)                                                                  \
    P(0, END)      /* no body: the end of a response of unknown length */         \
    P(1, ERROR)  /* why there is no response */                                 \
    P(2, RUN)      /* of RUNS */                                                  \
    P(3, WINDOW)   P(4, RELATIONS)   P(5, DENSITY)                                   \
    P(6, EVENT)    /* of DUMP, CAUSAL_CHAIN, LOG_RANGE; of STAT, if pending */    \
    P(7, LOST)     /* of DUMP: a gap */                                           \
    P(8, ORDER)    P(9, CHAIN)    P(10, COUNT)    P(11, STAT)                     \
    P(12, INCONSISTENCY) /* of STAT: an inconsistent event */                           \
    P(13, WAIT)    P(14, CYCLE)   /* of WAITS: a blocked thread; a deadlock cycle */         \
    P(15, FOUND)   /* of SEARCH, NEIGHBOR */                                      \
    P(16, LOG_POSITION)  /* of LOG_RANGE: where to continue */                          \
    P(17, SITES)   P(18, BYTES)                                                   \
    P(19, NOW)     /* of WAITS: the time */                                        \
    P(20, DIAGNOSIS) /* of WAITS: diagnosis of those that wait to be woken */            \
    P(21, BETWEEN)    P(22, STATE_BANDS)    P(23, CAUSES)                                  \
    P(24, TABLE)   P(25, ROWS)     P(26, TABLE_END) /* of TABLE: columns, rows, end */             \
    P(27, MEASURED_PROGRAMS)  /* of SET_MEASUREMENT: number of programs concerned */   \
    P(28, TIME_SERIES)                                                                  \
    P(29, SLEEPER) /* of WAITS: a thread that sleeps in an untraced call */          \
    P(34, CLOCK)   /* of STAT: clock offset of a host from the first host */         \
    P(40, INPUT)   /* of a thread */                                                    \
    P(41, CUT_BYTES) P(42, CUT_RESULT) /* of CUT: the next bytes of the file; its end */
/* clang-format on */

enum response_chunk_type {
#define P(number, NAME) RESPONSE_##NAME = number,
    RESPONSE_CHUNKS(P)
#undef P
};

/* Return "WINDOW" etc., or "unknown". */
const char *request_type_name(unsigned what);
const char *response_chunk_name(unsigned part);

/* ---- requests ---- */

/* Appends a whole REQUEST; body NULL: empty. */
void encode_request(struct encoder *out, uint32_t id, enum request_type what,
                    const struct encoder *body);
/* Decodes its header; the body remains in `in`. */
struct request_header {
    uint32_t id;
    uint16_t what;
};
void decode_request_header(struct decoder *in, struct request_header *asked);
void encode_cancel(struct encoder *out, uint32_t id);

/* ---- responses ---- */

/* The destination of the response to one request. */
struct response {
    struct encoder *out;
    uint32_t id;
    size_t last; /* 1 + offset of the `last` flag of the last part; 0: no part yet */
};

/* Begin and end a part; its body is appended to reply->out in between. */
void response_chunk_begin(struct response *reply, enum response_chunk_type part);
void response_chunk_end(struct response *reply);
/* Marks the last part as the last one; if there was none, appends an empty one. Must be called
 * before anything is removed from the front of reply->out. */
void response_finish(struct response *reply);
/* Appends the whole response: why there is none. */
void response_error(struct encoder *out, uint32_t id, const char *why);

struct response_chunk {
    uint32_t id;
    bool last;
    uint16_t part; /* an enum response_chunk_type */
    struct decoder *in; /* its body */
};
/* Decodes the header of a RESPONSE; the body remains in `in`. */
void decode_response_chunk(struct decoder *in, struct response_chunk *answer);

/* ---- bodies of requests ---- */

/* Flags of SELECT. */
enum select_flag {
    SELECT_NAMED_LINES =
        1 /* of more than LIMIT_LINES_SENT lines, send only those that responses mention */
};

/* Anchors of a window. */
enum anchor {
    ANCHOR_START,
    ANCHOR_END,
    ANCHOR_EVENT,
    ANCHOR_POSITION,
    ANCHOR_FRACTION,
    ANCHOR_TIME,
    ANCHORS
};

/* Moves the events of one line relative to the window; events > 0: to the left. With `to`, moves
 * the line so that `events` of its events are left of the cut: one such move for each row describes
 * the left edge of any window. */
struct layout_move {
    uint32_t line;
    bool to;
    int64_t events;
};

struct window_request {
    uint8_t anchor;
    struct event_id event;
    uint64_t position;
    double fraction;
    int32_t from;
    uint32_t columns;
    bool fold;
    int64_t time_ns; /* of ANCHOR_TIME */
    uint64_t column_ns; /* not 0: placed by time, with columns of this length; moves are ignored */
    /* placed by time: the column from which the maximum number of events is searched in both
     * directions */
    int32_t middle;
    struct layout_move *moves;
    uint32_t move_count;
    uint32_t *rows; /* lines; none: all that are drawn */
    uint8_t *joined; /* by row: 1: in a line group with the previous row; NULL: no groups */
    uint32_t row_count;
    /* not 0, and no rows: if there are more lines than this, only those with events in the window
     * get rows, at most this many */
    uint32_t most_rows;
    bool early; /* if it takes long, send a first result early, marked unresolved */
};

/* Overview of a run: events per row and pixel. */
struct density_request {
    bool by_time; /* else by position in the log */
    bool blocked; /* include blocked intervals: this examines every event */
    int64_t from, to; /* positions or ns; to <= from: the whole run */
    uint32_t pixels;
    uint32_t *rows; /* lines; none: all that are drawn */
    uint8_t *joined; /* as in a window */
    uint32_t row_count;
    /* of state bands: measured states of threads, rather than those that the order alone implies */
    bool living;
    /* of state bands, by row: ignore the row from there on; NULL: ignore nothing */
    int64_t *untils;
};

/* Conditions of a search: event types, lines, call sites, and a text. */
struct search_request {
    uint64_t from; /* position to begin at; backwards: the first one that is not examined */
    bool backwards;
    bool any; /* any condition is sufficient; else all given ones must hold */
    bool count; /* continue after `limit` hits, to count the rest */
    /* text is a PCRE2 regular expression; else a substring, ignoring case */
    bool expression;
    uint32_t limit; /* maximum hits to send */
    uint32_t *types, *lines;
    uint32_t type_count, line_count;
    struct search_site {
        uint32_t process;
        uint64_t address;
    } *sites;
    uint32_t site_count;
    char *text; /* "": any */
};

/* Requests the relation of these events to one event. */
struct relations_request {
    struct event_id about;
    uint64_t *positions; /* of events in the log */
    uint32_t count; /* at most LIMIT_STANDS */
};

/* Directions in which to step from an event. */
enum neighbor_step {
    STEP_LINE_BACK, /* the previous event on its line */
    STEP_LINE_ON, /* the next one */
    STEP_CAUSE, /* the nearest event that happened before it on another line */
    STEP_EFFECT, /* the nearest one that happened after it */
    STEPS
};

void encode_window_request(struct encoder *out, const struct window_request *request);
void decode_window_request(struct decoder *in, struct window_request *request);
void window_request_free(struct window_request *request);
void encode_density_request(struct encoder *out, const struct density_request *request);
void decode_density_request(struct decoder *in, struct density_request *request);
void density_request_free(struct density_request *request);
void encode_search_request(struct encoder *out, const struct search_request *request);
void decode_search_request(struct decoder *in, struct search_request *request);
void search_request_free(struct search_request *request);
void encode_relations_request(struct encoder *out, const struct relations_request *request);
void decode_relations_request(struct decoder *in, struct relations_request *request);
void relations_request_free(struct relations_request *request);

/* Changes what programs measure from now on (WANTED_ of wire/profile_region.h): sets the bits in
 * `mask` to those in `bits`. */
struct measurement_request {
    uint32_t mask, bits;
    uint32_t *lines; /* only these threads; none: all, including later ones */
    uint32_t line_count;
};
void encode_measurement_request(struct encoder *out, const struct measurement_request *request);
void decode_measurement_request(struct decoder *in, struct measurement_request *request);
void measurement_request_free(struct measurement_request *request);

#endif
