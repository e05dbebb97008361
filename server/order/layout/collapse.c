#include "server/order/layout/collapse.h"

#include "base/map.h"
#include "server/order/log/log_block.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "wire/event_types.h"

struct collapse_visit { /* a critical section: of an object by a thread */
    uint64_t first, enter, last; /* positions on the thread's line */
    uint64_t entered, leave;     /* on the object's */
    uint64_t ordinal_thread, ordinal_object, events_thread, events_object;
    uint32_t thread, object, type;
};

uint32_t collapse_of(const struct collapse_state *folds, uint64_t position)
{
    return folds->marks.count ? (uint32_t)(uintptr_t)map_get(&folds->marks, position, 0) : 0;
}

uint64_t collapse_end(const struct collapse_state *folds, uint64_t position)
{
    return (uint64_t)(uintptr_t)map_get(&folds->ends, position, 0) - 1;
}

void collapse_free(struct collapse_state *folds)
{
    map_free(&folds->marks);
    map_free(&folds->ends);
}

static bool collapse_nth_event(const struct collapse_state *f, uint32_t line, uint64_t ordinal,
                               uint64_t *position, struct order_event *event)
{
    if (ordinal < order_line_first(f->order, line) || ordinal >= order_line_events(f->order, line))
        return false;
    *position = order_line_at(f->order, line, ordinal);
    if (*position == NO_POSITION)
        return false;
    *event = order_event(f->order, *position);
    return event->line == line;
}

static bool collapse_is_plain(const struct collapse_state *f, uint64_t position,
                              const struct order_event *e, int64_t time, uint32_t thread)
{
    const struct layout_params *p = f->placing;
    return e->state == EVENT_ORDERED && e->time_ns == time && e->thread == thread &&
           e->edge_count == 0 && !e->sends && !e->partner_lost && !e->after_gap &&
           !(p->has_text && p->has_text(p->context, (struct event_id){e->line, e->number})) &&
           position != NO_POSITION;
}

/* Gets the other event of a sync pair. */
static bool collapse_sync_partner(const struct collapse_state *f, uint64_t position,
                                  const struct order_event *e, uint64_t *other,
                                  struct order_event *event)
{
    if (e->relation != RELATION_SYNC || e->partner_lost)
        return false;
    *other = position == e->point ? position + 1 : e->point;
    if (*other >= order_count(f->order))
        return false;
    *event = order_event(f->order, *other);
    return event->point == e->point;
}

static bool is_single_row(const struct collapse_state *f, uint32_t line)
{
    return line && !(line & HIDDEN_LINE) && f->placing->row_of[line - 1] &&
           !f->placing->cluster[f->placing->row_of[line - 1] - 1];
}

/* Gets the critical section that begins at this ordinal of a thread's line, if there is one. */
static bool visit_at(const struct collapse_state *f, uint32_t thread, uint64_t ordinal,
                     struct collapse_visit *visit)
{
    uint64_t at = ordinal, first, enter, entered, left, leave;
    struct order_event e_first, e_enter, e_entered, e_left, e_leave;
    if (!collapse_nth_event(f, thread, at, &first, &e_first))
        return false;
    enter = first;
    e_enter = e_first;
    bool request = e_first.relation == RELATION_NONE && e_first.about;
    if (request && (!collapse_nth_event(f, thread, ++at, &enter, &e_enter) ||
                    !collapse_is_plain(f, first, &e_first, e_enter.time_ns, thread)))
        return false;
    if (!collapse_is_plain(f, enter, &e_enter, e_enter.time_ns, thread) ||
        !collapse_sync_partner(f, enter, &e_enter, &entered, &e_entered) ||
        (request && e_first.about != e_entered.line) ||
        !collapse_is_plain(f, entered, &e_entered, e_enter.time_ns, thread) ||
        !is_single_row(f, e_entered.line))
        return false;
    if (!collapse_nth_event(f, thread, ++at, &left, &e_left) ||
        !collapse_sync_partner(f, left, &e_left, &leave, &e_leave) ||
        e_leave.line != e_entered.line ||
        !collapse_is_plain(f, left, &e_left, e_left.time_ns, thread) ||
        !collapse_is_plain(f, leave, &e_leave, e_left.time_ns, thread))
        return false;
    uint64_t in = order_line_from(f->order, e_entered.line, entered);
    uint64_t out = order_line_from(f->order, e_entered.line, leave);
    if (out > in + 3)
        return false;
    for (uint64_t i = in + 1; i < out; i++) {
        uint64_t position;
        struct order_event inner;
        if (!collapse_nth_event(f, e_entered.line, i, &position, &inner) ||
            inner.relation != RELATION_NONE ||
            !collapse_is_plain(f, position, &inner, e_left.time_ns, thread))
            return false;
    }
    *visit = (struct collapse_visit){.first = first,
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

/* Are all events of the critical section on this side of the cut? */
static bool is_on_side(const struct collapse_state *f, const struct collapse_visit *v, bool left)
{
    uint64_t on_thread = f->cut[v->thread - 1], on_object = f->cut[v->object - 1];
    return left ? v->last < on_thread && v->leave < on_object
                : v->first >= on_thread && v->entered >= on_object;
}

static bool collapse_is_next(const struct collapse_visit *v, const struct collapse_visit *next)
{
    return next->object == v->object && next->events_thread == v->events_thread &&
           next->events_object == v->events_object && next->type == v->type &&
           next->ordinal_thread == v->ordinal_thread + v->events_thread &&
           next->ordinal_object == v->ordinal_object + v->events_object;
}

static void collapse_set_mark(struct collapse_state *f, uint64_t position, uint32_t value,
                              uint64_t end)
{
    map_put(&f->marks, position, 0, (void *)(uintptr_t)value);
    if (value > 1)
        map_put(&f->ends, position, 0, (void *)(uintptr_t)(end + 1));
}

static void mark_stretch(struct collapse_state *f, const struct collapse_visit *first,
                         const struct collapse_visit *last)
{
    uint32_t count =
        (uint32_t)((last->ordinal_thread - first->ordinal_thread) / first->events_thread) + 1;
    if (count < 2)
        return;
    for (uint64_t i = first->ordinal_thread; i < last->ordinal_thread + last->events_thread; i++)
        collapse_set_mark(f, order_line_at(f->order, first->thread, i), 1, 0);
    for (uint64_t i = first->ordinal_object; i < last->ordinal_object + last->events_object; i++)
        collapse_set_mark(f, order_line_at(f->order, first->object, i), 1, 0);
    collapse_set_mark(f, first->enter, count, last->last);
    collapse_set_mark(f, first->entered, count, last->leave);
}

static void collapse_scan_right(struct collapse_state *f, uint32_t line, uint64_t ordinal,
                                uint64_t position)
{
    struct collapse_visit first, last, next;
    if (!visit_at(f, line, ordinal, &first) || first.first != position ||
        !is_on_side(f, &first, false))
        return;
    last = first;
    while (visit_at(f, line, last.ordinal_thread + last.events_thread, &next) &&
           collapse_is_next(&last, &next))
        last = next;
    mark_stretch(f, &first, &last);
}

static void collapse_scan_left(struct collapse_state *f, uint32_t line, uint64_t ordinal,
                               uint64_t position)
{
    struct collapse_visit first = {0}, last, before;
    bool found = false;
    for (uint64_t events = 2; events <= 3 && !found; events++)
        found = ordinal + 1 >= events && visit_at(f, line, ordinal + 1 - events, &first) &&
                first.last == position && is_on_side(f, &first, true);
    if (!found)
        return;
    last = first;
    while (first.ordinal_thread >= first.events_thread &&
           visit_at(f, line, first.ordinal_thread - first.events_thread, &before) &&
           collapse_is_next(&before, &first))
        first = before;
    mark_stretch(f, &first, &last);
}

void collapse_scan(struct collapse_state *f, uint64_t position, bool left)
{
    uint32_t line = block_line_of(log_get(f->order, position, FIELD_LINE));
    if (collapse_of(f, position) || !is_single_row(f, line) ||
        log_get(f->order, position, FIELD_THREAD) != line)
        return;
    uint64_t ordinal = order_line_from(f->order, line, position);
    if (left)
        collapse_scan_left(f, line, ordinal, position);
    else
        collapse_scan_right(f, line, ordinal, position);
}
