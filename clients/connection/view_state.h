/* A place: what is seen of a run, and how.  Two equal places of one run give the same picture.
 *
 * Written to a file it is a view, that another picture can be made from: lines are told by number
 * and by kind and name, so that the rows of a view fit the next run of the same program, too. */
#ifndef CLIENTS_CONNECTION_VIEW_STATE_H
#define CLIENTS_CONNECTION_VIEW_STATE_H

#include "clients/connection/line_labels.h"
#include "wire/request_body.h"
#include "wire/endpoint.h"

struct view_state_row {
    uint32_t line;
    bool joins;  /* in a cluster with the row before */
    bool hidden; /* not drawn; order passes through it */
    bool pinned; /* stays where it is while the others scroll: all that are stand first */
};

struct view_state {
    /* where: columns counted from a position of the log, changed by line moves */
    uint8_t anchor; /* START, END, EVENT, POSITION or TIME */
    struct event_id event;
    uint64_t position;
    int64_t time_ns;
    struct layout_move *moves;
    uint32_t move_count;
    int32_t from;     /* the leftmost column */
    uint32_t columns; /* in a file: how many are seen */
    double shift_pt;  /* of the leftmost column, left of the picture */
    double rise_pt;   /* of the rows, above it */
    double zoom;
    bool follow;         /* the end, as the run grows */
    bool far;            /* densities instead of marks: */
    double far_from, far_to; /* positions, or ns if placed by time */
    /* how */
    struct view_state_row
        *rows; /* in the order of the picture; none: all that are drawn, as they come */
    uint32_t row_count;
    bool fold;
    uint64_t column_ns; /* not 0: placed by time */
    struct event_id selected, second;
    bool stands;                /* marks are coloured by how they stand to the selected one */
    uint8_t hide;               /* HIDE_ bits, with stands */
    /* the function whose share of the time is seen (diagram/function_highlight.h); NULL: none; not
     * in files */
    char *lit;
};

#define HIDE_PAST 1u
#define HIDE_FUTURE 2u
#define HIDE_CONCURRENT 4u

/* What belongs to the look of a picture rather than to a place. */
struct view_style {
    enum labels labels;
    bool grey, dark, hairlines, legend, squeeze, vertical;
    bool no_order; /* without arrows for order that is no message */
    int64_t threshold_ns;
};

void view_state_copy(struct view_state *to,
                     const struct view_state *from); /* to: zeroed or a place */
void view_state_free(struct view_state *place); /* empties it */
bool view_state_equal(const struct view_state *a, const struct view_state *b);
/* Asks for its window; rows are the request's own, moves borrowed. */
void view_state_request(const struct view_state *place, struct window_request *request);
/* What follows the end stays where that was in the last window. */
void place_leave_end(struct view_state *place);
/* Rows that are pinned come first, in the order in which they stand; a cluster goes as its first
 * row does. */
void view_state_pinned_first(struct view_state *place);
/* One move after the others; joined with the last if that was of the same line. */
void view_state_move(struct view_state *place, uint32_t line, int64_t events);

#endif
