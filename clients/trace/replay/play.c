/* What is done, event by event. */
#include "clients/trace/core/codes.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/replay/cast.h"
#include "clients/trace/replay/script.h"
#include "clients/trace/replay/steer.h"
#include "clients/trace/replay/stop.h"
#include "clients/trace/replay/turn.h"

static bool is_join(uint16_t type)
{
    return type == TYPE_JOIN || type == TYPE_TIMED_JOIN || type == TYPE_JOINED;
}

/* What an event is about, 0: nothing, is known to be another line than in the script.  A thread that is joined and has
 * no line is another one than a thread that has. */
static bool is_another(struct thread *t, const struct script_event *e, uint16_t type, uint32_t code)
{
    uint32_t is = cast_code(e->about);
    if (is_join(type) && !e->about)
        return cast_line(code) != 0;
    if (!is || is == code || !(code || is_join(type)))
        return false;
    const struct line *line = code ? line_by_code(t, code) : NULL;
    uint32_t as = line ? atomic_load_explicit(&line->script, memory_order_relaxed) : 0;
    return !line || !atomic_load(&line->far) || (as && as != e->about); /* it may have two codes */
}

/* That one of the next few which it is, NULL: none.  Those of one record are in no order; `left` of it are not met. */
static const struct script_event *meet(struct part *p, uint16_t type, struct line *line,
                                       unsigned left)
{
    for (unsigned i = 0, seen = 0; seen < left && p->next + i < p->count && i < 32; i++) {
        const struct script_event *e = &p->events[p->next + i];
        if (p->met >> i & 1)
            continue;
        seen++;
        if (!cast_is(e, type) || !cast_takes(line, e->line))
            continue;
        p->met |= 1u << i;
        return e;
    }
    return NULL;
}

static bool is_first_of_its_line(const struct part *p, const struct script_event *e)
{
    for (unsigned i = 0; i < p->now_count; i++)
        if (p->now[i]->line == e->line)
            return false;
    return true;
}

/* Met, and its turn; false: the script is left. */
static bool play(struct thread *t, struct part *p, uint16_t type, struct line *line, uint32_t about,
                 unsigned left)
{
    const struct script_event *e = meet(p, type, line, left);
    if (!e && !cast_ahead(p, 0))
        return true; /* more than was recorded */
    if (!e || is_another(t, e, type, about)) {
        cast_differ(p, type,
                    about || is_join(type) ? cast_line(about) : atomic_load(&line->script));
        return false;
    }
    if (!LIKELY(!stop_debugged()))
        stop_come(p->line, p->next, (uint64_t)(e - p->events), e != &p->events[p->next]);
    if (line != t->alone && is_first_of_its_line(p, e) &&
        !turn_wait(p->line, e->line, e->number - 1))
        return false;
    if (e->ticket && !turn_wait(p->line, e->about, e->ticket - 1))
        return false;
    p->now[p->now_count++] = e;
    return true;
}

static void play_rest(struct thread *t, const struct record *r)
{
    if (r->a != t->alone)
        part_await_rest(t, part_line(t, r->a));
    if (r->b)
        part_await_rest(t, part_line(t, r->b));
}

static uint32_t about_of(const struct record *r, const struct step *step)
{
    return step->type_b                                 ? 0
           : step->flags & STEP_ABOUT_B && r->b != NULL ? atomic_load(&r->b->index)
                                                        : r->about;
}

/* The next event is that one, and nothing keeps it. */
static inline bool is_next(const struct thread *t, const struct part *p,
                           const struct script_event *e, uint16_t type, const struct line *line,
                           uint32_t about)
{
    return p->next + p->now_count < p->count && cast_is(e, type) &&
           atomic_load_explicit(&line->script, memory_order_relaxed) == e->line && !e->ticket &&
           !is_join(type) && (!e->about || cast_code(e->about) == about) &&
           (line == t->alone || !is_first_of_its_line(p, e) ||
            turn_has_come(script_line(e->line), e->number - 1));
}

/* The record is the next events, one after the other, and it is their turn: so it is nearly always.  False: nothing was
 * done, it has to be looked for. */
static bool goes_on(const struct thread *t, struct part *p, const struct record *r,
                    const struct step *steps, unsigned count)
{
    const struct script_event *e = &p->events[p->next];
    bool is = !p->met && !stop_debugged();
    for (unsigned i = 0; is && i < count; i++) {
        if (steps[i].type_a &&
            (is = is_next(t, p, e, steps[i].type_a, r->a, about_of(r, &steps[i]))))
            p->now[p->now_count++] = e++;
        if (is && steps[i].type_b &&
            (is = is_next(t, p, e, steps[i].type_b, r->b ? r->b : r->a, 0)))
            p->now[p->now_count++] = e++;
    }
    if (is)
        p->met = (1u << p->now_count) - 1;
    else
        p->now_count = 0;
    return is;
}

/* Looked for one by one, each awaited; false: the script is left. */
static bool play_all(struct thread *t, struct part *p, const struct record *r,
                     const struct step *steps, unsigned count, unsigned left)
{
    for (unsigned i = 0; i < count; i++)
        if ((steps[i].type_a &&
             !play(t, p, steps[i].type_a, r->a, about_of(r, &steps[i]), left--)) ||
            (steps[i].type_b && !play(t, p, steps[i].type_b, r->b ? r->b : r->a, 0, left--)))
            return false;
    return true;
}

void part_meet(struct thread *t, const struct record *r)
{
    struct part *p = cast_part(t);
    if (steers)
        steer_meet(t, r);
    t->part.now_count = 0;
    if (!script_plays())
        return;
    if (!p || p->next == p->count)
        atomic_fetch_add_explicit(&script->more, 1, memory_order_relaxed);
    if (p && p->next == p->count) {
        play_rest(t, r);
        return;
    }
    struct step steps[CODES_STEPS];
    unsigned count = codes_steps(r->shape, steps), left = 0;
    for (unsigned i = 0; i < count; i++)
        left += !!steps[i].type_a + !!steps[i].type_b;
    if (!p) {
        t->part.before += left;
        t->part.records++;
        return;
    }
    if (!LIKELY(goes_on(t, p, r, steps, count)) && !play_all(t, p, r, steps, count, left))
        return;
    if (r->answers && p->now_count &&
        p->now[0]->text != script_text(r->payload, r->payload_bytes)) {
        cast_differ(p, r->shape, p->now[0]->line);
        return;
    }
    for (unsigned i = 0; i < p->now_count; i++)
        cast_birth(p->now[i], r->key ? r->partner.number : 0);
}

/* On the same line, in the record that was made. */
static bool is_followed_by_another(const struct part *p, unsigned i)
{
    for (unsigned k = i + 1; k < p->now_count; k++)
        if (p->now[k]->line == p->now[i]->line)
            return true;
    return false;
}

static bool is_strange(const struct part *p, const struct line *line, uint64_t first)
{
    uint32_t as = atomic_load_explicit(&line->script, memory_order_relaxed), least = 0;
    for (unsigned i = 0; i < p->now_count; i++)
        if (p->now[i]->line == as && (!least || p->now[i]->number < least))
            least = p->now[i]->number;
    return least && least != first;
}

/* Somebody without a part was on the line before: its turn had come, but its number was taken. */
static void leave_to_stranger(const struct part *p, const struct line *line, uint64_t first)
{
    script_leave(
        &(struct script_end){.why = SCRIPT_STRANGER,
                             .thread = (uint32_t)(p->line - script_line(0)),
                             .event = (uint64_t)(p->now[0] - p->events),
                             .line = atomic_load_explicit(&line->script, memory_order_relaxed),
                             .number = first < UINT32_MAX ? (uint32_t)first : UINT32_MAX});
}

/* Whether the numbers are those of the script. */
static bool has_taken(const struct part *p, const struct record *r, uint64_t a, uint64_t b)
{
    if (is_strange(p, r->a, a))
        leave_to_stranger(p, r->a, a);
    else if (r->b && r->take_b && is_strange(p, r->b, b))
        leave_to_stranger(p, r->b, b);
    else
        return true;
    return false;
}

void part_met(struct thread *t, const struct record *r, uint64_t first_a, uint64_t first_b)
{
    struct part *p = cast_part(t);
    if (steers)
        steer_met();
    uint32_t alone = t->alone ? atomic_load_explicit(&t->alone->script, memory_order_relaxed) : 0;
    if (!p || !has_taken(p, r, first_a, first_b))
        return;
    while (p->met & 1) {
        p->met >>= 1;
        p->next++;
    }
    atomic_store_explicit(&p->line->at, p->next, memory_order_relaxed);
    for (unsigned i = 0; i < p->now_count; i++) {
        const struct script_event *e = p->now[i];
        if (!is_followed_by_another(p, i))
            turn_come(e->line, e->number, e->line == alone);
        if (e->ticket)
            turn_come(e->about, e->ticket, false);
    }
    p->now_count = 0;
    if (!LIKELY(!stop_debugged()))
        stop_done();
}
