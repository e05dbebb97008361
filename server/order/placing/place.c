#include "server/order/placing/place.h"

#include "memory/map.h"
#include "memory/memory.h"
#include "server/order/log/block.h"
#include "server/order/log/log.h"
#include "server/order/order.h"
#include "server/order/placing/acting.h"
#include "server/order/placing/fold.h"
#include "server/order/placing/sweep.h"
#include "server/order/state.h"
#include "wire/event.h"

#include <stdlib.h>

int32_t *sweep_newest(struct place_job *job, struct sweep *sweep, uint32_t line)
{
    static int32_t nowhere; /* lines made after the job began have no events in it */
    if (line & HIDDEN_LINE)
        return (line & ~HIDDEN_LINE) <= job->hidden_lines ? &sweep->hidden[(line & ~HIDDEN_LINE) - 1]
                                                          : (nowhere = -1, &nowhere);
    return line <= job->lines ? &sweep->line[line - 1] : (nowhere = -1, &nowhere);
}

/* ---- what is drawn ---- */

struct asking {
    const struct place_job *job;
    uint32_t row;
    bool outside;
};

static bool is_outside(const struct place_job *job, uint64_t position, uint32_t row)
{
    return sweep_row(job, block_line_of(log_get(job->order, position, FIELD_LINE))) != row;
}

static void ask_receive(void *context, uint64_t receive)
{
    struct asking *asking = context;
    asking->outside |= is_outside(asking->job, receive, asking->row);
}

/* Is an event of a cluster tied to one outside it? */
static bool is_tied(const struct place_job *job, uint64_t position, uint32_t row)
{
    struct event e = order_event(job->order, position);
    struct asking asking = {job, row, false};
    if (job->placing.has_text &&
        job->placing.has_text(job->placing.context, (struct ref){e.line, e.number}))
        return true;
    for (uint32_t i = 0; i < e.edge_count && !asking.outside; i++)
        asking.outside = is_outside(job, order_edge(job->order, position, i), row);
    uint64_t end = order_point_end(job->order, position);
    for (uint64_t p = e.point; p <= end && !asking.outside && p < job->order->count; p++)
        asking.outside = is_outside(job, p, row);
    if (!asking.outside && e.sends)
        order_receives(job->order, position, ask_receive, &asking);
    return asking.outside;
}

bool sweep_draws(const struct place_job *job, uint64_t position, uint32_t row)
{
    return row && (!job->placing.cluster[row - 1] || is_tied(job, position, row)) &&
           fold_of(&job->folds, position) != 1;
}

/* ---- both sweeps ---- */

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

/* Enough for every line to fill the columns several times over. */
uint64_t sweep_budget(const struct place_job *job)
{
    return 4000000 + 16 * sweep_lines_counted(job) * job->placing.columns;
}

void sweep_begin(struct place_job *job, struct sweep *sweep, int32_t value)
{
    sweep->line = filled(job->lines, value);
    sweep->hidden = filled(job->hidden_lines, value);
    sweep->row = filled(job->placing.rows, value);
    sweep->acted = job->placing.many ? filled(job->lines, value) : NULL;
    sweep->ready = true;
}

static void sweep_free(struct sweep *sweep)
{
    free(sweep->line);
    free(sweep->hidden);
    free(sweep->row);
    free(sweep->column);
    free(sweep->seen);
    free(sweep->acted);
    free(sweep->watched);
    map_free(&sweep->far);
    leap_free(sweep);
}

void sweep_reserve(struct sweep *sweep, size_t index)
{
    sweep->column = grow(sweep->column, &sweep->room, index + 1, sizeof *sweep->column);
}

/* ---- a job ---- */

static void bound_cut(struct place_job *job)
{
    job->cut_least = job->cut_most = job->placing.anchor;
    for (size_t i = 0; i < job->lines + job->hidden_lines; i++) {
        job->cut_least = job->cut[i] < job->cut_least ? job->cut[i] : job->cut_least;
        job->cut_most = job->cut[i] > job->cut_most ? job->cut[i] : job->cut_most;
    }
}

struct place_job *place_begin(const struct order *order, const struct placing *placing)
{
    size_t room = 0;
    struct place_job *job = grow(NULL, &room, 1, sizeof *job);
    *job = (struct place_job){.order = order,
                              .placing = *placing,
                              .cut = place_cut(order, placing),
                              .lines = order_lines(order),
                              .hidden_lines = order_hidden_lines(order)};
    bound_cut(job);
    job->leaps = leap_allowed(placing) && !placing->many;
    if (placing->many)
        acting_begin(job);
    job->folds = (struct folds){.order = order, .placing = &job->placing, .cut = job->cut};
    sweep_want_left(job);
    sweep_want_right(job);
    return job;
}

void place_want(struct place_job *job, int32_t from, uint32_t columns)
{
    job->placing.from = from;
    job->placing.columns = columns;
    sweep_want_left(job);
    sweep_want_right(job);
}

bool place_step(struct place_job *job, uint64_t budget)
{
    if (!job->left.done && !(job->left.done = sweep_step_left(job, budget)))
        return false;
    if (!job->right.done)
        job->right.done = sweep_step_right(job, budget);
    return job->right.done;
}

size_t place_weight(const struct place_job *job)
{
    return job->left.seen_count + job->right.seen_count + (job->left.room + job->right.room) / 8;
}

void place_end(struct place_job *job)
{
    if (!job)
        return;
    sweep_free(&job->left);
    sweep_free(&job->right);
    folds_free(&job->folds);
    acting_end(job);
    free(job->cut);
    free(job);
}

void place(const struct order *order, const struct placing *placing, struct placement *placement)
{
    struct place_job *job = place_begin(order, placing);
    while (!place_step(job, UINT64_MAX >> 1))
        ;
    place_take(job, placement);
    place_end(job);
}

void placement_free(struct placement *placement)
{
    free(placement->events);
    free(placement->before);
    *placement = (struct placement){0};
}
