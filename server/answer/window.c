#include "server/answer/window.h"

#include "server/answer/crossing.h"
#include "server/answer/hidden.h"
#include "server/answer/named.h"
#include "server/order/placing/place.h"
#include "server/run/times.h"
#include "wire/limits.h"
#include "memory/memory.h"
#include "wire/placed.h"
#include "wire/ref.h"

#include <stdlib.h>
#include <string.h>

struct window_job {
    const struct run *run;
    struct window_request request;
    uint64_t first; /* of the order, when it began */
    uint64_t anchor;
    struct line_move *moves;
    struct shown_row *rows;
    uint32_t row_count;
    uint32_t *row_of; /* by line - 1 */
    uint8_t *cluster; /* by row */
    /* Of too many lines only those get rows that have events in the window, each time anew. */
    bool many;
    uint8_t one;       /* for placing: none of its rows is a cluster */
    uint32_t *drawn;   /* by line - 1, for placing: 1 or 0 */
    uint64_t drawn_lines, idle_lines, left_lines;
    uint32_t lines;
    struct place_job *place;
    struct placement placement;
    struct times *times;
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
        position = r->event.line && r->event.line <= order_lines(run->order)
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
        position = times_position(run, r->time_ns);
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

/* ---- rows ---- */

static const struct target_kind *kind_of(const void *context, uint32_t line)
{
    const struct run *run = context;
    return run_target_kind(run, run_kind_name(run, run_line_at(run, line)->kind));
}

static const char *name_of(const void *context, uint32_t line)
{
    return run_line_at(context, line)->name;
}

static bool has_events(const struct run *run, uint32_t line)
{
    return order_line_events(run->order, line) > order_line_first(run->order, line);
}

uint32_t *window_rows(const struct run *run, uint32_t *count)
{
    uint32_t lines = (uint32_t)order_lines(run->order), *rows = calloc(lines + 1, sizeof *rows);
    *count = 0;
    if (!rows)
        abort();
    for (uint32_t line = 1; line <= lines; line++) {
        const struct target_kind *kind = has_events(run, line) ? kind_of(run, line) : NULL;
        if (has_events(run, line) && (!kind || kind->drawn))
            rows[(*count)++] = line;
    }
    target_sort(rows, *count, &(struct target_lines){run, kind_of, name_of});
    return rows;
}

static void add_row(struct window_job *job, uint32_t line, bool joins)
{
    if (!line || line > job->lines || job->row_of[line - 1])
        return;
    if (joins && job->row_count) {
        struct shown_row *row = &job->rows[job->row_count - 1];
        row->members = memory_resized(row->members, row->member_count + 1, sizeof *row->members);
        row->lefts = memory_resized(row->lefts, row->member_count + 1, sizeof *row->lefts);
        row->members[row->member_count++] = line;
        job->cluster[job->row_count - 1] = 1;
    } else {
        job->rows[job->row_count++].line = line;
    }
    job->row_of[line - 1] = job->row_count;
}

/* What is drawn, by kind. */
static bool *drawn_kinds(const struct run *run)
{
    bool *drawn = memory_zeroed(run->kinds.count + 1, sizeof *drawn);
    for (uint32_t code = 0; code <= run->kinds.count; code++) {
        const struct target_kind *kind = run_target_kind(run, run_kind_name(run, code));
        drawn[code] = !kind || kind->drawn;
    }
    return drawn;
}

/* Are there too many lines to give each a row?  Then which of them are drawn. */
static void look_at_many(struct window_job *job)
{
    uint32_t most = job->request.most_rows;
    if (!most || job->request.row_count || job->lines <= most)
        return;
    bool *kinds = drawn_kinds(job->run);
    job->drawn = memory_zeroed(job->lines + 1, sizeof *job->drawn);
    for (uint32_t line = 1; line <= job->lines; line++) {
        job->drawn[line - 1] = has_events(job->run, line) && kinds[order_line_kind(job->run->order, line)];
        job->drawn_lines += job->drawn[line - 1];
    }
    free(kinds);
    job->many = job->drawn_lines > most;
    if (job->many)
        return;
    free(job->drawn);
    job->drawn = NULL;
}

static void forget_rows(struct window_job *job)
{
    for (uint32_t i = 0; i < job->row_count; i++) {
        job->row_of[job->rows[i].line - 1] = 0;
        free(job->rows[i].members);
        free(job->rows[i].lefts);
        job->rows[i] = (struct shown_row){0};
    }
    job->row_count = 0;
}

struct some_lines {
    uint32_t *items;
    size_t count, room;
};

static void note_line(struct window_job *job, struct some_lines *lines, uint32_t line)
{
    if (!line || line > job->lines || !job->drawn[line - 1] || job->row_of[line - 1])
        return;
    job->row_of[line - 1] = UINT32_MAX; /* noted */
    lines->items = grow(lines->items, &lines->room, lines->count + 1, sizeof *lines->items);
    lines->items[lines->count++] = line;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Events on lines that have no row. */
static void drop_others(struct window_job *job)
{
    struct placement *p = &job->placement;
    size_t kept = 0;
    p->first = INT32_MAX;
    p->last = INT32_MIN;
    for (size_t i = 0; i < p->count; i++) {
        struct placed placed = p->events[i];
        if (!job->row_of[order_event(job->run->order, placed.position).line - 1])
            continue;
        p->events[kept++] = placed;
        p->first = placed.column < p->first ? placed.column : p->first;
        p->last = placed.column > p->last ? placed.column : p->last;
    }
    p->count = kept;
}

/* Rows for the lines that have something in the window. */
static void choose_seen(struct window_job *job)
{
    struct some_lines seen = {0};
    uint32_t most = job->request.most_rows;
    forget_rows(job);
    for (size_t i = 0; i < job->placement.count; i++)
        note_line(job, &seen, order_event(job->run->order, job->placement.events[i].position).line);
    struct waiting pending = {0};
    if (!job->placement.more_right)
        pending = pending_of(job->run, LIMIT_PENDING);
    for (size_t i = 0; i < pending.count; i++)
        note_line(job, &seen, pending.events[i].at.line);
    waiting_free(&pending);
    for (size_t i = 0; i < seen.count; i++)
        job->row_of[seen.items[i] - 1] = 0;
    size_t count = seen.count;
    if (count > most) { /* threads come before what they use */
        for (size_t i = 0, threads = 0; i < seen.count; i++)
            if (order_thread_last(job->run->order, seen.items[i]) != NO_POSITION) {
                uint32_t line = seen.items[i];
                seen.items[i] = seen.items[threads];
                seen.items[threads++] = line;
            }
        seen.count = most;
    }
    if (seen.count)
        qsort(seen.items, seen.count, sizeof *seen.items, by_number);
    target_sort(seen.items, seen.count, &(struct target_lines){job->run, kind_of, name_of});
    for (size_t i = 0; i < seen.count; i++)
        add_row(job, seen.items[i], false);
    job->left_lines = count - job->row_count;
    job->idle_lines = job->drawn_lines > count ? job->drawn_lines - count : 0;
    free(seen.items);
    if (job->left_lines)
        drop_others(job);
}

static void choose_rows(struct window_job *job)
{
    const struct window_request *r = &job->request;
    look_at_many(job);
    uint32_t most = r->row_count ? r->row_count : job->many ? r->most_rows : job->lines;
    job->row_of = memory_zeroed(job->lines + 1, sizeof *job->row_of);
    job->rows = memory_zeroed(most + 1, sizeof *job->rows);
    job->cluster = memory_zeroed(most + 1, 1);
    for (uint32_t i = 0; i < r->row_count; i++)
        add_row(job, r->rows[i], r->joined[i]);
    uint32_t count = 0, *all = r->row_count || job->many ? NULL : window_rows(job->run, &count);
    for (uint32_t i = 0; i < count; i++)
        add_row(job, all[i], false);
    free(all);
}

/* ---- life ---- */

static bool has_text(void *context, struct ref at)
{
    return run_texts(context, at) != NULL;
}

static bool same_moves(const struct window_request *a, const struct window_request *b)
{
    for (uint32_t i = 0; i < a->move_count; i++)
        if (a->moves[i].line != b->moves[i].line || a->moves[i].to != b->moves[i].to ||
            a->moves[i].events != b->moves[i].events)
            return false;
    return true;
}

/* How many events it remembers. */
static size_t window_weight(const struct window_job *job) { return place_weight(job->place); }

/* May the view of an earlier job be looked at further on?  Not if it shows other rows, or what it began with
 * is forgotten. */
static bool same_view(const struct window_job *job, const struct window_request *r, uint64_t anchor)
{
    const struct window_request *o = &job->request;
    bool same = job->done && job->anchor == anchor && o->fold == r->fold && !o->column_ns &&
                !r->column_ns && o->row_count == r->row_count && o->most_rows == r->most_rows && o->move_count == r->move_count &&
                job->first == order_first(job->run->order) &&
                job->lines == order_lines(job->run->order);
    if (same && r->row_count)
        same = memcmp(o->rows, r->rows, r->row_count * sizeof *r->rows) == 0 &&
               memcmp(o->joined, r->joined, r->row_count) == 0;
    if (same)
        same = same_moves(o, r);
    bool all_drawn = !r->row_count && !job->many;
    uint32_t count = 0, *all = same && all_drawn ? window_rows(job->run, &count) : NULL;
    same = same && (!all_drawn || count == job->row_count);
    for (uint32_t i = 0; same && i < count; i++)
        same = job->rows[i].line == all[i];
    free(all);
    return same && window_weight(job) < 4000000;
}

/* Where a window that is placed by time begins. */
static int64_t left_time(const struct window_job *job)
{
    const struct window_request *r = &job->request;
    if (r->anchor == ANCHOR_TIME)
        return r->time_ns == INT64_MIN ? times_begin(job->run) : r->time_ns;
    return job->anchor < order_count(job->run->order) ? times_fitted(job->run, job->anchor)
                                                      : job->run->last_ns;
}

static void start(struct window_job *job)
{
    const struct window_request *r = &job->request;
    job->lines = order_lines(job->run->order);
    job->first = order_first(job->run->order);
    choose_rows(job);
    job->moves = memory_zeroed(r->move_count + 1, sizeof *job->moves);
    for (uint32_t i = 0; i < r->move_count; i++)
        job->moves[i] = (struct line_move){r->moves[i].line, r->moves[i].to, r->moves[i].events};
    if (r->column_ns)
        job->times = times_new(job->run, left_time(job), r->column_ns);
    struct placing placing = {.anchor = job->anchor,
                              .moves = job->moves,
                              .move_count = r->move_count,
                              .from = r->from,
                              .columns = r->columns,
                              .row_of = job->many ? job->drawn : job->row_of,
                              .cluster = job->many ? &job->one : job->cluster,
                              .rows = job->many ? 1 : job->row_count,
                              .many = job->many,
                              .fold = r->fold,
                              .has_text = has_text,
                              .column_at = job->times ? times_column : NULL,
                              .cut_at = job->times && !job->many ? times_cut : NULL,
                              .times = job->times,
                              .context = (void *)(uintptr_t)job->run};
    job->place = place_begin(job->run->order, &placing);
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
        placement_free(&job->placement);
        job->placed = job->done = false;
        job->request = *request;
        place_want(job->place, request->from, request->columns);
    } else {
        job = memory_zeroed(1, sizeof *job);
        *job = (struct window_job){.run = run, .anchor = anchor, .request = *request};
        start(job);
    }
    *request = (struct window_request){0};
    return job;
}

void window_free(struct window_job *job)
{
    if (!job)
        return;
    for (uint32_t i = 0; i < job->row_count; i++) {
        free(job->rows[i].members);
        free(job->rows[i].lefts);
    }
    place_end(job->place);
    placement_free(&job->placement);
    times_free(job->times);
    window_request_free(&job->request);
    free(job->moves);
    free(job->rows);
    free(job->drawn);
    free(job->row_of);
    free(job->cluster);
    free(job);
}

/* ---- working ---- */

bool window_step(struct window_job *job, uint64_t budget)
{
    if (job->done)
        return true;
    if (!job->placed) {
        if (!place_step(job->place, budget))
            return false;
        place_take(job->place, &job->placement);
        job->placed = job->done = true;
        if (job->many)
            choose_seen(job);
    }
    return true;
}

/* ---- answering ---- */

static void add_presences(struct presences *sum, const struct order *order, uint32_t line, uint64_t left)
{
    if (left <= order_line_first(order, line))
        return;
    uint64_t position = order_line_at(order, line, left - 1);
    struct presences in = position == NO_POSITION ? (struct presences){0}
                                                  : order_event(order, position).in;
    sum->active = (uint16_t)(sum->active + in.active);
    sum->blocked = (uint16_t)(sum->blocked + in.blocked);
    sum->away = (uint16_t)(sum->away + in.away);
}

/* What is left of the window on one line of a row; how many events that are. */
static uint64_t look_left(struct window_job *job, struct shown_row *row, uint32_t line)
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
    return job->times ? times_at(job->times, position)
                      : times_fitted(job->run, position);
}

static void fill_event(struct window_job *job, const struct placed *p, struct shown_event *s)
{
    *s = show(job->run, p->position);
    s->column = p->column;
    s->fold = p->fold;
    s->time_ns = time_at(job, p->position);
    uint64_t before = order_previous(job->run->order, p->position);
    bool known = before != NO_POSITION && order_event(job->run->order, before).line == s->at.line;
    s->since_ns = known ? s->time_ns - time_at(job, before) : -1;
    if (p->fold)
        s->in = order_event(job->run->order, p->fold_end).in;
}

static void add_gaps(const struct run *run, uint32_t line, struct shown_window *w, size_t *room)
{
    uint64_t first, count;
    for (size_t g = 0; order_line_gap(run->order, line, g, &first, &count); g++) {
        w->gaps = grow(w->gaps, room, w->gap_count + 1, sizeof *w->gaps);
        w->gaps[w->gap_count++] = (struct shown_gap){line, first, count};
    }
}

static void look_at_rows(struct window_job *job, struct shown_window *w)
{
    size_t room = 0;
    for (uint32_t i = 0; i < job->row_count; i++) {
        struct shown_row *row = &job->rows[i];
        row->in = (struct presences){0};
        row->left = 0;
        row->open = false;
        look_left(job, row, row->line);
        add_gaps(job->run, row->line, w, &room);
        named_note(row->line);
        for (uint32_t k = 0; k < row->member_count; k++) {
            row->lefts[k] = look_left(job, row, row->members[k]);
            add_gaps(job->run, row->members[k], w, &room);
            named_note(row->members[k]);
        }
    }
    w->rows = job->rows;
    w->row_count = job->row_count;
}

static void note_others(const struct shown_window *w)
{
    for (uint32_t i = 0; i < w->crossing_count; i++) {
        named_note(w->crossings[i].from.line);
        named_note(w->crossings[i].to.line);
    }
    for (uint32_t i = 0; i < w->via_count; i++) {
        named_note(w->vias[i].from.line);
        named_note(w->vias[i].to.line);
        named_note(w->vias[i].line);
    }
}

void window_put(struct window_job *job, struct reply *reply)
{
    const struct placement *p = &job->placement;
    struct shown_window w = {.generation = job->run->generation,
                             .anchor = job->anchor,
                             .count = order_count(job->run->order),
                             .from = job->request.from,
                             .columns = job->request.columns,
                             .time_ns = job->times ? left_time(job) : 0,
                             .first = p->first,
                             .last = p->last,
                             .more_left = p->more_left,
                             .more_right = p->more_right,
                             .unresolved = p->unresolved,
                             .idle_lines = job->idle_lines,
                             .left_lines = job->left_lines};
    look_at_rows(job, &w);
    w.crossing_count = (uint32_t)crossings(job->run->order, p, job->row_of, job->lines, &w.crossings);
    w.via_count = (uint32_t)hidden_order(job->run->order, p, job->row_of, job->lines, &w.vias);
    note_others(&w);
    w.events = memory_zeroed(p->count + 1, sizeof *w.events);
    for (size_t i = 0; i < p->count; i++)
        fill_event(job, &p->events[i], &w.events[w.event_count++]);
    struct waiting pending = {.run = job->run};
    if (!w.more_right)
        pending = pending_of(job->run, LIMIT_PENDING);
    w.pending = pending.events;
    w.pending_count = (uint32_t)pending.count;
    part_begin(reply, PART_WINDOW);
    put_window(reply->out, &w);
    part_end(reply);
    for (uint32_t i = 0; i < w.event_count; i++)
        show_free(&w.events[i]);
    waiting_free(&pending);
    free(w.events);
    free(w.gaps);
    free(w.crossings);
    free(w.vias);
}

/* ---- the question ---- */

static void *begin_job(struct desk *desk, struct in *in)
{
    struct window_request request;
    struct window_job *job = NULL;
    get_window_request(in, &request);
    if (in_done(in)) {
        job = window_begin(desk->run, &request, desk->kept);
        desk->kept = NULL;
    }
    window_request_free(&request);
    return job;
}

static bool step_job(void *job, uint64_t budget) { return window_step(job, budget); }

static bool put_job(void *job, struct reply *reply)
{
    window_put(job, reply);
    return true;
}

static void free_job(void *job) { window_free(job); }

/* What it has placed may be wanted again. */
static void leave_job(struct desk *desk, void *p, bool answered)
{
    struct window_job *job = p;
    if (answered || (!desk->kept && job->done)) {
        window_free(desk->kept);
        desk->kept = job;
    } else {
        window_free(job);
    }
}

const struct question question_window = {.begin = begin_job, .step = step_job, .put = put_job,
                                         .free = free_job, .leave = leave_job, .most = LIMIT_WINDOWS,
                                         .picture = true};
