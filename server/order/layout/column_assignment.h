/* Column assignment: computes the column of each event of a window.
 *
 * A view is an anchor cut and columns counted from it: right of the cut 0, 1, 2, ..., left of it
 * -1, -2, .... Right of the cut an event's column is the length of the longest chain of drawn
 * events from the cut to it; left of it, likewise backwards.  Thus the members of a synchronization
 * point share a column, a cause is left of its effect, a column is blank only where the order
 * requires it, and scrolling by columns moves no event relative to another.  The properties are
 * Taylor's ("Scrolling partially ordered event displays"); docs/order.md says how each is met.
 *
 * The cut is a position of the log (all earlier positions are left of it; such a cut is
 * consistent), then changed by line moves, one after the other: moving a line forwards by m events
 * takes them, and all that is before them, to the left; moving it backwards takes them, and all
 * that is after them, to the right.
 *
 * A row is a line, or a line group (in the code: cluster): a set of lines of which only those
 * events are drawn that are related to an event outside it, or have an annotation.  Events on lines
 * that are in no row pass order on and take no room.  On a shared line, and in the row of a
 * cluster, succession is not an order, but what is drawn is drawn one after the other.
 *
 * Columns are assigned in steps, so that a server can do other work between them.  The pass to
 * either side ends where all rows are full or ended, or after a number of events that depends on
 * the lines and the columns wanted, not on the length of the log: then `unresolved` is set. */
#ifndef SERVER_ORDER_LAYOUT_COLUMN_ASSIGNMENT_H
#define SERVER_ORDER_LAYOUT_COLUMN_ASSIGNMENT_H

#include "server/order/order.h"

struct layout_event {
    uint64_t position;
    int32_t column;
    uint32_t fold; /* 0: a single event; N: represents N critical sections */
    uint64_t fold_end; /* position of the last event on its line that it represents */
};

struct line_move {
    uint32_t line;
    bool to;        /* move so far that `events` of its events are left of the cut */
    int64_t events; /* number of events; > 0: forwards, the line's events are moved to the left */
};

struct layout_params {
    uint64_t anchor; /* position */
    const struct line_move *moves;
    size_t move_count;
    int32_t from;           /* first column wanted */
    uint32_t columns;       /* number of columns, at least 1 */
    const uint32_t *row_of; /* by line - 1: 0: in no row, else 1 + its row */
    const uint8_t *cluster; /* by row: is it a line group? */
    uint32_t rows;
    /* there are too many lines to check each (layout_pass.h): all drawn lines are in row 1,
     * the only one */
    bool many;
    bool fold; /* similar, uncontended critical sections become one mark */
    bool (*has_text)(void *context, struct event_id at); /* such an event is always drawn */
    void *context;
};

struct layout_result {
    struct layout_event *events; /* by position */
    size_t count, room;
    int32_t first, last; /* first and last nonempty column in the window */
    bool more_left, more_right; /* there are drawn events beyond the window */
    bool unresolved;
    /* By line - 1, of lines in rows (with `many`: of those with events in the window): ordinal of
     * the first event that is not left of the window. */
    uint64_t *before;
};

/* Begins a job. Everything that `placing` points to must outlive the job. Lines that are created
 * later are in no row. */
struct layout_job *layout_columns_begin(const struct order *order,
                                        const struct layout_params *placing);
/* Examines about `budget` events; returns true when the window can be collected. */
bool layout_columns_step(struct layout_job *job, uint64_t budget);
/* Sets *placement to the events in the window; the caller frees it. Before the passes are complete,
 * it has what they found so far and is marked unresolved. */
void layout_columns_collect(struct layout_job *job, struct layout_result *placement);
/* Begins another window of the same view; the passes continue from where they are. The order may
 * have grown. */
void layout_columns_want(struct layout_job *job, int32_t from, uint32_t columns);
size_t layout_columns_weight(const struct layout_job *job); /* events that it stores */
void layout_columns_end(struct layout_job *job);
/* Runs a whole job. */
void layout_columns(const struct order *order, const struct layout_params *placing,
                    struct layout_result *placement);
void layout_result_free(struct layout_result *placement);

/* layout_pass.c: Returns whether the event is drawn: whether its line is in a row and, if that is a
 * line group, the event is tied to one outside of it. */
bool layout_draws_event(const struct order *order, const struct layout_params *placing,
                        uint64_t position);

/* Returns the cut: by line - 1, then by hidden line, the first position right of it.
 * The caller frees it. */
uint64_t *layout_cut(const struct order *order, const struct layout_params *placing);

#endif
