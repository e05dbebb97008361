#define _GNU_SOURCE
#include "clients/trace/replay/part.h"

#include "clients/trace/core/environ.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/say.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/replay/reading.h"
#include "clients/trace/replay/script.h"
#include "clients/trace/replay/steer.h"
#include "clients/trace/replay/stop.h"
#include "clients/trace/replay/turn.h"
#include "wire/limits.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool replays;

/* ---- types ---- */

static uint16_t type_of[TYPE_COUNT]; /* of the script, by ours */
static uint8_t code_of[LIMIT_TYPES]; /* ours, by those of the script */

static const char *script_name(uint16_t type)
{
    return (const char *)script + script->types_at + type * SCRIPT_NAME_BYTES;
}

static uint16_t find_type(const char *name)
{
    for (uint32_t i = 0; name && i < script->type_count; i++)
        if (strncmp(script_name((uint16_t)i), name, SCRIPT_NAME_BYTES - 1) == 0)
            return (uint16_t)i;
    return SCRIPT_NO_TYPE;
}

static bool is_type(const struct script_event *e, uint16_t type)
{
    return e->type == (type < TYPE_COUNT ? type_of[type] : find_type(codes_name(type)));
}

/* ---- lines ---- */

static uint64_t serial; /* of this process */

static void count_process(void) { serial = atomic_fetch_add(&script->processes, 1) + 1; }

static uint64_t here(uint32_t code) { return serial << 32 | code; }

/* The code of a line in this process; 0: it has none here, as far as is known. */
static uint32_t code_of_line(uint32_t as)
{
    uint64_t bound = as ? atomic_load(&script_line(as)->bound) : 0;
    return bound >> 32 == serial ? (uint32_t)bound : 0;
}

/* A line of this run is the one of the script; false: it is another one. */
static bool be(struct line *line, uint32_t as)
{
    uint32_t is = atomic_load_explicit(&line->script, memory_order_relaxed);
    if (LIKELY(is))
        return is == as;
    uint64_t me = here(atomic_load_explicit(&line->index, memory_order_relaxed)), nobody = 0;
    struct script_line *of = script_line(as);
    bool ours = atomic_compare_exchange_strong(&of->bound, &nobody, me) || nobody == me;
    if (!ours && !atomic_load(&line->far)) /* of several processes: another one was there first */
        return false;
    atomic_store_explicit(&line->script, as, memory_order_relaxed);
    return true;
}

/* ---- the part of a thread ---- */

/* One that was not created by a recorded call is known by its name; of several the one that began first. */
static uint32_t find_stranger(const struct thread *t, uint16_t named)
{
    const uint32_t *order = (const void *)((const char *)script + script->order_at);
    for (uint64_t i = 0; i < script->event_count; i++) {
        const struct script_line *line = script_line(order[i]);
        if (line->named == named && !atomic_load(&line->bound) && be(t->own, order[i]))
            return order[i];
    }
    return 0;
}

/* Of the thread that forks: the thread that the child is.  Of a program that was executed: found by who claimed it. */
static __thread uint32_t born __attribute__((tls_model("initial-exec")));

static uint32_t find_claimed(void)
{
    uint32_t me = (uint32_t)getpid();
    for (uint32_t i = 1; i <= script->line_count; i++)
        if (atomic_load_explicit(&script_line(i)->claimed, memory_order_relaxed) == me)
            return i;
    return 0;
}

static bool begins_with(struct line *own, uint32_t as) { return as && be(own, as); }

/* Is about to make a process, or another program of this one. */
static void note_birth(const struct script_event *e)
{
    if (is_type(e, TYPE_FORK))
        born = e->about;
    else if (is_type(e, TYPE_EXEC) && e->about)
        atomic_store(&script_line(e->about)->claimed, (uint32_t)getpid());
}

static void find_part(struct thread *t, struct part *p)
{
    uint16_t named = t->task ? t->task->named : t->named;
    p->sought = true;
    uint32_t as = atomic_load(&t->own->script);
    if (!as && born) /* a child: its lines are others than those of its parent */
        count_process();
    if (!as && begins_with(t->own, born))
        as = born;
    else if (!as && begins_with(t->own, find_claimed()))
        as = find_claimed();
    else if (!as && begins_with(t->own, script->main))
        as = script->main;
    else if (!as && named)
        as = find_stranger(t, named);
    struct script_line *line = script_line(as);
    if (!as || !line->count)
        return;
    p->line = line;
    p->events = script_events(line);
    p->count = line->count;
    p->next = p->met = 0;
    stop_meet(line);
}

static struct part *part_of(struct thread *t)
{
    struct part *p = &t->part;
    if (!p->sought && script)
        find_part(t, p);
    return p->line && script_plays() ? p : NULL;
}

bool part_plays(struct thread *t) { return part_of(t) != NULL; }

/* The k-th that is not met; NULL: there is none. */
static const struct script_event *ahead(const struct part *p, unsigned k)
{
    for (unsigned i = 0; p->next + i < p->count && i < 32; i++)
        if (!(p->met >> i & 1) && k-- == 0)
            return &p->events[p->next + i];
    return NULL;
}

enum trace_type part_type(struct thread *t, unsigned k)
{
    const struct part *p = part_of(t);
    const struct script_event *e = p ? ahead(p, k) : NULL;
    return e && e->type < LIMIT_TYPES ? (enum trace_type)code_of[e->type] : TYPE_NONE;
}

static const struct script_event *next_of(const struct part *p, enum trace_type type)
{
    for (unsigned k = 0; k < PART_AHEAD; k++) {
        const struct script_event *e = ahead(p, k);
        if (!e || is_type(e, type))
            return e;
    }
    return NULL;
}

bool part_has(struct thread *t, enum trace_type type)
{
    const struct part *p = part_of(t);
    return p && next_of(p, type);
}

bool part_says(struct thread *t, enum trace_type type, const char *text, bool otherwise)
{
    const struct part *p = part_of(t);
    const struct script_event *e = p ? ahead(p, 0) : NULL;
    return e && is_type(e, type) ? e->text == script_text(text, strlen(text)) : otherwise;
}

bool part_is_about(struct thread *t, enum trace_type type, const struct line *line)
{
    const struct part *p = part_of(t);
    const struct script_event *e = p ? ahead(p, 0) : NULL;
    if (!e || !is_type(e, type) || (e->about && !turn_wait(p->line, e->about, 1)))
        return false;
    return code_of_line(e->about) == atomic_load_explicit(&line->index, memory_order_relaxed);
}

struct ref part_cause(struct thread *t, enum trace_type type)
{
    const struct part *p = part_of(t);
    const struct script_event *e = p ? ahead(p, 0) : NULL;
    uint32_t line = e && is_type(e, type) ? code_of_line(e->after_line) : 0;
    return line ? (struct ref){line, e->after_number} : (struct ref){0, 0};
}

/* Of what it does until then on the same line the first. */
static uint32_t first_number(const struct part *p, const struct script_event *e)
{
    for (unsigned k = 0; k < PART_AHEAD && ahead(p, k) != e; k++)
        if (ahead(p, k)->line == e->line)
            return ahead(p, k)->number;
    return e->number;
}

static bool await(struct part *p, const struct script_event *e)
{
    if (!LIKELY(!stop_debugged()))
        stop_come(p->line, p->next, (uint64_t)(e - p->events), false);
    return turn_wait(p->line, e->line, first_number(p, e) - 1) &&
           (!e->ticket || turn_wait(p->line, e->about, e->ticket - 1));
}

bool part_await(struct thread *t, enum trace_type type)
{
    struct part *p = part_of(t);
    const struct script_event *e = p ? next_of(p, type) : NULL;
    return e && await(p, e);
}

uint32_t part_line(struct thread *t, const struct line *line)
{
    const struct part *p = part_of(t);
    const struct script_event *e = p ? ahead(p, 0) : NULL;
    uint32_t as = atomic_load_explicit(&line->script, memory_order_relaxed);
    return as || !e ? as : e->about;
}

void part_await_rest(struct thread *t, uint32_t line)
{
    const struct part *p = part_of(t);
    if (p && line)
        turn_wait(p->line, line, script_line(line)->last);
}

void part_await_bits(struct thread *t, const _Atomic unsigned *bits, unsigned mask)
{
    int saved = errno;
    for (int i = 0; i < 10000 && part_plays(t) && !(atomic_load(bits) & mask); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    errno = saved;
}

void part_await_others(struct thread *t)
{
    struct part *p = t ? part_of(t) : NULL;
    for (uint32_t i = 1; p && i <= script->line_count; i++) {
        const struct script_line *other = script_line(i);
        if (other == p->line || !other->count || !atomic_load(&other->bound))
            continue;
        const struct script_event *last = script_events(other) + other->count - 1;
        if (!turn_wait(p->line, last->line, last->number))
            return;
    }
}

/* ---- what is done ---- */

static void differ(const struct part *p, uint16_t type, uint32_t line)
{
    struct script_end end = {.why = SCRIPT_OTHER,
                             .thread = (uint32_t)(p->line - script_line(0)),
                             .event = p->next,
                             .line = line};
    const char *name = codes_name(type);
    strncpy(end.did, name ? name : "", sizeof end.did - 1);
    script_leave(&end);
}

uint32_t part_choice(struct thread *t, uint32_t of, uint32_t otherwise)
{
    const struct part *p = part_of(t);
    const struct script_event *e = p ? ahead(p, 0) : NULL;
    if (!e || !is_type(e, TYPE_CHOOSE))
        return otherwise;
    if (e->after_line == of && e->after_number < of)
        return e->after_number;
    differ(p, TYPE_CHOOSE, e->line);
    return otherwise;
}

/* 0: it is none of the script, as far as is known. */
static uint32_t line_of_code(uint32_t code)
{
    for (uint32_t i = 1; code && i <= script->line_count; i++)
        if (code_of_line(i) == code)
            return i;
    return 0;
}

static bool is_join(uint16_t type)
{
    return type == TYPE_JOIN || type == TYPE_TIMED_JOIN || type == TYPE_JOINED;
}

/* What an event is about, 0: nothing, is known to be another line than in the script.  A thread that is joined and has
 * no line is another one than a thread that has. */
static bool is_another(const struct script_event *e, uint16_t type, uint32_t code)
{
    uint32_t is = code_of_line(e->about);
    if (is_join(type) && !e->about)
        return line_of_code(code) != 0;
    return is && is != code && (code || is_join(type));
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
        if (!is_type(e, type) || !be(line, e->line))
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
    if (!e && !ahead(p, 0))
        return true; /* more than was recorded */
    if (!e || is_another(e, type, about)) {
        differ(p, type, about || is_join(type) ? line_of_code(about) : atomic_load(&line->script));
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
    note_birth(e);
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

void part_meet(struct thread *t, const struct record *r)
{
    struct part *p = part_of(t);
    if (steers)
        steer_meet(t, r);
    t->part.now_count = 0;
    if (script_plays() && (!p || p->next == p->count))
        atomic_fetch_add_explicit(&script->more, 1, memory_order_relaxed);
    if (!p)
        return;
    if (p->next == p->count) {
        play_rest(t, r);
        return;
    }
    struct step steps[CODES_STEPS];
    unsigned count = codes_steps(r->shape, steps), left = 0;
    for (unsigned i = 0; i < count; i++)
        left += !!steps[i].type_a + !!steps[i].type_b;
    for (unsigned i = 0; i < count; i++)
        if ((steps[i].type_a &&
             !play(t, p, steps[i].type_a, r->a, about_of(r, &steps[i]), left--)) ||
            (steps[i].type_b && !play(t, p, steps[i].type_b, r->b ? r->b : r->a, 0, left--)))
            return;
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
    struct part *p = part_of(t);
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

/* ---- the beginning ---- */

void replay_begin(void)
{
    const char *path = environment_get("POET_REPLAY"), *wrong;
    replays = steer_begin();
    if (!path || !*path)
        return;
    script = reading_open(path, &wrong);
    if (!script) {
        say("POET_REPLAY: %s: %s: the program runs freely", path, wrong);
        return;
    }
    count_process();
    stop_begin();
    for (unsigned i = 1; i < TYPE_COUNT; i++) {
        type_of[i] = find_type(codes_name((uint16_t)i));
        if (type_of[i] < LIMIT_TYPES)
            code_of[type_of[i]] = (uint8_t)i;
    }
    type_of[TYPE_NONE] = SCRIPT_NO_TYPE - 1;
    replays = true;
}
