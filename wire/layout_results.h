/* What a picture is made of: windows of placed events, and densities, as structs and as bytes.
 * What is read into these structs is owned by them and freed by their _free, as in trace_view.h. */
#ifndef WIRE_LAYOUT_RESULTS_H
#define WIRE_LAYOUT_RESULTS_H

#include "wire/trace_view.h"

struct gap_info {
    uint32_t line;
    uint64_t first, count;
};

struct crossing_info { /* a message that passes the window by */
    struct event_id from, to;
};

struct via_info { /* order between two drawn events through lines that are not */
    struct event_id from, to;
    uint32_t line; /* the last of those */
};

struct edge_info { /* the one comes before the other, both in the window: order without a partner */
    struct event_id from, to;
};

/* What a thread did last left of the window, on whichever line; its own is in a row. */
struct placement_info {
    uint32_t thread; /* its own line */
    struct event_id at;
    uint32_t type;
    uint8_t relation;
    uint32_t about; /* line, 0 none */
    int64_t time_ns;
    uint64_t
        home; /* not 0: not left of the window, but after the event of this number on its own line, on a
                    * line in no row, and last of all */
};

struct row_info {
    uint32_t line; /* the first, if it is a cluster */
    uint32_t *members; /* the other lines of a cluster */
    uint64_t *lefts; /* events of each of them left of the window */
    uint32_t member_count;
    struct occupants in; /* at the left edge */
    uint64_t left; /* events left of the window, of all its lines */
    bool open; /* the line has events or states on both sides: it crosses the left edge */
};

struct window_info {
    uint64_t generation, anchor, count; /* position of the anchor, length of the log */
    int32_t from;
    uint32_t columns;
    bool by_time; /* placed by time: columns may be many, most of them empty */
    int64_t time_ns; /* where column 0 begins, if placed by time */
    int32_t first, last; /* columns that hold something */
    bool more_left, more_right;
    bool unresolved; /* what some rows have further right was not looked for */
    struct row_info *rows;
    uint32_t row_count;
    struct event_info *events;
    uint32_t event_count;
    struct event_info *pending;
    uint32_t pending_count;
    struct gap_info *gaps;
    uint32_t gap_count;
    struct crossing_info *crossings;
    uint32_t crossing_count;
    struct via_info *vias;
    uint32_t via_count;
    struct edge_info *edges; /* by the position of the later one */
    uint32_t edge_count;
    struct placement_info *stays;
    uint32_t stay_count;
    uint64_t idle_lines; /* that are drawn but have no row: they have no event in the window */
    uint64_t left_lines; /* that have events in it, but there were too many rows */
    uint64_t discarded; /* of the run's events, the oldest: only a part of it is kept */
};

/* A run from far away: events per row and pixel. */
struct density_info {
    int64_t from, to;
    uint32_t pixels, row_count;
    uint32_t *rows; /* lines */
    uint32_t *counts; /* by row, then pixel */
    /* the longest stretch that begins there in which only blocked threads were in the line */
    uint64_t *blocked_ns;
};

void encode_window(struct encoder *out, const struct window_info *window);
void decode_window(struct decoder *in, struct window_info *window);
void window_info_free(struct window_info *window);
void encode_density(struct encoder *out, const struct density_info *density);
void decode_density(struct decoder *in, struct density_info *density);
void density_info_free(struct density_info *density);

#endif
