#include "server/order/layout/skip_ranges.h"

#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

#ifndef LEAP_AFTER
#define LEAP_AFTER 4096u /* minimum events before the first attempt */
#endif
#define LEAP_LEAST (LEAP_AFTER / 4 + 1) /* shorter ranges are not worth it */
#define LEAP_MOST (1u << 20)

/* Whether collapsed repeats and line groups draw an event depends on others, which may be in a
 * range that is skipped. */
bool skip_ranges_allowed(const struct layout_params *placing)
{
    bool clusters = false;
    for (uint32_t i = 0; i < placing->rows; i++)
        clusters |= placing->cluster[i] != 0;
    return !placing->fold && !clusters;
}

static int32_t *copy_of(const int32_t *from, size_t count)
{
    size_t room = 0;
    int32_t *to = array_reserve(NULL, &room, count + 1, sizeof *to);
    memcpy(to, from, count * sizeof *to);
    return to;
}

static void skip_remember_state(struct layout_job *job, struct layout_pass *sweep, int32_t edge)
{
    size_t room = 0;
    if (sweep->leap_count)
        return;
    sweep->before = array_reserve(NULL, &room, 1, sizeof *sweep->before);
    *sweep->before = (struct layout_pass){.at = sweep->at,
                                          .known = sweep->known,
                                          .seen_count = sweep->seen_count,
                                          .line = copy_of(sweep->line, job->lines),
                                          .hidden = copy_of(sweep->hidden, job->hidden_lines),
                                          .row = copy_of(sweep->row, job->placing.rows)};
    sweep->leap_edge = edge;
}

static void skip_add_range(struct layout_pass *sweep, uint64_t from, uint64_t to)
{
    uint64_t sum = sweep->leap_count ? sweep->leaps[sweep->leap_count - 1].sum : 0;
    sweep->leaps =
        array_reserve(sweep->leaps, &sweep->leap_room, sweep->leap_count + 1, sizeof *sweep->leaps);
    sweep->leaps[sweep->leap_count++] = (struct skip_range){from, to, sum + (to - from)};
}

/* Is it time for an attempt? */
static bool is_due(struct layout_job *job, struct layout_pass *sweep, uint64_t looked)
{
    sweep->waited += looked;
    if (!sweep->wait) /* an attempt examines every line */
        sweep->wait = LEAP_AFTER * (1 + (uint64_t)(job->lines + job->hidden_lines) / 256);
    if (!job->leaps || !sweep->open || sweep->waited < sweep->wait)
        return false;
    sweep->waited = 0;
    return true;
}

static void skip_note_attempt(struct layout_pass *sweep, bool leapt)
{
    if (leapt)
        sweep->wait = LEAP_AFTER / 64 + 1; /* the next event is likely to be far, too */
    else
        sweep->wait = sweep->wait < LEAP_MOST ? 2 * sweep->wait : LEAP_MOST;
}

/* Returns the position of the line's next event, or `next` if that is earlier or the line has left
 * the window. */
static uint64_t skip_next_on_line(struct layout_job *job, struct layout_pass *sweep, uint32_t line,
                                  int32_t edge, uint64_t next)
{
    if (*layout_pass_newest(job, sweep, line) >= edge)
        return next;
    uint64_t i = order_line_from(job->order, line, sweep->at);
    uint64_t at =
        i < order_line_events(job->order, line) ? order_line_at(job->order, line, i) : NO_POSITION;
    return at < next ? at : next;
}

static bool is_far(const struct layout_pass *sweep, uint64_t next)
{
    return next > sweep->at + LEAP_LEAST;
}

void skip_ranges_right(struct layout_job *job, struct layout_pass *sweep, uint64_t looked)
{
    uint64_t next = order_count(job->order);
    int32_t edge = layout_pass_right_edge(job);
    if (!is_due(job, sweep, looked))
        return;
    for (uint32_t line = 1; line <= job->lines && is_far(sweep, next); line++)
        next = skip_next_on_line(job, sweep, line, edge, next);
    for (uint32_t line = 1; line <= job->hidden_lines && is_far(sweep, next); line++)
        next = skip_next_on_line(job, sweep, HIDDEN_LINE | line, edge, next);
    if (next < order_count(job->order))
        next -= log_get(job->order, next, FIELD_POINT);
    bool far = is_far(sweep, next) && order_count(job->order) > next;
    if (far) {
        skip_remember_state(job, sweep, edge);
        skip_add_range(sweep, sweep->at, next);
        sweep->at = next;
    }
    skip_note_attempt(sweep, far);
}

void skip_ranges_undo(struct layout_job *job, struct layout_pass *sweep, int32_t edge)
{
    struct layout_pass *before = sweep->before;
    if (!sweep->leap_count || edge <= sweep->leap_edge)
        return;
    memcpy(sweep->line, before->line, job->lines * sizeof *before->line);
    memcpy(sweep->hidden, before->hidden, job->hidden_lines * sizeof *before->hidden);
    memcpy(sweep->row, before->row, job->placing.rows * sizeof *before->row);
    sweep->at = before->at;
    sweep->known = before->known;
    sweep->seen_count = before->seen_count;
    sweep->leap_count = 0;
    sweep->wait = sweep->waited = 0;
    free(before->line);
    free(before->hidden);
    free(before->row);
    free(before);
    sweep->before = NULL;
}

void skip_ranges_free(struct layout_pass *sweep)
{
    if (sweep->before) {
        free(sweep->before->line);
        free(sweep->before->hidden);
        free(sweep->before->row);
        free(sweep->before);
    }
    free(sweep->leaps);
}
