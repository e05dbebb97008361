/* What both sweeps share: what they know of lines and columns, and what is drawn. */
#include "server/order/placing/sweep.h"

#include "memory/memory.h"
#include "server/order/log/block.h"
#include "server/order/log/log.h"
#include "server/order/order.h"
#include "server/order/placing/fold.h"
#include "server/order/state.h"
#include "wire/event.h"

/* ---- the window ---- */

int32_t sweep_right_edge(const struct place_job *job)
{
    return job->placing.from + (int32_t)job->placing.columns;
}

int32_t sweep_left_edge(const struct place_job *job) { return -job->placing.from; }

/* ---- lines ---- */

int32_t *sweep_newest(struct place_job *job, struct sweep *sweep, uint32_t line)
{
    static int32_t nowhere; /* lines made after the job began have no events in it */
    if (line & HIDDEN_LINE)
        return (line & ~HIDDEN_LINE) <= job->hidden_lines
                   ? &sweep->hidden[(line & ~HIDDEN_LINE) - 1]
                   : (nowhere = -1, &nowhere);
    return line <= job->lines ? &sweep->line[line - 1] : (nowhere = -1, &nowhere);
}

/* ---- what is drawn ---- */

/* Looks for an event outside the row. */
struct tie {
    const struct place_job *job;
    uint32_t row;
    bool outside;
};

static bool is_outside(const struct place_job *job, uint64_t position, uint32_t row)
{
    return sweep_row(job, block_line_of(log_get(job->order, position, FIELD_LINE))) != row;
}

static void look_at_receive(void *context, uint64_t receive)
{
    struct tie *tie = context;
    tie->outside |= is_outside(tie->job, receive, tie->row);
}

/* Is an event of a cluster tied to one outside it? */
static bool is_tied(const struct place_job *job, uint64_t position, uint32_t row)
{
    struct event e = order_event(job->order, position);
    struct tie tie = {job, row, false};
    if (job->placing.has_text &&
        job->placing.has_text(job->placing.context, (struct ref){e.line, e.number}))
        return true;
    for (uint32_t i = 0; i < e.edge_count && !tie.outside; i++)
        tie.outside = is_outside(job, order_edge(job->order, position, i), row);
    uint64_t end = order_point_end(job->order, position);
    for (uint64_t p = e.point; p <= end && !tie.outside && p < job->order->count; p++)
        tie.outside = is_outside(job, p, row);
    if (!tie.outside && e.sends)
        order_receives(job->order, position, look_at_receive, &tie);
    return tie.outside;
}

bool sweep_draws(const struct place_job *job, uint64_t position, uint32_t row)
{
    return row && (!job->placing.cluster[row - 1] || is_tied(job, position, row)) &&
           fold_of(&job->folds, position) != 1;
}

bool place_draws(const struct order *order, const struct placing *placing, uint64_t position)
{
    const struct place_job job = {.order = order, .placing = *placing, .lines = order_lines(order)};
    uint32_t row = sweep_row(&job, block_line_of(log_get(order, position, FIELD_LINE)));
    return row && (!placing->cluster[row - 1] || is_tied(&job, position, row));
}

bool sweep_needs_room(const struct place_job *job, const struct sweep *sweep, uint64_t begin,
                      uint64_t end, int32_t *column)
{
    bool room = false;
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t row = sweep_row(job, block_line_of(log_get(job->order, p, FIELD_LINE)));
        if (!row || !sweep_draws(job, p, row))
            continue;
        room = true;
        if (job->placing.cluster[row - 1] && sweep->row[row - 1] > *column)
            *column = sweep->row[row - 1];
    }
    return room;
}

/* ---- what was found ---- */

void sweep_see(struct sweep *sweep, uint64_t position, uint32_t line, int32_t column, bool drawn)
{
    sweep->seen = grow(sweep->seen, &sweep->seen_room, sweep->seen_count + 1, sizeof *sweep->seen);
    sweep->seen[sweep->seen_count++] = (struct seen){position, column, line, drawn};
}

/* Lines that count where it is said how far to look: of very many, only so many can be seen. */
#define LINES_COUNTED 1000u

uint64_t sweep_lines_counted(const struct place_job *job)
{
    return job->placing.many && job->lines > LINES_COUNTED ? LINES_COUNTED : job->lines;
}

static int32_t *filled(size_t count, int32_t value)
{
    size_t room = 0;
    int32_t *array = grow(NULL, &room, count + 1, sizeof *array);
    for (size_t i = 0; i < count; i++)
        array[i] = value;
    return array;
}

#define BUDGET_LEAST 4000000u /* events */

/* Enough for every line to fill the columns several times over. */
uint64_t sweep_budget(const struct place_job *job)
{
    return BUDGET_LEAST + 16 * sweep_lines_counted(job) * job->placing.columns;
}

void sweep_begin(struct place_job *job, struct sweep *sweep, int32_t value)
{
    sweep->line = filled(job->lines, value);
    sweep->hidden = filled(job->hidden_lines, value);
    sweep->row = filled(job->placing.rows, value);
    sweep->acted = job->placing.many ? filled(job->lines, value) : NULL;
    sweep->ready = true;
}

/* ---- columns ---- */

void sweep_reserve(struct sweep *sweep, size_t index)
{
    sweep->column = grow(sweep->column, &sweep->room, index + 1, sizeof *sweep->column);
}

/* How many positions before this one were passed over, to the right; *inside: was it one of them? */
static uint64_t passed(const struct sweep *sweep, uint64_t position, bool *inside)
{
    size_t low = 0, high = sweep->leap_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sweep->leaps[middle].from <= position)
            low = middle + 1;
        else
            high = middle;
    }
    *inside = low > 0 && position < sweep->leaps[low - 1].to;
    return low ? sweep->leaps[low - 1].sum : 0;
}

size_t sweep_index(const struct sweep *sweep, uint64_t position)
{
    bool inside;
    return position - sweep->base - (sweep->leap_count ? passed(sweep, position, &inside) : 0);
}

int32_t sweep_column(const struct sweep *sweep, uint64_t position)
{
    bool inside = false;
    uint64_t n = sweep->leap_count ? passed(sweep, position, &inside) : 0;
    return inside ? sweep->leap_edge : sweep->column[position - sweep->base - n];
}
