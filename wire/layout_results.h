/* Results from which a diagram is drawn: windows of placed events, and event densities, as structs
 * and as bytes. The structs own what is decoded into them; their _free frees it, as in
 * trace_view.h. */
#ifndef WIRE_LAYOUT_RESULTS_H
#define WIRE_LAYOUT_RESULTS_H

#include "wire/trace_view.h"

struct gap_info {
    uint32_t line;
    uint64_t first, count;
};

struct crossing_info { /* a message that passes the window */
    struct event_id from, to;
};

struct via_info { /* order between two drawn events through lines that are not drawn */
    struct event_id from, to;
    uint32_t line; /* the last of those lines */
};

struct edge_info { /* an order edge between two events in the window */
    struct event_id from, to;
};

/* A thread's last event left of the window, on any line; that on its own line is in a row. */
struct placement_info {
    uint32_t thread; /* the thread line */
    struct event_id at;
    uint32_t type;
    uint8_t relation;
    uint32_t about; /* line, 0: none */
    int64_t time_ns;
    /* not 0: not left of the window, but after the event of this number on its own line, on a line
     * without a row, and its last event */
    uint64_t home;
};

struct row_info {
    uint32_t line; /* the first line, of a line group */
    uint32_t *members; /* the other lines of a line group */
    uint64_t *lefts; /* for each of them, events left of the window */
    uint32_t member_count;
    struct occupants in; /* at the left edge */
    uint64_t left; /* events left of the window, on all its lines */
    bool open; /* the line has events or states on both sides, so it crosses the left edge */
};

struct window_info {
    uint64_t generation, anchor, count; /* position of the anchor, length of the log */
    int32_t from;
    uint32_t columns;
    bool by_time; /* placed by time: there may be many columns, most of them empty */
    int64_t time_ns; /* the time at which column 0 begins, if placed by time */
    int32_t first, last; /* columns that are not empty */
    bool more_left, more_right;
    bool unresolved; /* the events of some rows further right were not searched */
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
    struct edge_info *edges; /* by the position of the later event */
    uint32_t edge_count;
    struct placement_info *placements;
    uint32_t placement_count;
    uint64_t idle_lines; /* drawn lines without a row, since they have no event in the window */
    uint64_t left_lines; /* lines that have events in it, but exceed the maximum of rows */
    uint64_t discarded; /* oldest events of the run, which were discarded */
};

/* Overview of a run: events per row and pixel. */
struct density_info {
    int64_t from, to;
    uint32_t pixels, row_count;
    uint32_t *rows; /* lines */
    uint32_t *counts; /* by row, then pixel */
    /* the longest interval beginning there in which only blocked threads were in the line */
    uint64_t *blocked_ns;
};

void encode_window(struct encoder *out, const struct window_info *window);
void decode_window(struct decoder *in, struct window_info *window);
void window_info_free(struct window_info *window);
void encode_density(struct encoder *out, const struct density_info *density);
void decode_density(struct decoder *in, struct density_info *density);
void density_info_free(struct density_info *density);

#endif
