#include "server/order/layout/layout_pass.h"

#include "base/alloc.h"
#include "base/lower_bound.h"
#include "server/order/layout/collapse.h"
#include "server/order/log/event_log.h"
#include "server/order/log/line_table.h"
#include "server/order/log/log_block.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

/* ---- the window ---- */

int32_t layout_pass_right_edge(const struct layout_job *job)
{
    return job->placing.from + (int32_t)job->placing.columns;
}

int32_t layout_pass_left_edge(const struct layout_job *job) { return -job->placing.from; }

/* ---- lines ---- */

int32_t *layout_pass_newest(struct layout_job *job, struct layout_pass *pass, uint32_t line)
{
    static int32_t nowhere; /* lines made after the job began have no events in it */
    if (line & HIDDEN_LINE)
        return (line & ~HIDDEN_LINE) <= job->hidden_lines ? &pass->hidden[(line & ~HIDDEN_LINE) - 1]
                                                          : (nowhere = -1, &nowhere);
    return line <= job->lines ? &pass->line[line - 1] : (nowhere = -1, &nowhere);
}

/* ---- drawn events ---- */

/* Finds out whether an event is outside the row. */
struct layout_tie {
    const struct layout_job *job;
    uint32_t row;
    bool outside;
};

static bool is_outside(const struct layout_job *job, uint64_t position, uint32_t row)
{
    return layout_pass_row(job, block_line_of(log_get(job->order, position, FIELD_LINE))) != row;
}

static void layout_pass_check_receive(void *context, uint64_t receive)
{
    struct layout_tie *tie = context;
    tie->outside |= is_outside(tie->job, receive, tie->row);
}

/* Is an event of a line group tied to one outside of the group, or has it a text? */
static bool is_tied(const struct layout_job *job, uint64_t position, uint32_t row)
{
    struct order_event e = order_event(job->order, position);
    struct layout_tie tie = {job, row, false};
    if (job->placing.has_text &&
        job->placing.has_text(job->placing.context, (struct event_id){e.line, e.number}))
        return true;
    for (uint32_t i = 0; i < e.edge_count && !tie.outside; i++)
        tie.outside = is_outside(job, order_edge(job->order, position, i), row);
    uint64_t end = order_point_end(job->order, position);
    for (uint64_t p = e.point; p <= end && !tie.outside && p < job->order->log.count; p++)
        tie.outside = is_outside(job, p, row);
    if (!tie.outside && e.sends)
        order_receives(job->order, position, layout_pass_check_receive, &tie);
    return tie.outside;
}

bool layout_pass_draws(const struct layout_job *job, uint64_t position, uint32_t row)
{
    return row && (!job->placing.cluster[row - 1] || is_tied(job, position, row)) &&
           collapse_of(&job->folds, position) != 1;
}

bool layout_draws_event(const struct order *order, const struct layout_params *placing,
                        uint64_t position)
{
    const struct layout_job job = {
        .order = order, .placing = *placing, .lines = order_line_count(order)};
    uint32_t row = layout_pass_row(&job, block_line_of(log_get(order, position, FIELD_LINE)));
    return row && (!placing->cluster[row - 1] || is_tied(&job, position, row));
}

bool layout_pass_needs_room(const struct layout_job *job, const struct layout_pass *pass,
                            uint64_t begin, uint64_t end, int32_t *column)
{
    bool room = false;
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t row = layout_pass_row(job, block_line_of(log_get(job->order, p, FIELD_LINE)));
        if (!row || !layout_pass_draws(job, p, row))
            continue;
        room = true;
        if (job->placing.cluster[row - 1] && pass->row[row - 1] > *column)
            *column = pass->row[row - 1];
    }
    return room;
}

/* ---- events found ---- */

void layout_pass_see(struct layout_pass *pass, uint64_t position, uint32_t line, int32_t column,
                     bool drawn)
{
    pass->seen =
        array_reserve(pass->seen, &pass->seen_room, pass->seen_count + 1, sizeof *pass->seen);
    pass->seen[pass->seen_count++] = (struct layout_seen){position, column, line, drawn};
}

/* Lines that count for the depth and budget of a search: of very many lines, a window shows only
 * some. */
#define LINES_COUNTED 1000u

uint64_t layout_pass_lines_counted(const struct layout_job *job)
{
    return job->placing.many && job->lines > LINES_COUNTED ? LINES_COUNTED : job->lines;
}

static int32_t *layout_pass_filled_array(size_t count, int32_t value)
{
    size_t room = 0;
    int32_t *array = array_reserve(NULL, &room, count + 1, sizeof *array);
    for (size_t i = 0; i < count; i++)
        array[i] = value;
    return array;
}

#define BUDGET_LEAST 4000000u /* events */

/* Returns how many events a pass may examine: enough for every line to fill the columns several
 * times over. */
uint64_t layout_pass_budget(const struct layout_job *job)
{
    return BUDGET_LEAST + 16 * layout_pass_lines_counted(job) * job->placing.columns;
}

void layout_pass_begin(struct layout_job *job, struct layout_pass *pass, int32_t value)
{
    pass->line = layout_pass_filled_array(job->lines, value);
    pass->hidden = layout_pass_filled_array(job->hidden_lines, value);
    pass->row = layout_pass_filled_array(job->placing.rows, value);
    pass->acted = job->placing.many ? layout_pass_filled_array(job->lines, value) : NULL;
    pass->ready = true;
}

/* ---- columns ---- */

void layout_pass_reserve(struct layout_pass *pass, size_t index)
{
    pass->column = array_reserve(pass->column, &pass->room, index + 1, sizeof *pass->column);
}

/* Returns how many positions before this one were skipped to the right; *inside: was it one of
 * them? */
static uint64_t layout_pass_count_skipped(const struct layout_pass *pass, uint64_t position,
                                          bool *inside)
{
    size_t low = LOWER_BOUND(i, 0, pass->skip_count, pass->skips[i].from <= position);
    *inside = low > 0 && position < pass->skips[low - 1].to;
    return low ? pass->skips[low - 1].sum : 0;
}

size_t layout_pass_index(const struct layout_pass *pass, uint64_t position)
{
    bool inside;
    return position - pass->base -
           (pass->skip_count ? layout_pass_count_skipped(pass, position, &inside) : 0);
}

int32_t layout_pass_column(const struct layout_pass *pass, uint64_t position)
{
    bool inside = false;
    uint64_t n = pass->skip_count ? layout_pass_count_skipped(pass, position, &inside) : 0;
    return inside ? pass->skip_edge : pass->column[position - pass->base - n];
}

/* ---- active threads ---- */

void active_threads_begin(struct layout_job *job)
{
    for (uint32_t line = 1; line <= job->lines; line++) {
        if (order_line_peek(job->order, line - 1)->acted <= job->order->log.first)
            continue;
        job->acting = array_reserve(job->acting, &job->acting_room, job->acting_count + 1,
                                    sizeof *job->acting);
        job->acting[job->acting_count++] = line;
    }
}

size_t active_threads_watch(struct layout_job *job, struct layout_pass *pass,
                            bool (*may)(const struct layout_job *job,
                                        const struct layout_pass *pass, uint32_t thread))
{
    size_t open = 0, room = 0;
    if (!pass->watched) {
        pass->watched = array_reserve(NULL, &room, job->lines + 1, 1);
        memset(pass->watched, 0, job->lines + 1);
    }
    for (size_t i = 0; i < job->acting_count; i++) {
        uint32_t thread = job->acting[i];
        pass->watched[thread] = may(job, pass, thread);
        open += pass->watched[thread];
    }
    /* events without a known thread keep the pass open */
    return open + (job->acting_count == 0 || pass->strangers);
}

void active_threads_see(struct layout_job *job, struct layout_pass *pass, uint32_t thread,
                        int32_t column, bool last)
{
    if (!thread || thread > job->lines) {
        pass->open += !thread && !pass->strangers && job->acting_count;
        pass->strangers |= !thread;
        return;
    }
    if (column > pass->acted[thread - 1])
        pass->acted[thread - 1] = column;
    if (!last || !pass->watched[thread])
        return;
    pass->watched[thread] = false;
    pass->open--;
}

void active_threads_end(struct layout_job *job) { free(job->acting); }
