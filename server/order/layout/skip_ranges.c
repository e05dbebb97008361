#include "server/order/layout/skip_ranges.h"

#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

#ifndef SKIP_AFTER
#define SKIP_AFTER 4096u /* minimum events before the first attempt */
#endif
#define SKIP_LEAST (SKIP_AFTER / 4 + 1) /* shorter ranges are not worth it */
#define SKIP_MOST (1u << 20)

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

static void skip_remember_state(struct layout_job *job, struct layout_pass *pass, int32_t edge)
{
    size_t room = 0;
    if (pass->skip_count)
        return;
    pass->before = array_reserve(NULL, &room, 1, sizeof *pass->before);
    *pass->before = (struct layout_pass){.at = pass->at,
                                         .known = pass->known,
                                         .seen_count = pass->seen_count,
                                         .line = copy_of(pass->line, job->lines),
                                         .hidden = copy_of(pass->hidden, job->hidden_lines),
                                         .row = copy_of(pass->row, job->placing.rows)};
    pass->skip_edge = edge;
}

static void skip_add_range(struct layout_pass *pass, uint64_t from, uint64_t to)
{
    uint64_t sum = pass->skip_count ? pass->skips[pass->skip_count - 1].sum : 0;
    pass->skips =
        array_reserve(pass->skips, &pass->skip_room, pass->skip_count + 1, sizeof *pass->skips);
    pass->skips[pass->skip_count++] = (struct skip_range){from, to, sum + (to - from)};
}

/* Is it time for an attempt? */
static bool is_due(struct layout_job *job, struct layout_pass *pass, uint64_t looked)
{
    pass->waited += looked;
    if (!pass->wait) /* an attempt examines every line */
        pass->wait = SKIP_AFTER * (1 + (uint64_t)(job->lines + job->hidden_lines) / 256);
    if (!job->may_skip || !pass->open || pass->waited < pass->wait)
        return false;
    pass->waited = 0;
    return true;
}

static void skip_note_attempt(struct layout_pass *pass, bool skipped)
{
    if (skipped)
        pass->wait = SKIP_AFTER / 64 + 1; /* the next event is likely to be far, too */
    else
        pass->wait = pass->wait < SKIP_MOST ? 2 * pass->wait : SKIP_MOST;
}

/* Returns the position of the line's next event, or `next` if that is earlier or the line has left
 * the window. */
static uint64_t skip_next_on_line(struct layout_job *job, struct layout_pass *pass, uint32_t line,
                                  int32_t edge, uint64_t next)
{
    if (*layout_pass_newest(job, pass, line) >= edge)
        return next;
    uint64_t i = order_line_from(job->order, line, pass->at);
    uint64_t at =
        i < order_line_events(job->order, line) ? order_line_at(job->order, line, i) : NO_POSITION;
    return at < next ? at : next;
}

static bool is_far(const struct layout_pass *pass, uint64_t next)
{
    return next > pass->at + SKIP_LEAST;
}

void skip_ranges_right(struct layout_job *job, struct layout_pass *pass, uint64_t looked)
{
    uint64_t next = order_count(job->order);
    int32_t edge = layout_pass_right_edge(job);
    if (!is_due(job, pass, looked))
        return;
    for (uint32_t line = 1; line <= job->lines && is_far(pass, next); line++)
        next = skip_next_on_line(job, pass, line, edge, next);
    for (uint32_t line = 1; line <= job->hidden_lines && is_far(pass, next); line++)
        next = skip_next_on_line(job, pass, HIDDEN_LINE | line, edge, next);
    if (next < order_count(job->order))
        next -= log_get(job->order, next, FIELD_POINT);
    bool far = is_far(pass, next) && order_count(job->order) > next;
    if (far) {
        skip_remember_state(job, pass, edge);
        skip_add_range(pass, pass->at, next);
        pass->at = next;
    }
    skip_note_attempt(pass, far);
}

void skip_ranges_undo(struct layout_job *job, struct layout_pass *pass, int32_t edge)
{
    struct layout_pass *before = pass->before;
    if (!pass->skip_count || edge <= pass->skip_edge)
        return;
    memcpy(pass->line, before->line, job->lines * sizeof *before->line);
    memcpy(pass->hidden, before->hidden, job->hidden_lines * sizeof *before->hidden);
    memcpy(pass->row, before->row, job->placing.rows * sizeof *before->row);
    pass->at = before->at;
    pass->known = before->known;
    pass->seen_count = before->seen_count;
    pass->skip_count = 0;
    pass->wait = pass->waited = 0;
    free(before->line);
    free(before->hidden);
    free(before->row);
    free(before);
    pass->before = NULL;
}

void skip_ranges_free(struct layout_pass *pass)
{
    if (pass->before) {
        free(pass->before->line);
        free(pass->before->hidden);
        free(pass->before->row);
        free(pass->before);
    }
    free(pass->skips);
}
