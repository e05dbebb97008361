#include "server/answer/unheard.h"

#include "memory/memory.h"
#include "server/answer/waited.h"
#include "server/run/unseen.h"

#include <stdlib.h>
#include <string.h>

#define AROUND                                                                                     \
    100000u /* events of the log, on either side of the window, are looked through for waits */
#define LINES_MOST 65536u /* of a run; */
#define THREADS_MOST 512u /*   threads among them: else nothing is claimed */
#define PLACES_MOST 16u /* lines on which somebody waits about the wanted objects */
#define STEPS_MOST 256u /* events of one thread, back to where it was */
#define COMPARISON 20000u /* events for one comparison; */
#define ALL_MOST 20000000u /*   for all of a window */

/* An event about a wanted object: a wait, or the end of one. */
struct found {
    uint64_t position;
    uint32_t object, line;
    bool waits;
};

/* Where somebody waits about an object. */
struct place {
    uint32_t object, line;
};

/* A thread's two neighbouring events: the last one before the signal that was looked at, and the next. */
struct whereabouts {
    uint32_t line;
    bool known;
    uint64_t before, after; /* NO_POSITION: none */
};

struct unheard {
    const struct run *run;
    const struct order *order;
    uint64_t *signals; /* positions, ascending */
    size_t count, room, at;
    uint8_t *wanted; /* by line - 1: an object of theirs */
    uint32_t lines;
    uint64_t from, least, end; /* from here down to `least` is yet to be looked through */
    struct found *found; /* the last one first */
    size_t found_count, found_room;
    struct place places[PLACES_MOST];
    unsigned place_count;
    struct whereabouts threads[THREADS_MOST];
    unsigned thread_count;
    struct comparison *comparison;
    uint64_t *claimed; /* ascending */
    size_t claimed_count, claimed_room;
    uint64_t spent;
    bool given_up;
};

/* ---- what is to be found out ---- */

/* Is all there that will ever be? */
static bool is_over(const struct run *run) { return run->live ? run->finished : !run->unfinished; }

static const struct target_event *look_of(const struct run *run, const struct event *e)
{
    return e->line && !(e->line & HIDDEN_LINE)
               ? run_look(run, e->line, e->type, (enum relation)e->relation)
               : NULL;
}

/* Something that was not seen may have waited, or gone on. */
static bool is_dark(const struct run *run)
{
    struct order_figures f = order_figures(run->order);
    return f.pending || f.lost || f.contradictions || f.damaged || unseen_some(run) ||
           unseen_lost(run) || order_lines(run->order) > LINES_MOST;
}

static void note_signals(struct unheard *u, const struct placement *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct event e = order_event(u->order, p->events[i].position);
        const struct target_event *look = p->events[i].fold ? NULL : look_of(u->run, &e);
        if (!look || !look->unheard || !e.about || e.about > u->lines || e.state != EVENT_ORDERED)
            continue;
        u->signals = grow(u->signals, &u->room, u->count + 1, sizeof *u->signals);
        u->signals[u->count++] = p->events[i].position;
        u->wanted[e.about - 1] = 1;
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void note_threads(struct unheard *u)
{
    for (uint32_t line = 1; line <= u->lines; line++) {
        if (order_thread_last(u->order, line) == NO_POSITION)
            continue;
        if (u->thread_count == THREADS_MOST) {
            u->given_up = true;
            return;
        }
        u->threads[u->thread_count++] = (struct whereabouts){.line = line};
    }
}

struct unheard *unheard_begin(const struct run *run, const struct placement *placement)
{
    if (is_dark(run))
        return NULL;
    struct unheard *u = memory_zeroed(1, sizeof *u);
    u->run = run;
    u->order = run->order;
    u->lines = order_lines(run->order);
    u->wanted = memory_zeroed(u->lines + 1, 1);
    note_signals(u, placement);
    if (!u->count) {
        unheard_free(u);
        return NULL;
    }
    qsort(u->signals, u->count, sizeof *u->signals, by_value);
    uint64_t first = u->signals[0], last = u->signals[u->count - 1], all = order_count(u->order);
    u->end = u->from = all - last > AROUND ? last + AROUND : all;
    u->least = first - order_first(u->order) > AROUND ? first - AROUND : order_first(u->order);
    u->comparison = comparison_new(u->order);
    note_threads(u);
    return u;
}

void unheard_free(struct unheard *u)
{
    if (!u)
        return;
    comparison_free(u->comparison);
    free(u->signals);
    free(u->wanted);
    free(u->found);
    free(u->claimed);
    free(u);
}

/* ---- waits about their objects ---- */

static void note_place(struct unheard *u, uint32_t object, uint32_t line)
{
    for (unsigned i = 0; i < u->place_count; i++)
        if (u->places[i].object == object && u->places[i].line == line)
            return;
    if (u->place_count < PLACES_MOST)
        u->places[u->place_count++] = (struct place){object, line};
    else
        u->given_up = true;
}

static void note_found(struct unheard *u, uint64_t position)
{
    struct event e = order_event(u->order, position);
    const struct target_event *look = look_of(u->run, &e);
    if (!look || look->unheard)
        return;
    if (look->waits)
        note_place(u, e.about, e.line);
    u->found = grow(u->found, &u->found_room, u->found_count + 1, sizeof *u->found);
    u->found[u->found_count++] = (struct found){position, e.about, e.line, look->waits};
}

static bool look_through(struct unheard *u, uint64_t *budget)
{
    while (u->from > u->least && *budget) {
        uint64_t end = u->from - u->least > 4000 ? u->from - 4000 : u->least, at = u->from;
        while ((at = order_about_before(u->order, at, end, u->wanted, u->lines)) != NO_POSITION) {
            note_found(u, at);
            *budget -= *budget > 0;
        }
        u->from = end;
        *budget -= *budget < 200 ? *budget : 200;
    }
    return u->from == u->least;
}

/* ---- where each thread is ---- */

/* The first event of a thread at or after a position that can be found at once, or else its last one. */
static uint64_t beyond(const struct unheard *u, uint32_t thread, uint64_t position)
{
    uint64_t n = order_line_events(u->order, thread);
    uint64_t first = order_line_from(u->order, thread, position);
    for (uint64_t i = first; i < n && i < first + STEPS_MOST; i++) {
        uint64_t at = order_line_at(u->order, thread, i);
        if (at != NO_POSITION && order_event(u->order, at).thread == thread)
            return at;
    }
    return order_thread_last(u->order, thread);
}

/* Is it the first that the thread did? */
static bool is_first(const struct unheard *u, uint32_t thread, uint64_t position)
{
    struct event e = order_event(u->order, position);
    if (e.line != thread || order_line_first(u->order, thread) > 0)
        return false;
    uint64_t end = order_line_from(u->order, thread, position);
    for (uint64_t i = 0; i < end; i++) {
        uint64_t at = order_line_at(u->order, thread, i);
        if (i == STEPS_MOST || at == NO_POSITION || order_event(u->order, at).thread == thread)
            return false;
    }
    return true;
}

static void find_state(struct unheard *u, struct whereabouts *s, uint64_t position)
{
    s->known = false;
    s->after = NO_POSITION;
    s->before = beyond(u, s->line, position);
    for (unsigned i = 0; i < STEPS_MOST && s->before >= position; i++) {
        s->after = s->before;
        s->before = waited_previous(u->run, s->after);
        u->spent += 4;
        if (s->before == NO_POSITION) {
            s->known = is_first(u, s->line, s->after);
            return;
        }
    }
    s->known = s->before < position;
}

static bool is_current(const struct whereabouts *s, uint64_t position)
{
    return s->known && (s->before == NO_POSITION || s->before < position) && s->after > position;
}

/* Does any thread wait about the object where the log has the signal? */
static bool somebody_waits(struct unheard *u, uint64_t position, const struct event *signal)
{
    for (unsigned i = 0; i < u->thread_count; i++) {
        struct whereabouts *s = &u->threads[i];
        if (s->line == signal->thread)
            continue;
        if (!is_current(s, position))
            find_state(u, s, position);
        if (!s->known)
            return true;
        struct event e =
            s->before == NO_POSITION ? (struct event){0} : order_event(u->order, s->before);
        const struct target_event *look = look_of(u->run, &e);
        if (look && look->waits && e.about == signal->about)
            return true;
    }
    return false;
}

/* ---- the log is one order of many: what lies near may have been at the same time ---- */

static bool is_before(struct unheard *u, uint64_t a, uint64_t b)
{
    struct event x = order_event(u->order, a), y = order_event(u->order, b);
    comparison_begin(u->comparison, (struct ref){x.line, x.number}, (struct ref){y.line, y.number});
    u->spent += 200;
    return comparison_step(u->comparison, COMPARISON) &&
           comparison_answer(u->comparison) == ORDER_BEFORE;
}

/* Index of the first that was found, the last ones first, before a position. */
static size_t found_before(const struct unheard *u, uint64_t position)
{
    size_t low = 0, high = u->found_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u->found[middle].position < position)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* A place's last end of a wait before the signal, as the log has them, is before it by the order, too. */
static bool ended_before(struct unheard *u, const struct place *place, uint64_t position)
{
    for (size_t i = found_before(u, position); i < u->found_count; i++) {
        const struct found *f = &u->found[i];
        if (f->object == place->object && f->line == place->line && !f->waits)
            return is_before(u, f->position, position);
    }
    return u->least == 0;
}

/* And the first wait after it begins after it. */
static bool begins_after(struct unheard *u, const struct place *place, uint64_t position)
{
    for (size_t i = found_before(u, position); i > 0; i--) {
        const struct found *f = &u->found[i - 1];
        if (f->object == place->object && f->line == place->line && f->waits)
            return is_before(u, position, f->position);
    }
    return is_over(u->run) && u->end == order_count(u->order);
}

/* Where the signal is made on the line itself, all that is there is before or after it. */
static bool is_clear(struct unheard *u, uint64_t position, const struct event *signal)
{
    unsigned places = 0;
    for (unsigned i = 0; i < u->place_count; i++) {
        const struct place *place = &u->places[i];
        if (place->object != signal->about)
            continue;
        places++;
        if (place->line != signal->line &&
            (!ended_before(u, place, position) || !begins_after(u, place, position)))
            return false;
    }
    return places > 0 || (u->least == 0 && u->end == order_count(u->order) && is_over(u->run));
}

static void look_at(struct unheard *u, uint64_t position)
{
    struct event e = order_event(u->order, position);
    if (order_line_shared(u->order, e.line) || !is_clear(u, position, &e) ||
        somebody_waits(u, position, &e))
        return;
    u->claimed = grow(u->claimed, &u->claimed_room, u->claimed_count + 1, sizeof *u->claimed);
    u->claimed[u->claimed_count++] = position;
}

bool unheard_step(struct unheard *u, uint64_t budget)
{
    if (!u || !look_through(u, &budget))
        return !u;
    for (uint64_t begun = u->spent; u->at < u->count && !u->given_up; u->at++) {
        if (u->spent - begun >= budget)
            return false;
        look_at(u, u->signals[u->at]);
        u->spent += u->thread_count / 8 + 1;
        u->given_up |= u->spent > ALL_MOST;
    }
    return true;
}

bool unheard_has(const struct unheard *u, uint64_t position)
{
    return u && bsearch(&position, u->claimed, u->claimed_count, sizeof *u->claimed, by_value);
}
