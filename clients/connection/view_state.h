/* A view state: what is visible of a run, and how. Equal view states of one run give the same
 * diagram.
 *
 * Written to a file it is a view, from which another diagram can be made: lines are stored by
 * number and by kind and name, so that the rows of a view fit the next run of the same program,
 * too. */
#ifndef CLIENTS_CONNECTION_VIEW_STATE_H
#define CLIENTS_CONNECTION_VIEW_STATE_H

#include "clients/connection/line_labels.h"
#include "wire/request_body.h"
#include "wire/endpoint.h"

struct view_state_row {
    uint32_t line;
    bool joins;  /* in a line group with the previous row */
    bool hidden; /* not drawn; order passes through it */
    bool pinned; /* stays in place while the others scroll: pinned rows come first */
};

struct view_state {
    /* position: columns counted from a position of the log, changed by line moves */
    uint8_t anchor; /* START, END, EVENT, POSITION or TIME */
    struct event_id event;
    uint64_t position;
    int64_t time_ns;
    struct layout_move *moves;
    uint32_t move_count;
    int32_t from;     /* the leftmost column */
    uint32_t columns; /* in a file: number of visible columns */
    double shift_pt;  /* of the leftmost column, left of the diagram */
    double rise_pt;   /* of the rows, above it */
    double zoom;
    bool follow;         /* follow the end as the run grows */
    bool overview;            /* overview: densities instead of marks */
    double overview_from, overview_to; /* positions, or ns if placed by time */
    /* appearance */
    struct view_state_row *rows; /* in display order; none: all drawn lines, in default order */
    uint32_t row_count;
    bool fold;
    uint64_t column_ns; /* not 0: placed by time */
    struct event_id selected, second;
    bool color_relations;       /* marks are colored by their relation to the selected event */
    uint8_t hide;               /* HIDE_ bits, with color_relations */
    /* the function whose share of the time is highlighted (diagram/function_highlight.h); NULL:
     * none; not saved */
    char *lit;
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
bool view_state_equal(const struct view_state *a, const struct view_state *b);
/* Fills the request for its window; the request owns rows, moves are borrowed. */
void view_state_request(const struct view_state *place, struct window_request *request);
/* Stops following the end: the view stays at the end of the last window. */
void place_leave_end(struct view_state *place);
/* Moves pinned rows to the front, in their order; a line group moves with its first row. */
void view_state_pinned_first(struct view_state *place);
/* Appends a move; merged with the last one if that is of the same line. */
void view_state_move(struct view_state *place, uint32_t line, int64_t events);

#endif
