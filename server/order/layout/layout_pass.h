/* The layout passes to either side of the cut, and what both of them need. */
#ifndef SERVER_ORDER_LAYOUT_LAYOUT_PASS_H
#define SERVER_ORDER_LAYOUT_LAYOUT_PASS_H

#include "base/map.h"
#include "server/order/layout/collapse.h"
#include "server/order/layout/column_assignment.h"

/* One pass over the log, away from the cut. */
struct layout_pass {
    uint64_t base;   /* right: position of column[0]; left: column[i] is of base - 1 - i */
    uint64_t at;     /* right: next position; left: all positions from here on are processed */
    int32_t *column;
    size_t room, known; /* left: size of the part of column[] that is initialized */
    int32_t *line, *hidden, *row; /* newest column per line; of a row: the newest drawn one */
    size_t open;     /* lines in rows that may still get an event in the window */
    uint64_t looked; /* events examined for the current window */
    struct layout_seen {    /* events found on lines in rows, in the order of the pass */
        uint64_t position;
        int32_t column;
        uint32_t line;
        bool drawn;
    } *seen;
    size_t seen_count, seen_room;
    bool ready, done, unresolved;
    /* of a window with many lines: the newest column of each thread, which threads are watched,
     * and whether an event of an unknown thread was found, so that the pass must continue
     * (below) */
    int32_t *acted;
    uint8_t *watched;
    bool strangers;
    struct map far; /* left: columns required of causes that are far away */
    /* right: ranges that were skipped; the state before the first of them */
    struct skip_range {
        uint64_t from, to; /* positions from .. to - 1 */
        uint64_t sum; /* number of positions skipped so far, including these */
    } *skips;
    size_t skip_count, skip_room;
    int32_t skip_edge;
    struct layout_pass *before;
    uint64_t wait, waited; /* events between two attempts */
    struct closed_lines { /* closed_lines.h */
        bool *open; /* by line - 1: may it still get an event in the window? */
        uint32_t *lines; /* lines that were open at the last attempt */
        size_t count, room, next;
        uint64_t wait, waited; /* events between two attempts */
    } shut;
};

struct layout_job {
    const struct order *order;
    struct layout_params placing;
    uint64_t *cut, cut_least, cut_most;
    size_t lines, hidden_lines;
    bool may_skip; /* may ranges be skipped? */
    uint32_t *acting; /* threads: see active_threads_begin */
    size_t acting_count, acting_room;
    struct layout_pass left, right;
    struct collapse_state folds;
};

static inline uint32_t layout_pass_row(const struct layout_job *job, uint32_t line)
{
    return line & HIDDEN_LINE || line == 0 || line > job->lines ? 0 : job->placing.row_of[line - 1];
}

static inline uint64_t layout_pass_cut(const struct layout_job *job, uint32_t line)
{
    size_t i = line & HIDDEN_LINE ? job->lines + (line & ~HIDDEN_LINE) - 1 : line - 1;
    bool known =
        line & HIDDEN_LINE ? (line & ~HIDDEN_LINE) <= job->hidden_lines : line <= job->lines;
    return known ? job->cut[i] : job->placing.anchor;
}

int32_t *layout_pass_newest(struct layout_job *job, struct layout_pass *pass, uint32_t line);
bool layout_pass_draws(const struct layout_job *job, uint64_t position, uint32_t row);
/* Returns whether any event of a synchronization point is drawn, so that the point takes up a
 * column. Raises *column to the columns taken in the row of a line group. */
bool layout_pass_needs_room(const struct layout_job *job, const struct layout_pass *pass,
                            uint64_t begin, uint64_t end, int32_t *column);
/* Initializes a pass; `value` means that there is no column yet. */
void layout_pass_begin(struct layout_job *job, struct layout_pass *pass, int32_t value);
void layout_pass_see(struct layout_pass *pass, uint64_t position, uint32_t line, int32_t column,
                     bool drawn);
void layout_pass_reserve(struct layout_pass *pass, size_t index);
uint64_t layout_pass_lines_counted(const struct layout_job *job);
uint64_t layout_pass_budget(const struct layout_job *job);

int32_t layout_pass_right_edge(const struct layout_job *job);
int32_t layout_pass_left_edge(const struct layout_job *job);

/* Returns the newest column of a line without a row, by the line's code in the log; NULL if it has
 * a row, or is unknown. */
static inline int32_t *layout_pass_undrawn(const struct layout_job *job,
                                           const struct layout_pass *pass, uint64_t code)
{
    uint64_t i = (code >> 1) - 1;
    if (code & 1)
        return i < job->hidden_lines ? &pass->hidden[i] : NULL;
    return i < job->lines && !job->placing.row_of[i] ? &pass->line[i] : NULL;
}

/* Return the index of a position in column[], and the position's column. */
size_t layout_pass_index(const struct layout_pass *pass, uint64_t position);
int32_t layout_pass_column(const struct layout_pass *pass, uint64_t position);

/* To the left: returns the column required of a cause that is far away, 0 if none is. */
static inline int32_t layout_pass_pushed_far(const struct layout_pass *pass, uint64_t position)
{
    return pass->far.count ? (int32_t)(intptr_t)map_get(&pass->far, position, 0) : 0;
}

/* Returns the column that the successors of an event require for it, if it is greater than
 * `column`. */
static inline int32_t layout_pass_pushed(const struct layout_pass *pass, uint64_t position,
                                         int32_t column)
{
    uint64_t index = pass->base - 1 - position;
    if (index < pass->known && pass->column[index] > column)
        column = pass->column[index];
    int32_t far = layout_pass_pushed_far(pass, position);
    return far > column ? far : column;
}

/* ---- active threads ----
 *
 * The threads that may still have an event in the window, used where there are too many lines to
 * check each of them.  A thread's events come one after the other, so that their columns grow.
 * Once a thread has one beyond the window, no line gets an event of that thread in the window any
 * more. */

void active_threads_begin(struct layout_job *job);
/* Returns how many threads may still have events in the window, according to `may`; they are
 * watched from here on. */
size_t active_threads_watch(struct layout_job *job, struct layout_pass *pass,
                            bool (*may)(const struct layout_job *job,
                                        const struct layout_pass *pass, uint32_t thread));
/* Records an event of a watched thread. last: the thread has no further event in the window. */
void active_threads_see(struct layout_job *job, struct layout_pass *pass, uint32_t thread,
                        int32_t column, bool last);
void active_threads_end(struct layout_job *job);

/* ---- layout_left.c: the pass to the left of the cut ---- */

/* Prepares the pass for the current window. */
void layout_left_want(struct layout_job *job);
/* Continues; returns true when all events are found. */
bool layout_left_step(struct layout_job *job, uint64_t budget);
/* Returns how many positions left of the cut may be in the window. */
uint64_t layout_left_depth(const struct layout_job *job);
/* Returns whether a line has events left of the cut that the pass has not reached. */
bool layout_left_has_more(const struct layout_job *job, uint32_t line);

/* ---- layout_right.c: the pass to the right of the cut, and what it skips ---- */

/* Prepares the pass for the current window. */
void layout_right_want(struct layout_job *job);
/* Continues; returns true when all events are found. */
bool layout_right_step(struct layout_job *job, uint64_t budget);

/* Skipped ranges: along a line columns grow, so once a line has an event beyond the window, all its
 * further events are beyond it. While the next event of every other line is far away, nothing in
 * between can be in the window: it is skipped. The cost of a window depends on its contents, not on
 * what happens while one of its threads sleeps. To the left that is impossible: the effects of an
 * event are not known from the event.
 *
 * Returns whether ranges can be skipped in such a layout. */
bool skip_ranges_allowed(const struct layout_params *placing);
void skip_ranges_free(struct layout_pass *pass);

#endif
