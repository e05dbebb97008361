#include "server/queries/window.h"

#include "base/alloc.h"
#include "server/order/layout/column_assignment.h"
#include "server/queries/event_answer.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/time_layout.h"
#include "server/queries/undelivered_signals.h"
#include "server/queries/visible_rows.h"
#include "server/queries/wait_start.h"
#include "server/queries/window_edges.h"
#include "server/run/event_times.h"
#include "wire/event_types.h"
#include "wire/layout_results.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

#ifndef EARLY_EVENTS
#define EARLY_EVENTS 200000u /* a longer window is sent partially after this many events */
#endif
#define KEPT_EVENTS 4000000u /* a job that holds more events is not reused */

struct window_job {
    const struct run *run;
    struct window_request request;
    uint64_t first; /* first position of the order when the job began */
    uint64_t anchor;
    struct line_move *moves;
    struct visible_rows drawn; /* its rows and lines */
    struct layout_job *place;
    struct layout_result placement;
    struct time_layout *timed; /* used instead of `place` for a layout by time */
    struct undelivered_signals *undelivered; /* among the placed events */
    uint64_t looked; /* events visited, approximately */
    bool early;      /* a partial result is due, or was sent */
    bool placed, done;
};

/* ---- anchors ---- */

static uint64_t anchor_position(const struct run *run, const struct window_request *r)
{
    uint64_t count = order_count(run->order), position = 0;
    switch (r->anchor) {
    case ANCHOR_END:
        return count;
    case ANCHOR_EVENT:
        position = r->event.line && r->event.line <= order_line_count(run->order)
                       ? order_position(run->order, r->event)
                       : NO_POSITION;
        break;
    case ANCHOR_POSITION:
        position = r->position;
        break;
    case ANCHOR_FRACTION:
        position = (uint64_t)(r->fraction * (double)count);
        break;
    case ANCHOR_TIME:
        position = event_times_position(run, r->time_ns);
        break;
    default:
        break;
    }
    if (position < order_first(run->order))
        position = order_first(run->order);
    if (position >= count)
        return count;
    return order_event(run->order, position).point;
}

/* ---- lifetime ---- */

static bool same_moves(const struct window_request *a, const struct window_request *b)
{
    for (uint32_t i = 0; i < a->move_count; i++)
        if (a->moves[i].line != b->moves[i].line || a->moves[i].to != b->moves[i].to ||
            a->moves[i].events != b->moves[i].events)
            return false;
    return true;
}

/* Returns the number of events that the job holds. */
static size_t window_weight(const struct window_job *job)
{
    return layout_columns_weight(job->place);
}

/* Returns whether an earlier job can be continued: not if it shows other rows, or if events were
 * discarded since it began. */
static bool same_view(const struct window_job *job, const struct window_request *r, uint64_t anchor)
{
    const struct window_request *o = &job->request;
    bool same = job->done && job->anchor == anchor && o->fold == r->fold && !o->column_ns &&
                !r->column_ns && o->row_count == r->row_count && o->most_rows == r->most_rows &&
                o->move_count == r->move_count && job->first == order_first(job->run->order) &&
                job->drawn.lines == order_line_count(job->run->order);
    if (same && r->row_count)
        same = memcmp(o->rows, r->rows, r->row_count * sizeof *r->rows) == 0 &&
               memcmp(o->joined, r->joined, r->row_count) == 0;
    if (same)
        same = same_moves(o, r);
    bool all_drawn = !r->row_count && !job->drawn.many;
    uint32_t count = 0, *all = same && all_drawn ? visible_rows_lines(job->run, &count) : NULL;
    same = same && (!all_drawn || count == job->drawn.row_count);
    for (uint32_t i = 0; same && i < count; i++)
        same = job->drawn.rows[i].line == all[i];
    free(all);
    return same && window_weight(job) < KEPT_EVENTS;
}

/* Returns a time one column after the last event: that event is left of the end. */
static int64_t behind_all(const struct run *run, uint64_t column_ns)
{
    return run->clock.last_ns + (column_ns < INT64_MAX / 8 ? (int64_t)column_ns : INT64_MAX / 8);
}

/* Begins a layout by time at the window's anchor. */
static struct time_layout *begin_timed(const struct window_job *job)
{
    const struct window_request *r = &job->request;
    int64_t begin = event_times_begin(job->run);
    uint64_t anchor = NO_POSITION;
    if (r->anchor == ANCHOR_TIME)
        begin = r->time_ns == INT64_MIN ? begin : r->time_ns;
    else if (r->anchor != ANCHOR_START && job->anchor >= order_count(job->run->order))
        begin = behind_all(job->run, r->column_ns);
    else if (r->anchor != ANCHOR_START)
        anchor = job->anchor;
    return time_layout_begin(job->run, &job->drawn, r, begin, anchor);
}

static void window_start_job(struct window_job *job)
{
    const struct window_request *r = &job->request;
    job->first = order_first(job->run->order);
    visible_rows_choose(&job->drawn, job->run, r);
    job->moves = xcalloc(r->move_count + 1, sizeof *job->moves);
    for (uint32_t i = 0; i < r->move_count; i++)
        job->moves[i] = (struct line_move){r->moves[i].line, r->moves[i].to, r->moves[i].events};
    if (r->column_ns) {
        job->timed = begin_timed(job);
        return;
    }
    struct layout_params placing = {
        .anchor = job->anchor,
        .moves = job->moves,
        .move_count = r->move_count,
        .from = r->from,
        .columns = r->columns,
        .row_of = job->drawn.many ? job->drawn.is_drawn : job->drawn.row_of,
        .cluster = job->drawn.many ? &job->drawn.one : job->drawn.cluster,
        .rows = job->drawn.many ? 1 : job->drawn.row_count,
        .many = job->drawn.many,
        .fold = r->fold,
        .has_text = run_has_texts,
        .context = (void *)(uintptr_t)job->run};
    job->place = layout_columns_begin(job->run->order, &placing);
}

struct window_job *window_begin(const struct run *run, struct window_request *request,
                                struct window_job *old)
{
    uint64_t anchor = anchor_position(run, request);
    struct window_job *job = old;
    if (old && (old->run != run || !same_view(old, request, anchor))) {
        window_free(old);
        job = NULL;
    }
    if (job) {
        window_request_free(&job->request);
        undelivered_signals_free(job->undelivered);
        job->undelivered = NULL;
        layout_result_free(&job->placement);
        job->placed = job->done = job->early = false;
        job->looked = 0;
        job->request = *request;
        layout_columns_want(job->place, request->from, request->columns);
    } else {
        job = xcalloc(1, sizeof *job);
        *job = (struct window_job){.run = run, .anchor = anchor, .request = *request};
        window_start_job(job);
    }
    *request = (struct window_request){0};
    return job;
}

void window_free(struct window_job *job)
{
    if (!job)
        return;
    visible_rows_free(&job->drawn);
    layout_columns_end(job->place);
    undelivered_signals_free(job->undelivered);
    layout_result_free(&job->placement);
    time_layout_free(job->timed);
    window_request_free(&job->request);
    free(job->moves);
    free(job);
}

/* ---- layout ---- */

/* Places events within the budget; returns true once all are placed. */
static bool window_place_further(struct window_job *job, uint64_t budget)
{
    if (job->timed ? !time_layout_step(job->timed, budget)
                   : !layout_columns_step(job->place, budget))
        return false;
    if (job->timed)
        time_layout_collect(job->timed, &job->placement);
    else
        layout_columns_collect(job->place, &job->placement);
    return true;
}

/* Returns whether a partial result is due, and collects it. */
static bool is_early(struct window_job *job, uint64_t budget)
{
    job->looked += budget;
    if (!job->request.early || job->early || job->timed || job->drawn.many ||
        job->looked < EARLY_EVENTS)
        return false;
    layout_columns_collect(job->place, &job->placement);
    return job->early = true;
}

bool window_step(struct window_job *job, uint64_t budget)
{
    if (job->done)
        return true;
    if (!job->placed) {
        if (!window_place_further(job, budget))
            return is_early(job, budget);
        job->placed = true;
        if (job->drawn.many)
            visible_rows_choose_seen(&job->drawn, job->run, job->request.most_rows,
                                     &job->placement);
        job->undelivered = undelivered_signals_begin(job->run, &job->placement);
    }
    return job->done = !job->undelivered || undelivered_signals_step(job->undelivered, budget);
}

/* ---- the response ---- */

static void add_presences(struct occupants *sum, const struct order *order, uint32_t line,
                          uint64_t left)
{
    if (left <= order_line_first(order, line))
        return;
    uint64_t position = order_line_at(order, line, left - 1);
    struct occupants in =
        position == NO_POSITION ? (struct occupants){0} : order_event(order, position).in;
    sum->active = (uint16_t)(sum->active + in.active);
    sum->blocked = (uint16_t)(sum->blocked + in.blocked);
    sum->away = (uint16_t)(sum->away + in.away);
}

/* Adds what one line of a row has left of the window; returns the number of events there. */
static uint64_t window_scan_left(struct window_job *job, struct row_info *row, uint32_t line)
{
    const struct order *order = job->run->order;
    uint64_t n = order_line_events(order, line), left = job->placement.before[line - 1];
    left = left > n ? n : left;
    row->left += left;
    row->open |= left > 0;
    add_presences(&row->in, order, line, left);
    return left;
}

static int64_t time_at(const struct window_job *job, uint64_t position)
{
    return job->timed ? time_layout_time(job->timed, position)
                      : event_times_fitted(job->run, position);
}

static void fill_event(struct window_job *job, const struct layout_event *p, struct event_info *s)
{
    *s = event_answer_info(job->run, p->position);
    s->undelivered = undelivered_signals_has(job->undelivered, p->position);
    s->column = p->column;
    s->fold = p->fold;
    s->time_ns = time_at(job, p->position);
    s->behind = job->timed ? time_layout_behind(job->timed, p->position) : NO_POSITION;
    uint64_t before = order_previous(job->run->order, p->position);
    bool known = before != NO_POSITION && order_event(job->run->order, before).line == s->at.line;
    s->since_ns = known ? s->time_ns - time_at(job, before) : -1;
    uint64_t waited = wait_start_time(job->run, p->position);
    s->waited_ns = waited != NO_POSITION ? s->time_ns - time_at(job, waited) : -1;
    if (p->fold)
        s->in = order_event(job->run->order, p->fold_end).in;
}

static void add_gaps(const struct run *run, uint32_t line, struct window_info *w, size_t *room)
{
    uint64_t first, count;
    for (size_t g = 0; order_line_gap(run->order, line, g, &first, &count); g++) {
        if (!count)
            continue;
        w->gaps = array_reserve(w->gaps, room, w->gap_count + 1, sizeof *w->gaps);
        w->gaps[w->gap_count++] = (struct gap_info){line, first, count};
    }
}

static void window_scan_rows(struct window_job *job, struct window_info *w)
{
    size_t room = 0;
    for (uint32_t i = 0; i < job->drawn.row_count; i++) {
        struct row_info *row = &job->drawn.rows[i];
        row->in = (struct occupants){0};
        row->left = 0;
        row->open = false;
        window_scan_left(job, row, row->line);
        add_gaps(job->run, row->line, w, &room);
        referenced_lines_note(row->line);
        for (uint32_t k = 0; k < row->member_count; k++) {
            row->lefts[k] = window_scan_left(job, row, row->members[k]);
            add_gaps(job->run, row->members[k], w, &room);
            referenced_lines_note(row->members[k]);
        }
    }
    w->rows = job->drawn.rows;
    w->row_count = job->drawn.row_count;
}

static void note_others(const struct window_info *w)
{
    for (uint32_t i = 0; i < w->crossing_count; i++) {
        referenced_lines_note(w->crossings[i].from.line);
        referenced_lines_note(w->crossings[i].to.line);
    }
    for (uint32_t i = 0; i < w->via_count; i++) {
        referenced_lines_note(w->vias[i].from.line);
        referenced_lines_note(w->vias[i].to.line);
        referenced_lines_note(w->vias[i].line);
    }
}

/* Finds messages that cross the window and edges through hidden lines.  Only for a complete
 * window: this takes longer than placing the events of a partial one. */
static void window_scan_outside(struct window_job *job, struct window_info *w)
{
    const struct order *order = job->run->order;
    const struct visible_rows *d = &job->drawn;
    w->crossing_count = (uint32_t)crossing_messages_find(order, &job->placement, d->row_of,
                                                         d->lines, &w->crossings);
    w->via_count =
        (uint32_t)hidden_edges_find(order, &job->placement, d->row_of, d->lines, &w->vias);
}

void window_put(struct window_job *job, struct response *reply)
{
    const struct layout_result *p = &job->placement;
    struct window_info w = {.generation = job->run->generation,
                            .anchor = job->anchor,
                            .count = order_count(job->run->order),
                            .from = job->request.from,
                            .columns = job->request.columns,
                            .by_time = job->timed != NULL,
                            .time_ns = job->timed ? time_layout_origin(job->timed) : 0,
                            .first = p->first,
                            .last = p->last,
                            .more_left = p->more_left,
                            .more_right = p->more_right,
                            .unresolved = p->unresolved,
                            .idle_lines = job->drawn.idle_lines,
                            .left_lines = job->drawn.left_lines,
                            .discarded = order_first(job->run->order)};
    window_scan_rows(job, &w);
    if (job->done)
        window_scan_outside(job, &w);
    w.edge_count = (uint32_t)window_edges_find(job->run->order, p, job->drawn.row_of,
                                               job->drawn.lines, &w.edges);
    w.placement_count = (uint32_t)window_left_edge_states(
        job->run, p, w.rows, w.row_count, job->drawn.row_of, job->drawn.lines, &w.placements);
    note_others(&w);
    w.events = xcalloc(p->count + 1, sizeof *w.events);
    for (size_t i = 0; i < p->count; i++)
        fill_event(job, &p->events[i], &w.events[w.event_count++]);
    struct event_waiting pending = {.run = job->run};
    if (!w.more_right)
        pending = event_answer_pending_of(job->run, LIMIT_PENDING);
    w.pending = pending.events;
    w.pending_count = (uint32_t)pending.count;
    response_chunk_begin(reply, RESPONSE_WINDOW);
    encode_window(reply->out, &w);
    response_chunk_end(reply);
    for (uint32_t i = 0; i < w.event_count; i++)
        event_answer_free(&w.events[i]);
    event_answer_waiting_free(&pending);
    free(w.events);
    free(w.gaps);
    free(w.crossings);
    free(w.vias);
    free(w.edges);
    free(w.placements);
}

/* ---- the query ---- */

static void *begin_job(struct request_queue *queue, struct decoder *in)
{
    struct window_request request;
    struct window_job *job = NULL;
    decode_window_request(in, &request);
    if (decoder_finish(in)) {
        job = window_begin(queue->run, &request, queue->kept);
        queue->kept = NULL;
    }
    window_request_free(&request);
    return job;
}

static bool step_job(void *job, uint64_t budget) { return window_step(job, budget); }

static bool put_job(void *p, struct response *reply)
{
    struct window_job *job = p;
    window_put(job, reply);
    if (!job->done)
        layout_result_free(&job->placement);
    return job->done;
}

static void free_job(void *job) { window_free(job); }

/* Keeps the job, so that the next window can reuse its placed events. */
static void leave_job(struct request_queue *queue, void *p, bool answered)
{
    struct window_job *job = p;
    if (answered || (!queue->kept && job->done)) {
        window_free(queue->kept);
        queue->kept = job;
    } else {
        window_free(job);
    }
}

const struct query query_window = {.begin = begin_job,
                                   .step = step_job,
                                   .put = put_job,
                                   .free = free_job,
                                   .leave = leave_job,
                                   .most = LIMIT_WINDOWS,
                                   .picture = true};
