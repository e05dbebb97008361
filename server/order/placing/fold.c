#include "server/order/placing/fold.h"

#include "memory/map.h"
#include "server/order/log/block.h"
#include "server/order/log/log.h"
#include "server/order/order.h"
#include "wire/event.h"

struct visit { /* of an object by a thread */
    uint64_t first, enter, last; /* positions on the thread's line */
    uint64_t entered, leave;     /* on the object's */
    uint64_t ordinal_thread, ordinal_object, events_thread, events_object;
    uint32_t thread, object, type;
};

uint32_t fold_of(const struct folds *folds, uint64_t position)
{
    return folds->marks.count ? (uint32_t)(uintptr_t)map_get(&folds->marks, position, 0) : 0;
}

uint64_t fold_end(const struct folds *folds, uint64_t position)
{
    return (uint64_t)(uintptr_t)map_get(&folds->ends, position, 0) - 1;
}

void folds_free(struct folds *folds)
{
    map_free(&folds->marks);
    map_free(&folds->ends);
}

static bool nth(const struct folds *f, uint32_t line, uint64_t ordinal, uint64_t *position,
                struct event *event)
{
    if (ordinal < order_line_first(f->order, line) || ordinal >= order_line_events(f->order, line))
        return false;
    *position = order_line_at(f->order, line, ordinal);
    if (*position == NO_POSITION)
        return false;
    *event = order_event(f->order, *position);
    return event->line == line;
}

static bool plain(const struct folds *f, uint64_t position, const struct event *e, int64_t time,
                  uint32_t thread)
{
    const struct placing *p = f->placing;
    return e->state == EVENT_ORDERED && e->time_ns == time && e->thread == thread &&
           e->edge_count == 0 && !e->sends && !e->partner_lost && !e->after_gap &&
           !(p->has_text && p->has_text(p->context, (struct ref){e->line, e->number})) &&
           position != NO_POSITION;
}

/* The other end of a sync pair. */
static bool mate(const struct folds *f, uint64_t position, const struct event *e, uint64_t *other,
                 struct event *event)
{
    if (e->relation != RELATION_SYNC || e->partner_lost)
        return false;
    *other = position == e->point ? position + 1 : e->point;
    if (*other >= order_count(f->order))
        return false;
    *event = order_event(f->order, *other);
    return event->point == e->point;
}

static bool is_single_row(const struct folds *f, uint32_t line)
{
    return line && !(line & HIDDEN_LINE) && f->placing->row_of[line - 1] &&
           !f->placing->cluster[f->placing->row_of[line - 1] - 1];
}

/* Is there a visit that begins at this ordinal of a thread's line? */
static bool visit_at(const struct folds *f, uint32_t thread, uint64_t ordinal, struct visit *visit)
{
    uint64_t at = ordinal, first, enter, entered, left, leave;
    struct event e_first, e_enter, e_entered, e_left, e_leave;
    if (!nth(f, thread, at, &first, &e_first))
        return false;
    enter = first;
    e_enter = e_first;
    bool petition = e_first.relation == RELATION_NONE && e_first.about;
    if (petition && (!nth(f, thread, ++at, &enter, &e_enter) ||
                     !plain(f, first, &e_first, e_enter.time_ns, thread)))
        return false;
    if (!plain(f, enter, &e_enter, e_enter.time_ns, thread) ||
        !mate(f, enter, &e_enter, &entered, &e_entered) ||
        (petition && e_first.about != e_entered.line) ||
        !plain(f, entered, &e_entered, e_enter.time_ns, thread) ||
        !is_single_row(f, e_entered.line))
        return false;
    if (!nth(f, thread, ++at, &left, &e_left) || !mate(f, left, &e_left, &leave, &e_leave) ||
        e_leave.line != e_entered.line || !plain(f, left, &e_left, e_left.time_ns, thread) ||
        !plain(f, leave, &e_leave, e_left.time_ns, thread))
        return false;
    uint64_t in = order_line_from(f->order, e_entered.line, entered);
    uint64_t out = order_line_from(f->order, e_entered.line, leave);
    if (out > in + 3)
        return false;
    for (uint64_t i = in + 1; i < out; i++) {
        uint64_t position;
        struct event inner;
        if (!nth(f, e_entered.line, i, &position, &inner) || inner.relation != RELATION_NONE ||
            !plain(f, position, &inner, e_left.time_ns, thread))
            return false;
    }
    *visit = (struct visit){.first = first,
                            .enter = enter,
                            .last = left,
                            .entered = entered,
                            .leave = leave,
                            .ordinal_thread = ordinal,
                            .ordinal_object = in,
                            .events_thread = at - ordinal + 1,
                            .events_object = out - in + 1,
                            .thread = thread,
                            .object = e_entered.line,
                            .type = e_entered.type};
    return true;
}

/* On one side of the cut, with all its events. */
static bool is_on_side(const struct folds *f, const struct visit *v, bool left)
{
    uint64_t on_thread = f->cut[v->thread - 1], on_object = f->cut[v->object - 1];
    return left ? v->last < on_thread && v->leave < on_object
                : v->first >= on_thread && v->entered >= on_object;
}

static bool follows(const struct visit *v, const struct visit *next)
{
    return next->object == v->object && next->events_thread == v->events_thread &&
           next->events_object == v->events_object && next->type == v->type &&
           next->ordinal_thread == v->ordinal_thread + v->events_thread &&
           next->ordinal_object == v->ordinal_object + v->events_object;
}

static void mark(struct folds *f, uint64_t position, uint32_t value, uint64_t end)
{
    map_put(&f->marks, position, 0, (void *)(uintptr_t)value);
    if (value > 1)
        map_put(&f->ends, position, 0, (void *)(uintptr_t)(end + 1));
}

static void mark_stretch(struct folds *f, const struct visit *first, const struct visit *last)
{
    uint32_t count =
        (uint32_t)((last->ordinal_thread - first->ordinal_thread) / first->events_thread) + 1;
    if (count < 2)
        return;
    for (uint64_t i = first->ordinal_thread; i < last->ordinal_thread + last->events_thread; i++)
        mark(f, order_line_at(f->order, first->thread, i), 1, 0);
    for (uint64_t i = first->ordinal_object; i < last->ordinal_object + last->events_object; i++)
        mark(f, order_line_at(f->order, first->object, i), 1, 0);
    mark(f, first->enter, count, last->last);
    mark(f, first->entered, count, last->leave);
}

static void look_right(struct folds *f, uint32_t line, uint64_t ordinal, uint64_t position)
{
    struct visit first, last, next;
    if (!visit_at(f, line, ordinal, &first) || first.first != position ||
        !is_on_side(f, &first, false))
        return;
    last = first;
    while (visit_at(f, line, last.ordinal_thread + last.events_thread, &next) &&
           follows(&last, &next))
        last = next;
    mark_stretch(f, &first, &last);
}

static void look_left(struct folds *f, uint32_t line, uint64_t ordinal, uint64_t position)
{
    struct visit first = {0}, last, before;
    bool found = false;
    for (uint64_t events = 2; events <= 3 && !found; events++)
        found = ordinal + 1 >= events && visit_at(f, line, ordinal + 1 - events, &first) &&
                first.last == position && is_on_side(f, &first, true);
    if (!found)
        return;
    last = first;
    while (first.ordinal_thread >= first.events_thread &&
           visit_at(f, line, first.ordinal_thread - first.events_thread, &before) &&
           follows(&before, &first))
        first = before;
    mark_stretch(f, &first, &last);
}

void fold_look(struct folds *f, uint64_t position, bool left)
{
    uint32_t line = block_line_of(log_get(f->order, position, FIELD_LINE));
    if (fold_of(f, position) || !is_single_row(f, line) ||
        log_get(f->order, position, FIELD_THREAD) != line)
        return;
    uint64_t ordinal = order_line_from(f->order, line, position);
    if (left)
        look_left(f, line, ordinal, position);
    else
        look_right(f, line, ordinal, position);
}
