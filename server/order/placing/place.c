#include "server/order/placing/place.h"

#include "memory/map.h"
#include "memory/memory.h"
#include "server/order/log/block.h"
#include "server/order/log/lines.h"
#include "server/order/log/log.h"
#include "server/order/order.h"
#include "server/order/placing/acting.h"
#include "server/order/placing/fold.h"
#include "server/order/placing/sweep.h"
#include "server/order/state.h"
#include "wire/event.h"

#include <stdlib.h>
#include <string.h>

/* So far to the left is looked for what a window holds: the newest events are wanted, not the oldest
 * one of a thread that sleeps.  It depends on the window alone, so that one picture is always the same. */
#ifndef DEPTH_LEAST
#define DEPTH_LEAST 200000u
#endif
#define PUSHED_NEAR (1u << 20)

static uint32_t row_of(const struct place_job *job, uint32_t line)
{
    return line & HIDDEN_LINE || line == 0 || line > job->lines ? 0 : job->placing.row_of[line - 1];
}

static uint64_t cut_of(const struct place_job *job, uint32_t line)
{
    size_t i = line & HIDDEN_LINE ? job->lines + (line & ~HIDDEN_LINE) - 1 : line - 1;
    bool known = line & HIDDEN_LINE ? (line & ~HIDDEN_LINE) <= job->hidden_lines : line <= job->lines;
    return known ? job->cut[i] : job->placing.anchor;
}

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
    return row_of(job, block_line_of(log_get(job->order, position, FIELD_LINE))) != row;
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

static bool is_drawn(const struct place_job *job, uint64_t position, uint32_t row)
{
    return row && (!job->placing.cluster[row - 1] || is_tied(job, position, row)) &&
           fold_of(&job->folds, position) != 1;
}

/* ---- both sweeps ---- */

static void see(struct sweep *sweep, uint64_t position, uint32_t line, int32_t column, bool drawn)
{
    sweep->seen = grow(sweep->seen, &sweep->seen_room, sweep->seen_count + 1, sizeof *sweep->seen);
    sweep->seen[sweep->seen_count++] = (struct seen){position, column, line, drawn};
}

/* Lines that count where it is said how far to look: of very many, only so many can be seen. */
#define LINES_COUNTED 1000u

static uint64_t lines_counted(const struct place_job *job)
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
static uint64_t budget_of(const struct place_job *job)
{
    return 4000000 + 16 * lines_counted(job) * job->placing.columns;
}

static void sweep_begin(struct place_job *job, struct sweep *sweep, int32_t value)
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

static void reserve(struct sweep *sweep, size_t index)
{
    sweep->column = grow(sweep->column, &sweep->room, index + 1, sizeof *sweep->column);
}

/* ---- to the right ---- */

int32_t sweep_right_edge(const struct place_job *job)
{
    return job->placing.from + (int32_t)job->placing.columns;
}

static void begin_right(struct place_job *job)
{
    struct sweep *sweep = &job->right;
    sweep_begin(job, sweep, -1);
    sweep->base = job->placing.anchor;
    for (size_t i = 0; i < job->lines + job->hidden_lines; i++)
        sweep->base = job->cut[i] < sweep->base ? job->cut[i] : sweep->base;
    if (sweep->base < order_first(job->order))
        sweep->base = order_first(job->order);
    while (sweep->base > order_first(job->order) && sweep->base < order_count(job->order) &&
           log_get(job->order, sweep->base, FIELD_POINT))
        sweep->base--;
    sweep->at = sweep->base;
}

static bool may_be_right(const struct place_job *job, const struct sweep *sweep, uint32_t thread)
{
    return sweep->acted[thread - 1] < sweep_right_edge(job) && line_get(job->order, thread)->acted > sweep->at;
}

/* What is still to be found right of the cut, for the window wanted. */
static void want_right(struct place_job *job)
{
    struct sweep *sweep = &job->right;
    int32_t edge = sweep_right_edge(job);
    if (!sweep->ready)
        begin_right(job);
    leap_undo(job, sweep, edge);
    sweep->open = 0;
    sweep->looked = 0;
    sweep->unresolved = false;
    if (job->placing.many)
        sweep->open = acting_watch(job, sweep, may_be_right);
    for (uint32_t line = 1; line <= job->lines && !job->placing.many; line++) {
        const struct line *l = line_get(job->order, line);
        sweep->open += row_of(job, line) && line_has_kept(job->order, l) && l->last >= sweep->at &&
                       l->last >= job->cut[line - 1] && sweep->line[line - 1] < edge;
    }
    sweep->done = edge <= 0 || !sweep->open;
}

/* The greatest column of what the event at p follows. */
static int32_t column_before(struct place_job *job, const struct block *rows, uint64_t p)
{
    struct sweep *sweep = &job->right;
    uint32_t i = p % BLOCK_EVENTS;
    uint32_t line = block_line_of(block_get(rows, i, FIELD_LINE));
    int32_t column = line ? *sweep_newest(job, sweep, line) : -1;
    struct block_edges edges = block_edges(rows, i);
    for (uint32_t k = 0; k < edges.count; k++) {
        uint64_t from = p - block_edge(&edges, k);
        int32_t there = from >= sweep->base ? sweep_column(sweep, from) : -1;
        column = there > column ? there : column;
    }
    return column;
}

static void see_right(struct place_job *job, uint64_t p, int32_t column)
{
    uint32_t thread = (uint32_t)log_get(job->order, p, FIELD_THREAD);
    const struct line *own = thread && thread <= job->lines ? line_get(job->order, thread) : NULL;
    acting_see(job, &job->right, thread, column, column >= sweep_right_edge(job) || (own && own->acted == p + 1));
}

static void place_right(struct place_job *job, uint64_t p, uint32_t line, int32_t column, bool drawn)
{
    struct sweep *sweep = &job->right;
    uint32_t row = row_of(job, line);
    int32_t *at = sweep_newest(job, sweep, line), before = *at, edge = sweep_right_edge(job);
    sweep->column[sweep_index(sweep, p)] = *at = column;
    if (job->placing.many)
        see_right(job, p, column);
    if (!row)
        return;
    if (drawn && column > sweep->row[row - 1])
        sweep->row[row - 1] = column;
    see(sweep, p, line, column, drawn);
    sweep->open -= !job->placing.many && before < edge && (column >= edge || line_get(job->order, line)->last == p);
}

static void point_right(struct place_job *job, uint64_t begin, uint64_t end)
{
    struct sweep *sweep = &job->right;
    int32_t column = -1;
    bool room = false, right = false;
    reserve(sweep, sweep_index(sweep, end));
    for (uint64_t p = begin; p <= end; p++) {
        const struct block *rows = log_block(job->order, p);
        uint32_t line = block_line_of(block_get(rows, p % BLOCK_EVENTS, FIELD_LINE));
        right |= line && p >= cut_of(job, line);
    }
    if (!right) {
        for (uint64_t p = begin; p <= end; p++)
            sweep->column[sweep_index(sweep, p)] = -1;
        return;
    }
    for (uint64_t p = begin; p <= end; p++) {
        if (job->placing.fold)
            fold_look(&job->folds, p, false);
        int32_t before = column_before(job, log_block(job->order, p), p);
        column = before > column ? before : column;
    }
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t row = row_of(job, block_line_of(log_get(job->order, p, FIELD_LINE)));
        if (!row || !is_drawn(job, p, row))
            continue;
        room = true;
        if (job->placing.cluster[row - 1] && sweep->row[row - 1] > column)
            column = sweep->row[row - 1];
    }
    column += room;
    if (job->placing.column_at) {
        int32_t least = job->placing.column_at(job->placing.times, begin, end);
        column = room && least > column ? least : column;
    }
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t line = block_line_of(log_get(job->order, p, FIELD_LINE));
        if (line)
            place_right(job, p, line, column, is_drawn(job, p, row_of(job, line)));
        else
            sweep->column[sweep_index(sweep, p)] = column;
    }
}

static bool step_right(struct place_job *job, uint64_t budget)
{
    struct sweep *sweep = &job->right;
    uint64_t count = order_count(job->order), looked = 0;
    while (sweep->at < count && looked < budget && sweep->open) {
        uint64_t end = order_point_end(job->order, sweep->at);
        looked += end + 1 - sweep->at;
        point_right(job, sweep->at, end);
        sweep->at = end + 1;
        leap_right(job, sweep);
    }
    sweep->looked += looked;
    sweep->unresolved = sweep->looked > budget_of(job) && sweep->open && sweep->at < count;
    return sweep->at >= count || !sweep->open || sweep->unresolved;
}

/* ---- to the left ---- */

static void begin_left(struct place_job *job)
{
    struct sweep *sweep = &job->left;
    sweep_begin(job, sweep, 0);
    sweep->base = job->placing.anchor;
    for (size_t i = 0; i < job->lines + job->hidden_lines; i++)
        sweep->base = job->cut[i] > sweep->base ? job->cut[i] : sweep->base;
    if (sweep->base > order_count(job->order))
        sweep->base = order_count(job->order);
    while (sweep->base < order_count(job->order) && sweep->base > order_first(job->order) &&
           log_get(job->order, sweep->base, FIELD_POINT))
        sweep->base++;
    sweep->at = sweep->base;
}

static int32_t left_edge(const struct place_job *job) { return -job->placing.from; }

/* Does a line have events left of the cut that the sweep has not come to? */
static bool has_left(const struct place_job *job, uint32_t line)
{
    const struct line *l = line_get(job->order, line);
    uint64_t until = job->cut[line - 1] < job->left.at ? job->cut[line - 1] : job->left.at;
    uint64_t first = line_has_kept(job->order, l) ? order_line_at(job->order, line, order_line_first(job->order, line))
                                                  : NO_POSITION;
    return first < until;
}

static bool may_be_left(const struct place_job *job, const struct sweep *sweep, uint32_t thread)
{
    (void)job; /* where a thread began is not known: before its own line's first event it may have acted on others */
    return sweep->acted[thread - 1] <= left_edge(job);
}

static void want_left(struct place_job *job)
{
    struct sweep *sweep = &job->left;
    if (!sweep->ready)
        begin_left(job);
    sweep->open = 0;
    sweep->looked = 0;
    sweep->unresolved = false;
    if (job->placing.many)
        sweep->open = acting_watch(job, sweep, may_be_left);
    for (uint32_t line = 1; line <= job->lines && !job->placing.many; line++)
        sweep->open += row_of(job, line) && sweep->line[line - 1] <= left_edge(job) &&
                       has_left(job, line);
    sweep->done = left_edge(job) <= 0 || !sweep->open || sweep->at <= order_first(job->order);
}

/* Positions left of the cut that may be in the window. */
static uint64_t depth_of(const struct place_job *job)
{
    int32_t edge = left_edge(job);
    return DEPTH_LEAST + 16 * lines_counted(job) * (uint64_t)(edge > 0 ? edge : 0);
}

/* Columns pushed to causes far away are kept one by one. */
static int32_t pushed_far(const struct sweep *sweep, uint64_t position)
{
    return sweep->far.count ? (int32_t)(intptr_t)map_get(&sweep->far, position, 0) : 0;
}

static void push_to_causes(struct place_job *job, uint64_t p, int32_t column)
{
    struct sweep *sweep = &job->left;
    struct block_edges edges = block_edges(log_block(job->order, p), p % BLOCK_EVENTS);
    for (uint32_t i = 0; i < edges.count; i++) {
        uint64_t from = p - block_edge(&edges, i), index = sweep->base - 1 - from;
        if (from < order_first(job->order))
            continue;
        if (index > sweep->base - sweep->at + PUSHED_NEAR) {
            if (pushed_far(sweep, from) < column)
                map_put(&sweep->far, from, 0, (void *)(intptr_t)column);
            continue;
        }
        reserve(sweep, index);
        while (sweep->known <= index)
            sweep->column[sweep->known++] = 0;
        if (sweep->column[index] < column)
            sweep->column[index] = column;
    }
}

static void place_left(struct place_job *job, uint64_t p, uint32_t line, int32_t column, bool drawn)
{
    struct sweep *sweep = &job->left;
    uint32_t row = row_of(job, line);
    int32_t *at = sweep_newest(job, sweep, line), before = *at, edge = left_edge(job);
    *at = column;
    push_to_causes(job, p, column);
    uint64_t back = log_get(job->order, p, FIELD_PREVIOUS);
    bool first = back == 0 || back > p || p - back < order_first(job->order);
    if (job->placing.many) {
        uint32_t thread = (uint32_t)log_get(job->order, p, FIELD_THREAD);
        acting_see(job, sweep, thread, column, column > edge);
    }
    if (!row)
        return;
    if (drawn && column > sweep->row[row - 1])
        sweep->row[row - 1] = column;
    see(sweep, p, line, -column, drawn);
    sweep->open -= !job->placing.many && before <= edge && (column > edge || first);
}

static void point_left(struct place_job *job, uint64_t begin, uint64_t end)
{
    struct sweep *sweep = &job->left;
    int32_t column = 0;
    bool room = false;
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t line = block_line_of(log_get(job->order, p, FIELD_LINE));
        uint64_t index = sweep->base - 1 - p;
        if (line == 0 || p >= cut_of(job, line))
            return; /* right of the cut */
        if (job->placing.fold)
            fold_look(&job->folds, p, true);
        if (*sweep_newest(job, sweep, line) > column)
            column = *sweep_newest(job, sweep, line);
        if (index < sweep->known && sweep->column[index] > column)
            column = sweep->column[index];
        if (pushed_far(sweep, p) > column)
            column = pushed_far(sweep, p);
    }
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t row = row_of(job, block_line_of(log_get(job->order, p, FIELD_LINE)));
        if (!row || !is_drawn(job, p, row))
            continue;
        room = true;
        if (job->placing.cluster[row - 1] && sweep->row[row - 1] > column)
            column = sweep->row[row - 1];
    }
    column += room;
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t line = block_line_of(log_get(job->order, p, FIELD_LINE));
        place_left(job, p, line, column, is_drawn(job, p, row_of(job, line)));
    }
}

static bool step_left(struct place_job *job, uint64_t budget)
{
    struct sweep *sweep = &job->left;
    uint64_t first = order_first(job->order), looked = 0;
    while (sweep->at > first && sweep->open && looked < budget && sweep->base - sweep->at <= depth_of(job)) {
        uint64_t end = sweep->at - 1, span = log_get(job->order, end, FIELD_POINT);
        uint64_t begin = end - (span > end - first ? end - first : span);
        point_left(job, begin, end);
        looked += end + 1 - begin;
        sweep->at = begin;
    }
    sweep->looked += looked;
    sweep->unresolved = sweep->base - sweep->at > depth_of(job) && sweep->open && sweep->at > first;
    return sweep->at <= first || !sweep->open || sweep->unresolved;
}

/* ---- a job ---- */

struct place_job *place_begin(const struct order *order, const struct placing *placing)
{
    size_t room = 0;
    struct place_job *job = grow(NULL, &room, 1, sizeof *job);
    *job = (struct place_job){.order = order,
                              .placing = *placing,
                              .cut = place_cut(order, placing),
                              .lines = order_lines(order),
                              .hidden_lines = order_hidden_lines(order)};
    job->leaps = leap_allowed(placing) && !placing->many;
    if (placing->many)
        acting_begin(job);
    job->folds = (struct folds){.order = order, .placing = &job->placing, .cut = job->cut};
    want_left(job);
    want_right(job);
    return job;
}

void place_want(struct place_job *job, int32_t from, uint32_t columns)
{
    job->placing.from = from;
    job->placing.columns = columns;
    want_left(job);
    want_right(job);
}

bool place_step(struct place_job *job, uint64_t budget)
{
    if (!job->left.done && !(job->left.done = step_left(job, budget)))
        return false;
    if (!job->right.done)
        job->right.done = step_right(job, budget);
    return job->right.done;
}

size_t place_weight(const struct place_job *job)
{
    return job->left.seen_count + job->right.seen_count + (job->left.room + job->right.room) / 8;
}

/* ---- taking a window ---- */

static bool is_deep(const struct place_job *job, uint64_t position)
{
    return job->left.base - order_point_end(job->order, position) - 1 > depth_of(job);
}

static void add(struct place_job *job, struct placement *p, const struct seen *seen)
{
    p->events = grow(p->events, &p->room, p->count + 1, sizeof *p->events);
    uint32_t fold = fold_of(&job->folds, seen->position);
    p->events[p->count++] = (struct placed){seen->position, seen->column, fold,
                                            fold > 1 ? fold_end(&job->folds, seen->position) : 0};
    p->first = seen->column < p->first ? seen->column : p->first;
    p->last = seen->column > p->last ? seen->column : p->last;
}

static uint32_t line_placed(const struct place_job *job, const struct placement *p, size_t i)
{
    return block_line_of(log_get(job->order, p->events[i].position, FIELD_LINE));
}

static void find_edge(struct place_job *job, struct placement *p, uint32_t line)
{
    uint64_t *before = &p->before[line - 1], frontier = job->cut[line - 1];
    if (job->placing.from > 0 && job->right.at > frontier)
        frontier = job->right.at;
    *before = order_line_from(job->order, line, *before == NO_POSITION ? frontier : *before);
}

/* As below, of the lines that have events in the window; what is told of others is not looked at. */
static void find_edges_of_many(struct place_job *job, struct placement *p)
{
    for (size_t i = p->count; i-- > 0;)
        p->before[line_placed(job, p, i) - 1] = p->events[i].position;
    for (size_t i = p->count; i-- > 0;) {
        uint32_t line = line_placed(job, p, i);
        if (p->before[line - 1] == p->events[i].position) /* the first, and it was not done yet */
            p->before[line - 1] = order_line_from(job->order, line, p->events[i].position);
    }
}

/* Ordinals, by line, of the first event that is not left of the window: behind the last one that is. */
static void find_edges(struct place_job *job, struct placement *p)
{
    for (uint32_t line = 1; line <= job->lines; line++)
        if (row_of(job, line))
            p->before[line - 1] = NO_POSITION;
    for (size_t i = job->right.seen_count; i-- > 0;) {
        const struct seen *seen = &job->right.seen[i];
        if (seen->column >= job->placing.from)
            p->before[seen->line - 1] = seen->position;
    }
    for (size_t i = 0; i < job->left.seen_count; i++) { /* seen last first */
        const struct seen *seen = &job->left.seen[i];
        if (seen->column >= job->placing.from && !is_deep(job, seen->position))
            p->before[seen->line - 1] = seen->position;
    }
    for (uint32_t line = 1; line <= job->lines; line++) {
        if (row_of(job, line))
            find_edge(job, p, line);
    }
}

static int by_position(const void *a, const void *b)
{
    uint64_t pa = ((const struct placed *)a)->position, pb = ((const struct placed *)b)->position;
    return pa < pb ? -1 : pa > pb;
}

void place_take(struct place_job *job, struct placement *p)
{
    int32_t from = job->placing.from, edge = sweep_right_edge(job);
    *p = (struct placement){.first = INT32_MAX, .last = INT32_MIN};
    p->before = memory_zeroed(job->lines + 1, sizeof *p->before);
    const struct sweep *sweeps[] = {&job->left, &job->right};
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < sweeps[s]->seen_count; i++) {
            const struct seen *seen = &sweeps[s]->seen[i];
            p->more_left |= seen->column < from;
            p->more_right |= seen->column >= edge;
            if (s == 0 && is_deep(job, seen->position))
                p->more_left = true; /* found for another window */
            else if (seen->drawn && seen->column >= from && seen->column < edge)
                add(job, p, seen);
        }
        p->unresolved |= sweeps[s]->unresolved;
    }
    if (job->placing.many) {
        p->more_left |= job->left.at > order_first(job->order);
        p->more_right |= job->right.at < order_count(job->order);
    }
    for (uint32_t line = 1; line <= job->lines && !job->placing.many; line++) {
        const struct line *l = line_get(job->order, line);
        if (!row_of(job, line) || !line_has_kept(job->order, l))
            continue;
        p->more_left |= has_left(job, line);
        p->more_right |= l->last >= job->right.at && l->last >= job->cut[line - 1];
    }
    if (p->count)
        qsort(p->events, p->count, sizeof *p->events, by_position);
    (job->placing.many ? find_edges_of_many : find_edges)(job, p);
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
