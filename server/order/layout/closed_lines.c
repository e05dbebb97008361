#include "server/order/layout/closed_lines.h"

#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"

#include <stdlib.h>
#include <string.h>

#ifndef SHUT_AFTER
#define SHUT_AFTER 4096u /* events between two attempts, at first */
#endif
#define SHUT_SELDOM (1u << 16) /*   and at most */
#define CHAIN_POINTS 48u /* points examined per line */
#define FAILURES 8u /* of one attempt: the next lines are likely to fail, too */

/* ---- chains ---- */

struct closed_lines_chase {
    struct layout_job *job;
    uint64_t points[CHAIN_POINTS]; /* positions */
    unsigned count;
    bool found; /* a point beyond the window was found */
};

static void closed_lines_push_point(struct closed_lines_chase *c, uint64_t position)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->points[i] == position)
            return;
    if (c->count < CHAIN_POINTS)
        c->points[c->count++] = position;
}

static bool closed_lines_chase(struct closed_lines_chase *c, uint64_t from,
                               void (*look)(struct closed_lines_chase *c, uint64_t position))
{
    c->count = 0;
    c->found = false;
    closed_lines_push_point(c, from);
    for (unsigned i = 0; i < c->count && !c->found; i++)
        look(c, c->points[i]);
    return c->found;
}

static uint32_t line_at(const struct closed_lines_chase *c, uint64_t position)
{
    return block_line_of(log_get(c->job->order, position, FIELD_LINE));
}

/* ---- to the left, where the effects of an event are placed before it ---- */

static void closed_lines_follow_effect(void *context, uint64_t position)
{
    struct closed_lines_chase *c = context;
    if (position < c->job->left.at)
        closed_lines_push_point(c, position);
}

static void closed_lines_continue_left(struct closed_lines_chase *c, uint64_t position)
{
    const struct order *order = c->job->order;
    uint32_t line = line_at(c, position);
    uint64_t next = order_line_from(order, line, position) + 1;
    if (next < order_line_events(order, line))
        closed_lines_follow_effect(c, order_line_at(order, line, next));
    if (log_sends(order, position))
        order_receives(order, position, closed_lines_follow_effect, c);
}

static void closed_lines_scan_left(struct closed_lines_chase *c, uint64_t position)
{
    struct layout_job *job = c->job;
    uint64_t begin = position - log_get(job->order, position, FIELD_POINT),
             end = order_point_end(job->order, position);
    int32_t edge = layout_pass_left_edge(job);
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t line = line_at(c, p);
        if (line == 0 || p >= layout_pass_cut(job, line))
            return; /* the pass skips such a point */
    }
    for (uint64_t p = begin; p <= end && !c->found; p++)
        c->found = layout_pass_pushed(&job->left, p,
                                      *layout_pass_newest(job, &job->left, line_at(c, p))) > edge;
    for (uint64_t p = begin; p <= end && !c->found; p++)
        closed_lines_continue_left(c, p);
}

/* Returns the next event of a line that the pass to the left will reach. */
static uint64_t next_left(const struct layout_job *job, uint32_t line)
{
    uint64_t cut = job->cut[line - 1], at = job->left.at < cut ? job->left.at : cut,
             i = order_line_from(job->order, line, at);
    return i > order_line_first(job->order, line) ? order_line_at(job->order, line, i - 1)
                                                  : NO_POSITION;
}

/* ---- to the right ---- */

static void closed_lines_continue_right(struct closed_lines_chase *c, uint64_t position)
{
    const struct layout_pass *pass = &c->job->right;
    int32_t edge = layout_pass_right_edge(c->job);
    struct block_edges edges =
        block_edges(log_block(c->job->order, position), position % BLOCK_EVENTS);
    uint64_t back = log_get(c->job->order, position, FIELD_PREVIOUS);
    if (back && back <= position && position - back >= pass->at)
        closed_lines_push_point(c, position - back);
    for (uint32_t i = 0; i < edges.count && !c->found; i++) {
        if (edges.more)
            edges = block_edges(log_block(c->job->order, position), position % BLOCK_EVENTS);
        uint64_t from = position - block_edge(&edges, i);
        if (from >= pass->at)
            closed_lines_push_point(c, from);
        else
            c->found = from >= pass->base && layout_pass_column(pass, from) >= edge;
    }
}

static void closed_lines_scan_right(struct closed_lines_chase *c, uint64_t position)
{
    struct layout_job *job = c->job;
    uint64_t begin = position - log_get(job->order, position, FIELD_POINT),
             end = order_point_end(job->order, position);
    for (uint64_t p = begin; p <= end && !c->found; p++) {
        uint32_t line = line_at(c, p);
        c->found =
            line && *layout_pass_newest(job, &job->right, line) >= layout_pass_right_edge(job);
    }
    for (uint64_t p = begin; p <= end && !c->found; p++)
        closed_lines_continue_right(c, p);
}

static uint64_t next_right(const struct layout_job *job, uint32_t line)
{
    uint64_t cut = job->cut[line - 1], at = job->right.at > cut ? job->right.at : cut,
             i = order_line_from(job->order, line, at);
    return i < order_line_events(job->order, line) ? order_line_at(job->order, line, i)
                                                   : NO_POSITION;
}

/* ---- attempts ---- */

static bool is_due(struct closed_lines *s, uint64_t looked, bool all)
{
    s->waited += looked;
    if (!s->count || (s->waited < s->wait && !all))
        return false;
    s->waited = 0;
    return true;
}

static void closed_lines_drop_line(struct closed_lines *s, size_t i)
{
    s->lines[i] = s->lines[--s->count];
}

/* Tries to close lines in turn, from where the last attempt ended. Lines that were closed meanwhile
 * are removed from the list. */
static void closed_lines_try_close(struct layout_pass *pass, struct closed_lines_chase *c, bool all,
                                   bool (*is_beyond)(struct closed_lines_chase *c, uint32_t line))
{
    struct closed_lines *s = &pass->shut;
    size_t failed = 0, before = pass->open;
    while (s->count && failed < s->count && (all || failed < FAILURES)) {
        size_t i = s->next++ % s->count;
        uint32_t line = s->lines[i];
        if (s->open[line - 1] && !is_beyond(c, line)) {
            failed++;
            continue;
        }
        closed_lines_close(pass, line);
        closed_lines_drop_line(s, i);
    }
    s->wait = pass->open < before          ? SHUT_AFTER
              : s->wait > SHUT_SELDOM / 2u ? SHUT_SELDOM
                                           : 2 * s->wait + SHUT_AFTER / 2;
}

static bool is_beyond_left(struct closed_lines_chase *c, uint32_t line)
{
    uint64_t next = next_left(c->job, line);
    return next != NO_POSITION && closed_lines_chase(c, next, closed_lines_scan_left);
}

void closed_lines_left(struct layout_job *job, uint64_t looked, bool all)
{
    struct closed_lines_chase c = {.job = job};
    if (is_due(&job->left.shut, looked, all))
        closed_lines_try_close(&job->left, &c, all, is_beyond_left);
}

static bool is_beyond_right(struct closed_lines_chase *c, uint32_t line)
{
    uint64_t next = next_right(c->job, line);
    return next != NO_POSITION && closed_lines_chase(c, next, closed_lines_scan_right);
}

void closed_lines_right(struct layout_job *job, uint64_t looked, bool all)
{
    struct closed_lines_chase c = {.job = job};
    if (is_due(&job->right.shut, looked, all))
        closed_lines_try_close(&job->right, &c, all, is_beyond_right);
}

/* ---- lifetime ---- */

void closed_lines_begin(struct layout_job *job, struct layout_pass *pass)
{
    struct closed_lines *s = &pass->shut;
    if (!s->open)
        s->open = xcalloc(job->lines + 1, sizeof *s->open);
    memset(s->open, 0, job->lines * sizeof *s->open);
    s->count = s->next = 0;
    s->wait = s->waited = 0;
}

void closed_lines_open(struct layout_pass *pass, uint32_t line)
{
    struct closed_lines *s = &pass->shut;
    s->lines = array_reserve(s->lines, &s->room, s->count + 1, sizeof *s->lines);
    s->lines[s->count++] = line;
    s->open[line - 1] = true;
    pass->open++;
}

void closed_lines_free(struct closed_lines *shut)
{
    free(shut->open);
    free(shut->lines);
}
