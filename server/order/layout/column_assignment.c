#include "server/order/layout/column_assignment.h"

#include "base/map.h"
#include "base/alloc.h"
#include "server/order/order.h"
#include "server/order/layout/active_threads.h"
#include "server/order/layout/collapse.h"
#include "server/order/layout/skip_ranges.h"
#include "server/order/layout/layout_left.h"
#include "server/order/layout/layout_right.h"
#include "server/order/layout/closed_lines.h"
#include "server/order/layout/layout_pass.h"

#include <stdlib.h>

static void sweep_free(struct layout_pass *pass)
{
    free(pass->line);
    free(pass->hidden);
    free(pass->row);
    free(pass->column);
    free(pass->seen);
    free(pass->acted);
    free(pass->watched);
    map_free(&pass->far);
    skip_ranges_free(pass);
    closed_lines_free(&pass->shut);
}

/* ---- jobs ---- */

static void bound_cut(struct layout_job *job)
{
    job->cut_least = job->cut_most = job->placing.anchor;
    for (size_t i = 0; i < job->lines + job->hidden_lines; i++) {
        job->cut_least = job->cut[i] < job->cut_least ? job->cut[i] : job->cut_least;
        job->cut_most = job->cut[i] > job->cut_most ? job->cut[i] : job->cut_most;
    }
}

struct layout_job *layout_columns_begin(const struct order *order,
                                        const struct layout_params *placing)
{
    size_t room = 0;
    struct layout_job *job = array_reserve(NULL, &room, 1, sizeof *job);
    *job = (struct layout_job){.order = order,
                               .placing = *placing,
                               .cut = layout_cut(order, placing),
                               .lines = order_line_count(order),
                               .hidden_lines = order_hidden_lines(order)};
    bound_cut(job);
    job->may_skip = skip_ranges_allowed(placing) && !placing->many;
    if (placing->many)
        active_threads_begin(job);
    job->folds = (struct collapse_state){.order = order, .placing = &job->placing, .cut = job->cut};
    layout_left_want(job);
    layout_right_want(job);
    return job;
}

void layout_columns_want(struct layout_job *job, int32_t from, uint32_t columns)
{
    job->placing.from = from;
    job->placing.columns = columns;
    layout_left_want(job);
    layout_right_want(job);
}

bool layout_columns_step(struct layout_job *job, uint64_t budget)
{
    uint64_t each = job->left.done || job->right.done ? budget : budget / 2 + 1;
    if (!job->left.done)
        job->left.done = layout_left_step(job, each);
    if (!job->right.done)
        job->right.done = layout_right_step(job, each);
    return job->left.done && job->right.done;
}

size_t layout_columns_weight(const struct layout_job *job)
{
    return job->left.seen_count + job->right.seen_count + (job->left.room + job->right.room) / 8;
}

void layout_columns_end(struct layout_job *job)
{
    if (!job)
        return;
    sweep_free(&job->left);
    sweep_free(&job->right);
    collapse_free(&job->folds);
    active_threads_end(job);
    free(job->cut);
    free(job);
}

void layout_columns(const struct order *order, const struct layout_params *placing,
                    struct layout_result *placement)
{
    struct layout_job *job = layout_columns_begin(order, placing);
    while (!layout_columns_step(job, UINT64_MAX >> 1))
        ;
    layout_columns_collect(job, placement);
    layout_columns_end(job);
}

void layout_result_free(struct layout_result *placement)
{
    free(placement->events);
    free(placement->before);
    *placement = (struct layout_result){0};
}
