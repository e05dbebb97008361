/* A view state: what is visible of a run, and how. Equal view states of one run give the same
 * diagram.
 *
 * Written to a file it is a view, from which another diagram can be made: lines are stored by
 * number and by kind and name, so that the rows of a view fit the next run of the same program,
 * too. Not thread-safe. */
#ifndef CLIENTS_CONNECTION_VIEW_STATE_H
#define CLIENTS_CONNECTION_VIEW_STATE_H

#include "clients/connection/line_labels.h"
#include "wire/endpoint.h"
#include "wire/request.h"

#include <stdio.h>

struct view_state_row {
    uint32_t line;
    bool joins;  /* in a line group with the previous row */
    bool hidden; /* not drawn; order passes through it */
    bool pinned; /* stays in place while the others scroll: pinned rows come first */
};

/* A range of time: what happened from from_ns on, before to_ns; zeroed: the whole run. */
struct view_state_range {
    int64_t from_ns, to_ns;
    uint32_t *lines; /* owned; only these threads; none: all */
    uint32_t line_count;
    /* it was selected by the order: it is from the first to the last event between two places */
    bool by_order;
};

#define CURSORS_MOST 2u /* times that are marked, to measure from one to the other */

struct view_state {
    /* position: columns counted from a position of the log, changed by line moves */
    uint8_t anchor; /* START, END, EVENT, POSITION or TIME */
    struct event_id event;
    uint64_t position;
    int64_t time_ns;
    struct layout_move *moves;
    uint32_t move_count;
    int32_t from; /* the leftmost column */
    uint32_t columns; /* in a file: number of visible columns */
    double shift_pt; /* of the leftmost column, left of the diagram */
    double rise_pt; /* of the rows, above it */
    double zoom;
    bool follow; /* follow the end as the run grows */
    bool overview; /* overview: densities instead of marks */
    double overview_from, overview_to; /* positions, or ns if placed by time */
    /* appearance */
    struct view_state_row *rows; /* in display order; none: all drawn lines, in default order */
    uint32_t row_count;
    bool fold;
    uint64_t column_ns; /* not 0: placed by time */
    struct event_id selected, second;
    bool color_relations; /* marks are colored by their relation to the selected event */
    uint8_t hide; /* HIDE_ bits, with color_relations */
    /* the function of which the share of the time is highlighted (diagram/function_highlight.h);
     * NULL: none; not saved */
    char *lit;
    /* the selected range, and the cursors (diagram/time_range.h); not saved */
    struct view_state_range range;
    int64_t cursors_ns[CURSORS_MOST];
    uint32_t cursor_count;
};

#define HIDE_PAST 1u
#define HIDE_FUTURE 2u
#define HIDE_CONCURRENT 4u

/* Appearance that belongs to a diagram rather than to a view state. */
struct view_style {
    enum labels labels;
    bool grey, dark, hairlines, legend, squeeze, vertical;
    bool no_order; /* without arrows for order edges that are not messages */
    int64_t threshold_ns;
};

void view_state_copy(struct view_state *to,
                     const struct view_state *from); /* to: zeroed or a view state */
void view_state_free(struct view_state *place); /* leaves it empty */
/* The range is the caller's, with a copy of its lines. */
struct view_state_range view_state_range_copy(const struct view_state_range *range);
bool view_state_range_equal(const struct view_state_range *a, const struct view_state_range *b);
bool view_state_equal(const struct view_state *a, const struct view_state *b);
/* Fills the request for its window; the request owns rows, moves are borrowed. */
void view_state_request(const struct view_state *place, struct window_request *request);
/* Stops following the end: the view stays at the end of the last window. */
void place_leave_end(struct view_state *place);
/* Moves pinned rows to the front, in their order; a line group moves with its first row. */
void view_state_pinned_first(struct view_state *place);
/* Appends a move; merged with the last one if that is of the same line. */
void view_state_move(struct view_state *place, uint32_t line, int64_t events);

/* ---- views in files ---- */

/* Write and read a view. Reading omits lines that do not exist; a view of another run gets only its
 * rows. */
bool view_file_write(const struct view_state *place, const struct view_style *look,
                     const struct trace_metadata *book, struct symbolizer *sites, FILE *f);
bool view_file_read(struct view_state *place, struct view_style *look,
                    const struct trace_metadata *book, struct symbolizer *sites, const char *file,
                    struct error *error);

#endif
