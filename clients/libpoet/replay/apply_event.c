/* Replay of events: compares each recorded event with the thread's schedule and waits for its
 * turn. */
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/replay/schedule_mapping.h"
#include "clients/libpoet/replay/shared_schedule.h"
#include "clients/libpoet/replay/held_points.h"
#include "clients/libpoet/replay/perturbation.h"
#include "clients/libpoet/replay/replay_stops.h"
#include "clients/libpoet/replay/replay_ticket.h"

static bool apply_event_is_join(uint16_t type)
{
    return type == TYPE_JOIN || type == TYPE_TIMED_JOIN || type == TYPE_JOINED;
}

/* Returns whether the object of an event, 0: none, is known to be another line than in the
 * schedule. A thread that is joined and has no line is another one than a thread that has. */
static bool apply_event_is_other(struct traced_thread *t, const struct schedule_event *e,
                                 uint16_t type, uint32_t code)
{
    uint32_t is = schedule_map_code(e->about);
    if (apply_event_is_join(type) && !e->about)
        return schedule_map_line(code) != 0;
    if (!is || is == code || !(code || apply_event_is_join(type)))
        return false;
    const struct trace_line *line = code ? trace_line_by_code(t, code) : NULL;
    uint32_t as = line ? atomic_load_explicit(&line->script, memory_order_relaxed) : 0;
    return !line || !atomic_load(&line->remote) ||
           (as && as != e->about); /* it may have two codes */
}

/* Returns the one of the next few events that this is, or NULL. Events of one record are not
 * ordered; `left` of them have not happened. */
static const struct schedule_event *apply_event_match(struct thread_schedule *p, uint16_t type,
                                                      struct trace_line *line, unsigned left)
{
    for (unsigned i = 0, seen = 0; seen < left && p->next + i < p->count && i < 32; i++) {
        const struct schedule_event *e = &p->events[p->next + i];
        if (p->met >> i & 1)
            continue;
        seen++;
        if (!schedule_map_is_type(e, type) || !schedule_map_accept_line(line, e->line))
            continue;
        p->met |= 1u << i;
        return e;
    }
    return NULL;
}

static bool apply_event_is_first_of_line(const struct thread_schedule *p,
                                         const struct schedule_event *e)
{
    for (unsigned i = 0; i < p->now_count; i++)
        if (p->now[i]->line == e->line)
            return false;
    return true;
}

/* Matches an event and waits for its turn. Returns false if the schedule was abandoned. */
static bool apply_event_one(struct traced_thread *t, struct thread_schedule *p, uint16_t type,
                            struct trace_line *line, uint32_t about, unsigned left)
{
    const struct schedule_event *e = apply_event_match(p, type, line, left);
    /* beyond what was recorded */
    if (!e && !schedule_map_peek(p, 0))
        return true;
    if (!e || apply_event_is_other(t, e, type, about)) {
        schedule_map_diverge(p, type,
                             about || apply_event_is_join(type) ? schedule_map_line(about)
                                                                : atomic_load(&line->script));
        return false;
    }
    if (UNLIKELY(replay_stop_is_debugged()))
        replay_stop_reach(p->line, p->next, (uint64_t)(e - p->events), e != &p->events[p->next]);
    if (line != t->unshared_line && apply_event_is_first_of_line(p, e) &&
        !replay_ticket_wait(p->line, e->line, e->number - 1))
        return false;
    if (e->ticket && !replay_ticket_wait(p->line, e->about, e->ticket - 1))
        return false;
    p->now[p->now_count++] = e;
    return true;
}

static void apply_event_rest(struct traced_thread *t, const struct record *r)
{
    if (r->a != t->unshared_line)
        thread_schedule_wait_rest(t, thread_schedule_line(t, r->a));
    if (r->b)
        thread_schedule_wait_rest(t, thread_schedule_line(t, r->b));
}

static uint32_t apply_event_about(const struct record *r, const struct shape_step *step)
{
    return step->type_b                                 ? 0
           : step->flags & STEP_ABOUT_B && r->b != NULL ? atomic_load(&r->b->index)
                                                        : r->about;
}

/* Returns whether the next event is that one, and it need not wait. */
static inline bool apply_event_is_next(const struct traced_thread *t,
                                       const struct thread_schedule *p,
                                       const struct schedule_event *e, uint16_t type,
                                       const struct trace_line *line, uint32_t about)
{
    return p->next + p->now_count < p->count && schedule_map_is_type(e, type) &&
           atomic_load_explicit(&line->script, memory_order_relaxed) == e->line && !e->ticket &&
           !apply_event_is_join(type) && (!e->about || schedule_map_code(e->about) == about) &&
           (line == t->unshared_line || !apply_event_is_first_of_line(p, e) ||
            replay_ticket_is_reached(shared_schedule_line(e->line), e->number - 1));
}

/* Fast path: the record is the next events, in order, and it is their turn. Returns false if
 * nothing was done, and the events must be searched. */
static bool apply_event_may_continue(const struct traced_thread *t, struct thread_schedule *p,
                                     const struct record *r, const struct shape_step *steps,
                                     unsigned count)
{
    const struct schedule_event *e = &p->events[p->next];
    bool is = !p->met && !replay_stop_is_debugged();
    for (unsigned i = 0; is && i < count; i++) {
        if (steps[i].type_a && (is = apply_event_is_next(t, p, e, steps[i].type_a, r->a,
                                                         apply_event_about(r, &steps[i]))))
            p->now[p->now_count++] = e++;
        if (is && steps[i].type_b &&
            (is = apply_event_is_next(t, p, e, steps[i].type_b, r->b ? r->b : r->a, 0)))
            p->now[p->now_count++] = e++;
    }
    if (is)
        p->met = (1u << p->now_count) - 1;
    else
        p->now_count = 0;
    return is;
}

/* Searches for each event and waits for its turn. Returns false if the schedule was abandoned. */
static bool apply_event_all(struct traced_thread *t, struct thread_schedule *p,
                            const struct record *r, const struct shape_step *steps, unsigned count,
                            unsigned left)
{
    for (unsigned i = 0; i < count; i++)
        if ((steps[i].type_a && !apply_event_one(t, p, steps[i].type_a, r->a,
                                                 apply_event_about(r, &steps[i]), left--)) ||
            (steps[i].type_b &&
             !apply_event_one(t, p, steps[i].type_b, r->b ? r->b : r->a, 0, left--)))
            return false;
    return true;
}

void apply_event_before_record(struct traced_thread *t, const struct record *r)
{
    struct thread_schedule *p = schedule_map_thread(t);
    if (tracer.replay.has_hold_points)
        hold_point_before_event(t, r);
    if (tracer.replay.perturbs)
        perturbation_before_event();
    t->schedule.now_count = 0;
    if (!shared_schedule_is_active())
        return;
    if (!p || p->next == p->count)
        atomic_fetch_add_explicit(&tracer.replay.schedule->more, 1, memory_order_relaxed);
    if (p && p->next == p->count) {
        apply_event_rest(t, r);
        return;
    }
    struct shape_step steps[CODES_STEPS];
    unsigned count = type_code_steps(r->shape, steps), left = 0;
    for (unsigned i = 0; i < count; i++)
        left += !!steps[i].type_a + !!steps[i].type_b;
    if (!p) {
        t->schedule.before += left;
        t->schedule.records++;
        return;
    }
    if (UNLIKELY(!apply_event_may_continue(t, p, r, steps, count)) &&
        !apply_event_all(t, p, r, steps, count, left))
        return;
    if (r->answers && p->now_count &&
        p->now[0]->text != schedule_text_hash(r->payload, r->payload_bytes)) {
        schedule_map_diverge(p, r->shape, p->now[0]->line);
        return;
    }
    for (unsigned i = 0; i < p->now_count; i++)
        schedule_map_note_birth(p->now[i], r->key ? r->partner.number : 0);
}

/* On the same line, in the record that was made. */
static bool apply_event_is_followed_by_other(const struct thread_schedule *p, unsigned i)
{
    for (unsigned k = i + 1; k < p->now_count; k++)
        if (p->now[k]->line == p->now[i]->line)
            return true;
    return false;
}

static bool apply_event_is_foreign(const struct thread_schedule *p, const struct trace_line *line,
                                   uint64_t first)
{
    uint32_t as = atomic_load_explicit(&line->script, memory_order_relaxed), least = 0;
    for (unsigned i = 0; i < p->now_count; i++)
        if (p->now[i]->line == as && (!least || p->now[i]->number < least))
            least = p->now[i]->number;
    return least && least != first;
}

/* A thread without a schedule was on the line before: its turn had come, but its number was
 * taken. */
static void apply_event_leave_to_foreign(const struct thread_schedule *p,
                                         const struct trace_line *line, uint64_t first)
{
    shared_schedule_abandon(
        &(struct schedule_end){.why = SCHEDULE_END_FOREIGN_THREAD,
                               .thread = (uint32_t)(p->line - shared_schedule_line(0)),
                               .event = (uint64_t)(p->now[0] - p->events),
                               .line = atomic_load_explicit(&line->script, memory_order_relaxed),
                               .number = first < UINT32_MAX ? (uint32_t)first : UINT32_MAX});
}

/* Returns whether the numbers are those of the schedule. */
static bool apply_event_has_number(const struct thread_schedule *p, const struct record *r,
                                   uint64_t a, uint64_t b)
{
    if (apply_event_is_foreign(p, r->a, a))
        apply_event_leave_to_foreign(p, r->a, a);
    else if (r->b && r->take_b && apply_event_is_foreign(p, r->b, b))
        apply_event_leave_to_foreign(p, r->b, b);
    else
        return true;
    return false;
}

void apply_event_after_record(struct traced_thread *t, const struct record *r, uint64_t first_a,
                              uint64_t first_b)
{
    struct thread_schedule *p = schedule_map_thread(t);
    if (tracer.replay.has_hold_points)
        hold_point_after_event(t);
    uint32_t alone = t->unshared_line
                         ? atomic_load_explicit(&t->unshared_line->script, memory_order_relaxed)
                         : 0;
    if (!p || !apply_event_has_number(p, r, first_a, first_b))
        return;
    while (p->met & 1) {
        p->met >>= 1;
        p->next++;
    }
    atomic_store_explicit(&p->line->at, p->next, memory_order_relaxed);
    for (unsigned i = 0; i < p->now_count; i++) {
        const struct schedule_event *e = p->now[i];
        if (!apply_event_is_followed_by_other(p, i))
            replay_ticket_set_reached(e->line, e->number, e->line == alone);
        if (e->ticket)
            replay_ticket_set_reached(e->about, e->ticket, false);
    }
    p->now_count = 0;
    if (UNLIKELY(replay_stop_is_debugged()))
        replay_stop_done();
}
