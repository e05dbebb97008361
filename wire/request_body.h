/* What a viewer asks a server for, as structs and as bytes.  Everything read into these structs is
 * owned by them and freed by their _free.  get_ functions fail the reader on nonsense and leave a
 * struct that may be freed. */
#ifndef WIRE_REQUEST_BODY_H
#define WIRE_REQUEST_BODY_H

#include "wire/event_types.h"
#include "wire/message.h"

/* With the run of SELECT. */
enum select_flag {
    SELECT_NAMED_LINES =
        1 /* of more than LIMIT_LINES_TOLD lines only those are told that answers name */
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

/* Of one line, by so many events; > 0: they go to the left.  Or, with `to`, so far that so many of
 * all its events are left of the cut: with one such move for each row, the left edge of any window
 * is told. */
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
    uint64_t column_ns; /* not 0: placed by time, a column is this long; moves do not count then */
    int32_t middle; /* placed by time: from this column on to either side so many are looked for */
    struct layout_move *moves;
    uint32_t move_count;
    uint32_t *rows; /* lines; none means all that are drawn */
    uint8_t *joined; /* by row: 1: in a cluster with the one before; NULL: none is */
    uint32_t row_count;
    uint32_t most_rows; /* not 0, and no rows: of more lines than this only those with events in the
                             * window get rows, at most so many */
    bool early; /* what takes long is told twice: first what is found soon, unresolved */
};

/* A run from far away: events per row and pixel. */
struct density_request {
    bool by_time; /* else by position in the log */
    bool blocked; /* blocked stretches, too: that takes a look at every event */
    int64_t from, to; /* positions or ns; to <= from: the whole run */
    uint32_t pixels;
    uint32_t *rows; /* lines; none means all that are drawn */
    uint8_t *joined; /* as in a window */
    uint32_t row_count;
    /* of a strip: states of threads as they were measured, not as the order alone tells them */
    bool living;
    int64_t *untils; /* of a strip, by row: nothing of it counts from there on; NULL: all does */
};

/* Which events: those of these types, on these lines, called from these places, with such a
 * text. */
struct search_request {
    uint64_t from; /* position to begin at; backwards: the first one that is not looked at */
    bool backwards;
    bool any; /* one of the conditions is enough; else all that are given must hold */
    bool count; /* look further once `limit` hits are told, to count the rest */
    /* text is a regular expression, as of PCRE2; else a part of a text, in any case */
    bool expression;
    uint32_t limit; /* of hits to tell */
    uint32_t *types, *lines;
    uint32_t type_count, line_count;
    struct search_site {
        uint32_t process;
        uint64_t address;
    } *sites;
    uint32_t site_count;
    char *text; /* "" any */
};

/* How do these events stand to one of them? */
struct relations_request {
    struct event_id about;
    uint64_t *positions; /* of events in the log */
    uint32_t count; /* at most LIMIT_STANDS */
};

/* Ways to step from an event. */
enum neighbor_step {
    STEP_LINE_BACK, /* the event before it on its line */
    STEP_LINE_ON, /* the next one */
    STEP_CAUSE, /* the nearest event before it that is on another line */
    STEP_EFFECT, /* the nearest one after it */
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

/* What programs are to measure from now on (WANTED_ of wire/profile_region.h): of what is in mask,
 * what is in bits. */
struct measurement_request {
    uint32_t mask, bits;
    uint32_t *lines; /* only these threads; none: all, those that come later, too */
    uint32_t line_count;
};
void encode_measurement_request(struct encoder *out, const struct measurement_request *request);
void decode_measurement_request(struct decoder *in, struct measurement_request *request);
void measurement_request_free(struct measurement_request *request);

#endif
