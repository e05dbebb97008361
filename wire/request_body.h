/* Bodies of requests, as structs and as bytes. The structs own what is decoded into them; their
 * _free frees it. decode_ functions fail the decoder on invalid input and leave a struct that may
 * be freed. */
#ifndef WIRE_REQUEST_BODY_H
#define WIRE_REQUEST_BODY_H

#include "wire/event_types.h"
#include "wire/message.h"

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
