#include "server/order/placing/place.h"

#include "memory/map.h"
#include "memory/memory.h"
#include "server/order/order.h"
#include "server/order/placing/acting.h"
#include "server/order/placing/fold.h"
#include "server/order/placing/leap.h"
#include "server/order/placing/left.h"
#include "server/order/placing/right.h"
#include "server/order/placing/shut.h"
#include "server/order/placing/sweep.h"

#include <stdlib.h>

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
    shut_free(&sweep->shut);
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
    left_want(job);
    right_want(job);
    return job;
}

void place_want(struct place_job *job, int32_t from, uint32_t columns)
{
    job->placing.from = from;
    job->placing.columns = columns;
    left_want(job);
    right_want(job);
}

bool place_step(struct place_job *job, uint64_t budget)
{
    uint64_t each = job->left.done || job->right.done ? budget : budget / 2 + 1;
    if (!job->left.done)
        job->left.done = left_step(job, each);
    if (!job->right.done)
        job->right.done = right_step(job, each);
    return job->left.done && job->right.done;
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
