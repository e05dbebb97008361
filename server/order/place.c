#include "server/order/place.h"

#include "server/order/inside.h"

#include <stdlib.h>
#include <string.h>

/* One sweep over the log, away from the anchor. */
struct sweep {
    const struct order *order;
    const struct placing *placing;
    struct placement *placement;
    uint64_t base;   /* position of column[0] */
    int32_t *column; /* by position - base (right) or base - 1 - position (left) */
    size_t room;
    int32_t *line, *hidden; /* newest column per line */
    uint32_t *folds;        /* by position - base: 0 none, 1 hidden in a fold, N its mark */
    uint64_t *fold_ends;
    size_t fold_room;
};

static bool is_shown(const struct placing *placing, uint32_t line)
{
    return !(line & HIDDEN_LINE) && placing->shown[line - 1];
}

static int32_t *newest(struct sweep *sweep, uint32_t line)
{
    return line & HIDDEN_LINE ? &sweep->hidden[(line & ~HIDDEN_LINE) - 1] : &sweep->line[line - 1];
}

/* ---- folding ---- */

struct visit { /* positions of one uncontended visit of an object */
    uint64_t first, enter, last; /* on the thread's line */
    uint64_t entered, leave;     /* on the object's */
    uint64_t ordinal_thread, ordinal_object, events_thread, events_object;
    uint32_t thread, object;
};

static const struct event *nth(const struct order *order, uint32_t line, uint64_t ordinal)
{
    return ordinal >= order_line_first(order, line) && ordinal < order_line_events(order, line)
               ? order_event(order, order_line_at(order, line, ordinal))
               : NULL;
}

static uint64_t position_of(const struct order *order, const struct event *event)
{
    return order_position(order, (struct ref){event->line, event->number});
}

static bool plain(const struct sweep *sweep, const struct event *e, int64_t time, uint32_t thread)
{
    const struct placing *p = sweep->placing;
    return e && e->state == EVENT_ORDERED && e->time_ns == time && e->thread == thread &&
           e->edge_count == 0 && !e->receives && !e->partner_lost &&
           !(p->has_text && p->has_text(p->context, (struct ref){e->line, e->number}));
}

/* The other end of a sync pair. */
static const struct event *mate(const struct order *order, const struct event *e)
{
    if (!e || e->relation != RELATION_SYNC || e->partner_lost)
        return NULL;
    uint64_t position = position_of(order, e);
    return order_event(order, position == e->point ? position + 1 : e->point);
}

/* Is there a visit that begins at this ordinal of a thread's line?  In: perhaps a
 * petition at the same time, a pair; inside: events at the time of one of the pairs; out: a
 * pair back.  Nothing of it may have blocked, which its equal times show. */
static bool visit_at(const struct sweep *sweep, uint32_t thread, uint64_t ordinal,
                     struct visit *visit)
{
    const struct order *order = sweep->order;
    uint64_t at = ordinal;
    const struct event *first = nth(order, thread, at), *enter = first, *entered;
    if (first && first->relation == RELATION_NONE && first->about) {
        enter = nth(order, thread, ++at);
        if (!enter || !plain(sweep, first, enter->time_ns, thread))
            return false;
    }
    if (!enter || !plain(sweep, enter, enter->time_ns, thread) || !(entered = mate(order, enter)) ||
        (entered->line & HIDDEN_LINE) || (first != enter && first->about != entered->line) ||
        !plain(sweep, entered, enter->time_ns, thread) || !is_shown(sweep->placing, entered->line))
        return false;
    const struct event *left = nth(order, thread, ++at), *leave = mate(order, left);
    if (!leave || leave->line != entered->line || !plain(sweep, left, left->time_ns, thread) ||
        !plain(sweep, leave, left->time_ns, thread))
        return false;
    uint64_t in = order_line_from(order, entered->line, position_of(order, entered));
    uint64_t out = order_line_from(order, entered->line, position_of(order, leave));
    if (out > in + 3)
        return false;
    for (uint64_t i = in + 1; i < out; i++) {
        const struct event *inner = nth(order, entered->line, i);
        if (!plain(sweep, inner, left->time_ns, thread) || inner->relation != RELATION_NONE)
            return false;
    }
    *visit = (struct visit){.first = position_of(order, first),
                            .enter = position_of(order, enter),
                            .last = position_of(order, left),
                            .entered = position_of(order, entered),
                            .leave = position_of(order, leave),
                            .ordinal_thread = ordinal,
                            .ordinal_object = in,
                            .events_thread = at - ordinal + 1,
                            .events_object = out - in + 1,
                            .thread = thread,
                            .object = entered->line};
    return true;
}

static bool fold_mark(struct sweep *sweep, uint64_t position, uint32_t value, uint64_t end)
{
    if (position < sweep->base)
        return true;
    size_t i = position - sweep->base;
    if (i >= sweep->fold_room) {
        size_t room = sweep->fold_room ? sweep->fold_room : 1024;
        while (room <= i)
            room *= 2;
        uint32_t *folds = realloc(sweep->folds, room * sizeof *folds);
        if (!folds)
            return false;
        memset(folds + sweep->fold_room, 0, (room - sweep->fold_room) * sizeof *folds);
        sweep->folds = folds;
        uint64_t *ends = realloc(sweep->fold_ends, room * sizeof *ends);
        if (!ends)
            return false;
        sweep->fold_ends = ends;
        sweep->fold_room = room;
    }
    sweep->folds[i] = value;
    sweep->fold_ends[i] = end;
    return true;
}

static uint32_t fold_of(const struct sweep *sweep, uint64_t position)
{
    uint64_t i = position - sweep->base;
    return position >= sweep->base && i < sweep->fold_room ? sweep->folds[i] : 0;
}

/* Folds the stretch that begins with the visit, if it has two visits or more. */
static bool fold_stretch(struct sweep *sweep, const struct visit *first)
{
    struct visit visit = *first, next;
    uint32_t count = 1;
    while (visit_at(sweep, first->thread, visit.ordinal_thread + visit.events_thread, &next) &&
           next.object == visit.object && next.events_thread == visit.events_thread &&
           next.events_object == visit.events_object &&
           next.ordinal_object == visit.ordinal_object + visit.events_object &&
           order_event(sweep->order, next.entered + 0)->type ==
               order_event(sweep->order, visit.entered)->type) {
        visit = next;
        count++;
    }
    if (count < 2)
        return true;
    bool ok = true;
    uint64_t end_thread = visit.ordinal_thread + visit.events_thread;
    uint64_t end_object = visit.ordinal_object + visit.events_object;
    for (uint64_t i = first->ordinal_thread; ok && i < end_thread; i++)
        ok = fold_mark(sweep, order_line_at(sweep->order, first->thread, i), 1, 0);
    for (uint64_t i = first->ordinal_object; ok && i < end_object; i++)
        ok = fold_mark(sweep, order_line_at(sweep->order, first->object, i), 1, 0);
    return ok && fold_mark(sweep, first->enter, count, visit.last) &&
           fold_mark(sweep, first->entered, count, visit.leave);
}

static bool try_fold(struct sweep *sweep, uint64_t position)
{
    const struct event *e = order_event(sweep->order, position);
    struct visit visit;
    if (!sweep->placing->fold || fold_of(sweep, position) || !is_shown(sweep->placing, e->line) ||
        e->thread != e->line)
        return true;
    uint64_t ordinal = order_line_from(sweep->order, e->line, position);
    return !visit_at(sweep, e->line, ordinal, &visit) || visit.first != position ||
           fold_stretch(sweep, &visit);
}

/* ---- sweeping ---- */

static bool sweep_begin(struct sweep *sweep, const struct order *order,
                        const struct placing *placing, struct placement *placement)
{
    size_t lines = order_lines(order), hidden = order_hidden_lines(order);
    *sweep = (struct sweep){.order = order, .placing = placing, .placement = placement,
                            .base = placing->anchor};
    sweep->line = malloc((lines + 1) * sizeof *sweep->line);
    sweep->hidden = malloc((hidden + 1) * sizeof *sweep->hidden);
    for (size_t i = 0; sweep->line && i < lines; i++)
        sweep->line[i] = -1;
    for (size_t i = 0; sweep->hidden && i < hidden; i++)
        sweep->hidden[i] = -1;
    return sweep->line && sweep->hidden;
}

static void sweep_end(struct sweep *sweep)
{
    free(sweep->line);
    free(sweep->hidden);
    free(sweep->column);
    free(sweep->folds);
    free(sweep->fold_ends);
}

static bool reserve(struct sweep *sweep, size_t index)
{
    if (index < sweep->room)
        return true;
    size_t room = sweep->room ? sweep->room * 2 : 4096;
    while (room <= index)
        room *= 2;
    int32_t *column = realloc(sweep->column, room * sizeof *column);
    if (!column)
        return false;
    sweep->column = column;
    sweep->room = room;
    return true;
}

static bool add(struct sweep *sweep, uint64_t position, int32_t column)
{
    struct placement *p = sweep->placement;
    if (p->count == p->room) {
        size_t room = p->room ? p->room * 2 : 256;
        struct placed *events = realloc(p->events, room * sizeof *events);
        if (!events)
            return false;
        p->events = events;
        p->room = room;
    }
    uint32_t fold = fold_of(sweep, position);
    p->events[p->count++] = (struct placed){
        position, column, fold, fold ? sweep->fold_ends[position - sweep->base] : 0};
    p->first = column < p->first ? column : p->first;
    p->last = column > p->last ? column : p->last;
    return true;
}

static bool takes_room(const struct sweep *sweep, uint64_t begin, uint64_t end)
{
    for (uint64_t p = begin; p <= end; p++)
        if (is_shown(sweep->placing, order_event(sweep->order, p)->line) && fold_of(sweep, p) != 1)
            return true;
    return false;
}

/* Rows that may still get an event left of `edge`. */
static size_t open_rows(const struct sweep *sweep, uint64_t position)
{
    size_t open = 0;
    for (uint32_t line = 1; line <= order_lines(sweep->order); line++) {
        uint64_t n = order_line_events(sweep->order, line);
        if (sweep->placing->shown[line - 1] && n > order_line_first(sweep->order, line) &&
            order_line_at(sweep->order, line, n - 1) >= position)
            open++;
    }
    return open;
}

static bool is_last(const struct sweep *sweep, const struct event *e, uint64_t position)
{
    uint64_t n = order_line_events(sweep->order, e->line);
    return order_line_at(sweep->order, e->line, n - 1) == position;
}

static bool sweep_right(struct sweep *sweep)
{
    const struct order *order = sweep->order;
    int32_t edge = sweep->placing->from + (int32_t)sweep->placing->columns;
    uint64_t count = order_count(order);
    size_t open = open_rows(sweep, sweep->base);
    if (edge <= 0) {
        sweep->placement->more_right |= open > 0;
        return true;
    }
    for (uint64_t begin = sweep->base, end; begin < count && open; begin = end + 1) {
        end = order_point_end(order, begin);
        int32_t column = -1;
        if (!reserve(sweep, end - sweep->base))
            return false;
        for (uint64_t p = begin; p <= end; p++) {
            const struct event *e = order_event(order, p);
            const uint64_t *edges = order_edges(order, e);
            if (!try_fold(sweep, p))
                return false;
            if (*newest(sweep, e->line) > column)
                column = *newest(sweep, e->line);
            for (uint32_t i = 0; i < e->edge_count; i++)
                if (edges[i] >= sweep->base && sweep->column[edges[i] - sweep->base] > column)
                    column = sweep->column[edges[i] - sweep->base];
        }
        column += takes_room(sweep, begin, end);
        for (uint64_t p = begin; p <= end; p++) {
            const struct event *e = order_event(order, p);
            int32_t *line = newest(sweep, e->line), before = *line;
            sweep->column[p - sweep->base] = *line = column;
            if (!is_shown(sweep->placing, e->line))
                continue;
            if (column < sweep->placing->from)
                sweep->placement->before[e->line - 1] = order_line_from(order, e->line, p) + 1;
            if (column >= edge) {
                sweep->placement->more_right = true;
                open -= before < edge;
                continue;
            }
            if (column >= sweep->placing->from && fold_of(sweep, p) != 1 && !add(sweep, p, column))
                return false;
            open -= is_last(sweep, e, p);
        }
    }
    return true;
}

static bool sweep_left(struct sweep *sweep)
{
    const struct order *order = sweep->order;
    int32_t edge = -sweep->placing->from; /* this far left, counted from 1 */
    if (sweep->base <= order_first(order))
        return true;
    size_t open = 0;
    for (uint32_t line = 1; line <= order_lines(order); line++)
        open += sweep->placing->shown[line - 1] && order_line_from(order, line, sweep->base) > order_line_first(order, line);
    if (edge <= 0) {
        sweep->placement->more_left |= open > 0;
        return true;
    }
    for (uint32_t i = 0; i < order_lines(order); i++)
        sweep->line[i] = 0;
    for (uint32_t i = 0; i < order_hidden_lines(order); i++)
        sweep->hidden[i] = 0;
    int32_t right = sweep->placing->from + (int32_t)sweep->placing->columns; /* exclusive */
    uint64_t base = sweep->base;
    size_t known = 0; /* how much of column[] holds anything: what is pushed to causes */
    for (uint64_t end = base - 1; open; end--) {
        uint64_t begin = order_event(order, end)->point;
        int32_t column = 0;
        for (uint64_t p = begin; p <= end; p++) {
            const struct event *e = order_event(order, p);
            if (*newest(sweep, e->line) > column)
                column = *newest(sweep, e->line);
            if (base - 1 - p < known && sweep->column[base - 1 - p] > column)
                column = sweep->column[base - 1 - p];
        }
        column += takes_room(sweep, begin, end);
        for (uint64_t p = begin; p <= end; p++) {
            const struct event *e = order_event(order, p);
            const uint64_t *edges = order_edges(order, e);
            int32_t before = *newest(sweep, e->line);
            *newest(sweep, e->line) = column;
            for (uint32_t i = 0; i < e->edge_count; i++) {
                size_t index = base - 1 - edges[i];
                if (edges[i] < order_first(order))
                    continue;
                if (!reserve(sweep, index))
                    return false;
                while (known <= index)
                    sweep->column[known++] = 0;
                if (sweep->column[index] < column)
                    sweep->column[index] = column;
            }
            if (!is_shown(sweep->placing, e->line))
                continue;
            if (column > edge) {
                sweep->placement->more_left = true;
                open -= before <= edge;
                continue;
            }
            uint64_t ordinal = order_line_from(order, e->line, p);
            if (-column < right) {
                if (!add(sweep, p, -column))
                    return false;
            } else {
                sweep->placement->more_right = true;
            }
            sweep->placement->before[e->line - 1] = ordinal;
            open -= ordinal == order_line_first(order, e->line);
        }
        if (begin <= order_first(order))
            break;
        end = begin;
    }
    return true;
}

static int by_position(const void *a, const void *b)
{
    uint64_t pa = ((const struct placed *)a)->position, pb = ((const struct placed *)b)->position;
    return pa < pb ? -1 : pa > pb;
}

bool place(const struct order *order, const struct placing *placing, struct placement *placement)
{
    struct sweep sweep;
    uint32_t lines = order_lines(order);
    *placement = (struct placement){.first = INT32_MAX, .last = INT32_MIN};
    placement->before = calloc(lines + 1, sizeof *placement->before);
    if (!placement->before)
        return false;
    for (uint32_t line = 1; line <= lines; line++)
        placement->before[line - 1] = order_line_from(order, line, placing->anchor);
    bool ok = sweep_begin(&sweep, order, placing, placement) && sweep_left(&sweep);
    sweep_end(&sweep);
    ok = sweep_begin(&sweep, order, placing, placement) && ok && sweep_right(&sweep);
    sweep_end(&sweep);
    if (!ok)
        placement_free(placement);
    else if (placement->count)
        qsort(placement->events, placement->count, sizeof *placement->events, by_position);
    return ok;
}

void placement_free(struct placement *placement)
{
    free(placement->events);
    free(placement->before);
    *placement = (struct placement){0};
}
