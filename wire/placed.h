/* What a picture is made of: windows of placed events, and densities, as structs and as bytes.  What is read into
 * these structs is owned by them and freed by their _free, as in shown.h. */
#ifndef WIRE_PLACED_H
#define WIRE_PLACED_H

#include "wire/shown.h"

struct shown_gap {
    uint32_t line;
    uint64_t first, count;
};

struct shown_crossing { /* a message that passes the window by */
    struct ref from, to;
};

struct shown_via { /* order between two drawn events through lines that are not */
    struct ref from, to;
    uint32_t line; /* the last of those */
};

struct
    shown_edge { /* the one comes before the other, both in the window: order without a partner */
    struct ref from, to;
};

/* What a thread did last left of the window, on whichever line; its own is in a row. */
struct shown_stay {
    uint32_t thread; /* its own line */
    struct ref at;
    uint32_t type;
    uint8_t relation;
    uint32_t about; /* line, 0 none */
    int64_t time_ns;
    uint64_t
        home; /* not 0: not left of the window, but after the event of this number on its own line, on a
                    * line in no row, and last of all */
};

struct shown_row {
    uint32_t line; /* the first, if it is a cluster */
    uint32_t *members; /* the other lines of a cluster */
    uint64_t *lefts; /* events of each of them left of the window */
    uint32_t member_count;
    struct presences in; /* at the left edge */
    uint64_t left; /* events left of the window, of all its lines */
    bool open; /* the line has events or states on both sides: it crosses the left edge */
};

struct shown_window {
    uint64_t generation, anchor, count; /* position of the anchor, length of the log */
    int32_t from;
    uint32_t columns;
    bool by_time; /* placed by time: columns may be many, most of them empty */
    int64_t time_ns; /* where column 0 begins, if placed by time */
    int32_t first, last; /* columns that hold something */
    bool more_left, more_right;
    bool unresolved; /* what some rows have further right was not looked for */
    struct shown_row *rows;
    uint32_t row_count;
    struct shown_event *events;
    uint32_t event_count;
    struct shown_event *pending;
    uint32_t pending_count;
    struct shown_gap *gaps;
    uint32_t gap_count;
    struct shown_crossing *crossings;
    uint32_t crossing_count;
    struct shown_via *vias;
    uint32_t via_count;
    struct shown_edge *edges; /* by the position of the later one */
    uint32_t edge_count;
    struct shown_stay *stays;
    uint32_t stay_count;
    uint64_t idle_lines; /* that are drawn but have no row: they have no event in the window */
    uint64_t left_lines; /* that have events in it, but there were too many rows */
    uint64_t discarded; /* of the run's events, the oldest: only a part of it is kept */
};

/* A run from far away: events per row and pixel. */
struct shown_density {
    int64_t from, to;
    uint32_t pixels, row_count;
    uint32_t *rows; /* lines */
    uint32_t *counts; /* by row, then pixel */
    uint64_t *
        blocked_ns; /* the longest stretch that begins there in which only blocked threads were in the line */
};

void put_window(struct out *out, const struct shown_window *window);
void get_window(struct in *in, struct shown_window *window);
void shown_window_free(struct shown_window *window);
void put_density(struct out *out, const struct shown_density *density);
void get_density(struct in *in, struct shown_density *density);
void shown_density_free(struct shown_density *density);

#endif
