#include "server/causes/wakings.h"

#include <stdlib.h>

#define KEPT_OF_PLACE 16u /* waits, calls and visits of one place */
#define KEPT_MOST 512u /* of one object, or lock */

struct wakings_visit {
    uint32_t thread, place;
    uint64_t asked, position;
    struct sure_mark mark;
};

/* The first visits of each thread, and of each place some. */
struct wakings_lock {
    uint32_t lock;
    uint32_t *visits; /* indices */
    uint32_t count;
    struct map first; /* thread -> index + 1 */
    struct map of_place; /* place -> how many are kept */
    struct deed asks; /* not kept: of the thread that comes in next */
};

struct wait_kept {
    struct deed begin;
    struct wakings_visit visit; /* within which it began */
    struct sure_mark end; /* at 0: it has not ended */
};

struct call_kept {
    struct deed is;
    uint64_t begin; /* where its visit began, or it itself */
};

struct wakings_object {
    uint32_t line, lock; /* lock: of those who wait; 0: not known */
    bool several; /* locks */
    bool all; /* somebody woke all, or it is not known whether */
    uint64_t calls_made;
    struct wait_kept *waits;
    uint32_t wait_count;
    struct call_kept *calls;
    uint32_t call_count;
    struct map waits_of, calls_of; /* place -> how many are kept */
};

/* ---- what was done ---- */

static struct wakings_object *object_of(struct wakings *w, uint32_t line)
{
    uintptr_t known = (uintptr_t)map_get(&w->object_of, line, 0);
    if (!known) {
        w->objects =
            grow_zeroed(w->objects, &w->object_room, w->object_count + 1, sizeof *w->objects);
        known = ++w->object_count;
        w->objects[known - 1].line = line;
        map_put(&w->object_of, line, 0, (void *)known);
    }
    return &w->objects[known - 1];
}

static struct wakings_lock *lock_of(struct wakings *w, uint32_t line)
{
    uintptr_t known = (uintptr_t)map_get(&w->of_lock, line, 0);
    if (!known) {
        w->locks = grow_zeroed(w->locks, &w->lock_room, w->lock_count + 1, sizeof *w->locks);
        known = ++w->lock_count;
        w->locks[known - 1].lock = line;
        map_put(&w->of_lock, line, 0, (void *)known);
    }
    return &w->locks[known - 1];
}

/* One more of a place, if there is room. */
static bool may_keep(struct map *of, uint32_t place, uint32_t count)
{
    uintptr_t kept = (uintptr_t)map_get(of, place, 0);
    if (kept >= KEPT_OF_PLACE || count >= KEPT_MOST)
        return false;
    map_put(of, place, 0, (void *)(kept + 1));
    return true;
}

static struct wakings_visit visit_of(const struct wakings *w, uint32_t thread, uint32_t lock)
{
    uintptr_t last = (uintptr_t)map_get(&w->last, thread, lock);
    return last ? w->visits[last - 1] : (struct wakings_visit){.position = NO_POSITION};
}

static struct wakings_visit *last_visit(struct wakings *w, uint32_t thread, uint32_t lock)
{
    uintptr_t last = (uintptr_t)map_get(&w->last, thread, lock);
    if (!last) {
        w->visits = grow_zeroed(w->visits, &w->visit_room, w->visit_count + 1, sizeof *w->visits);
        last = ++w->visit_count;
        map_put(&w->last, thread, lock, (void *)last);
        w->visits[last - 1] = (struct wakings_visit){.asked = NO_POSITION, .position = NO_POSITION};
    }
    return &w->visits[last - 1];
}

static void ask(struct wakings *w, const struct deed *d)
{
    last_visit(w, d->thread, d->lock)->asked = d->position;
}

static void take(struct wakings *w, const struct deed *d)
{
    struct wakings_visit *v = last_visit(w, d->thread, d->lock);
    bool asks = v->asked != NO_POSITION && (v->position == NO_POSITION || v->asked > v->position);
    uint64_t asked = asks ? v->asked : NO_POSITION;
    *v = (struct wakings_visit){d->thread, d->place, asked, d->position, d->mark};
    struct wakings_lock *l = lock_of(w, d->lock);
    bool first = !map_get(&l->first, d->thread, 0);
    if (!first && !may_keep(&l->of_place, d->place, l->count))
        return;
    struct wakings_visit copy = *v;
    w->visits = grow_zeroed(w->visits, &w->visit_room, w->visit_count + 1, sizeof *w->visits);
    w->visits[w->visit_count++] = copy;
    if (first)
        map_put(&l->first, d->thread, 0, (void *)(uintptr_t)w->visit_count);
    PUSH(l->visits, l->count, (uint32_t)w->visit_count - 1);
}

static void begin_wait(struct wakings *w, const struct deed *d)
{
    struct wakings_object *o = object_of(w, d->about);
    o->several |= o->lock && o->lock != d->lock;
    o->lock = d->lock;
    if (!may_keep(&o->waits_of, d->place, o->wait_count))
        return;
    struct wait_kept kept = {.begin = *d, .visit = visit_of(w, d->thread, d->lock)};
    PUSH(o->waits, o->wait_count, kept);
}

static void end_wait(struct wakings *w, const struct deed *d)
{
    struct wakings_object *o = object_of(w, d->about);
    for (uint32_t i = o->wait_count; i-- > 0;)
        if (o->waits[i].begin.thread == d->thread) {
            if (!o->waits[i].end.at)
                o->waits[i].end = d->mark;
            return;
        }
}

static void call(struct wakings *w, const struct deed *d)
{
    struct wakings_object *o = object_of(w, d->about);
    o->calls_made++;
    o->all |= d->all;
    if (!may_keep(&o->calls_of, d->place, o->call_count))
        return;
    struct wakings_visit v =
        o->lock ? visit_of(w, d->thread, o->lock) : (struct wakings_visit){.position = NO_POSITION};
    struct call_kept kept = {*d, v.position == NO_POSITION ? d->position : v.asked};
    PUSH(o->calls, o->call_count, kept);
}

void wakings_deed(struct wakings *w, const struct deed *d)
{
    switch (d->is) {
    case DEED_ASKS:
        ask(w, d);
        break;
    case DEED_TAKES:
        take(w, d);
        break;
    case DEED_WAITS:
        begin_wait(w, d);
        break;
    case DEED_WOKEN:
        end_wait(w, d);
        break;
    case DEED_CALLS:
        call(w, d);
        break;
    case DEED_GIVES:
    case DEED_REFUSED:
    case DEED_RECEIVES:
        break;
    }
}

/* ---- what could be ---- */

struct looking {
    struct wakings *w;
    struct wakings_object *o;
    struct findings *findings;
};

/* The finding of these places, or a new one; *known: it was there. */
static struct finding *finding_of(struct looking *l, enum maybe_kind kind, uint32_t a, uint32_t b,
                                  bool *known)
{
    uint64_t places = (uint64_t)a << 32 | b;
    uintptr_t found = (uintptr_t)map_get(&l->w->found, places, kind);
    *known = found;
    if (found) {
        l->findings->items[found - 1].times++;
        return &l->findings->items[found - 1];
    }
    struct finding *f = findings_add(l->findings, kind);
    map_put(&l->w->found, places, kind, (void *)(uintptr_t)l->findings->count);
    return f;
}

static struct maybe_part part_of_call(const struct call_kept *c)
{
    return (struct maybe_part){.thread = c->is.thread,
                               .lock = c->is.about,
                               .position = c->is.position,
                               .then = NO_POSITION,
                               .begin = c->begin == NO_POSITION ? c->is.position : c->begin};
}

static struct maybe_part part_of_wait(const struct wait_kept *k)
{
    return (struct maybe_part){.thread = k->begin.thread,
                               .lock = k->begin.lock,
                               .then_lock = k->begin.about,
                               .position = k->visit.position == NO_POSITION ? k->begin.position
                                                                            : k->visit.position,
                               .then = k->begin.position,
                               .begin = k->visit.asked};
}

/* Was somebody who is not the waiter certainly in the lock before the call? */
static bool is_told_in_lock(const struct looking *l, const struct call_kept *c, uint32_t waiter)
{
    const struct wakings_lock *lock = lock_of(l->w, l->o->lock);
    for (struct map_walk walk = {.map = &lock->first}; map_next(&walk);) {
        const struct wakings_visit *v = &l->w->visits[(uintptr_t)walk.value - 1];
        if (v->thread != waiter && sure_before(v->mark, c->is.mark))
            return true;
    }
    return false;
}

static void look_for_lost(struct looking *l, const struct call_kept *c, const struct wait_kept *k)
{
    bool known;
    if (k->begin.timed || k->begin.thread == c->is.thread ||
        sure_before(c->is.mark, k->begin.mark) || sure_before(k->begin.mark, c->is.mark) ||
        is_told_in_lock(l, c, k->begin.thread))
        return;
    struct finding *f = finding_of(l, MAYBE_LOST, k->begin.place, c->is.place, &known);
    if (known)
        return;
    findings_part(f, part_of_wait(k));
    findings_part(f, part_of_call(c));
}

static bool is_over(struct sure_mark end, struct sure_mark begin)
{
    return end.at && sure_before(end, begin);
}

static bool may_wait_at_once(const struct wait_kept *a, const struct wait_kept *b)
{
    return a->begin.thread != b->begin.thread && !a->begin.timed && !b->begin.timed &&
           !is_over(a->end, b->begin.mark) && !is_over(b->end, a->begin.mark);
}

static bool may_hear(const struct call_kept *c, const struct wait_kept *k)
{
    return c->is.thread != k->begin.thread && !sure_before(c->is.mark, k->begin.mark) &&
           !is_over(k->end, c->is.mark);
}

/* Two who wait at different places, and a third who calls one of them. */
static void look_for_two(struct looking *l, const struct call_kept *c)
{
    bool known;
    for (uint32_t i = 0; i < l->o->wait_count; i++)
        for (uint32_t k = i + 1; k < l->o->wait_count; k++) {
            const struct wait_kept *a = &l->o->waits[i], *b = &l->o->waits[k];
            if (a->begin.place == b->begin.place || !may_wait_at_once(a, b) || !may_hear(c, a) ||
                !may_hear(c, b))
                continue;
            struct finding *f =
                finding_of(l, MAYBE_MISSED, a->begin.place ^ b->begin.place, c->is.place, &known);
            if (known)
                return;
            findings_part(f, part_of_call(c));
            findings_part(f, part_of_wait(a));
            findings_part(f, part_of_wait(b));
            return;
        }
}

/* Could a thread that only passed have waited when the call came, with all others that are counted? */
static bool may_be_there(const struct call_kept *c, const struct wakings_visit *v)
{
    return v->thread != c->is.thread && !sure_before(c->is.mark, v->mark) &&
           !sure_before(v->mark, c->is.mark);
}

/* Those that come in at the place where one came in who waited: each thread once. */
static uint32_t find_passers(const struct looking *l, const struct call_kept *c,
                             const struct wait_kept *k, const struct wakings_visit **passers)
{
    const struct wakings_lock *lock = lock_of(l->w, l->o->lock);
    uint32_t count = 0;
    for (uint32_t i = 0; i < lock->count && count < MAYBE_PARTS; i++) {
        const struct wakings_visit *v = &l->w->visits[lock->visits[i]];
        bool fits = v->place == k->visit.place && v->thread != k->begin.thread &&
                    may_be_there(c, v) && !is_over(k->end, v->mark);
        for (uint32_t j = 0; j < count && fits; j++)
            fits = passers[j]->thread != v->thread && !sure_before(passers[j]->mark, v->mark) &&
                   !sure_before(v->mark, passers[j]->mark);
        if (fits)
            passers[count++] = v;
    }
    return count;
}

static void look_for_few(struct looking *l, const struct call_kept *c, const struct wait_kept *k)
{
    const struct wakings_visit *passers[MAYBE_PARTS];
    bool known;
    if (k->begin.timed || !may_hear(c, k) || k->visit.position == NO_POSITION)
        return;
    uint32_t count = find_passers(l, c, k, passers);
    if (count + 1 <= l->o->calls_made)
        return;
    struct finding *f = finding_of(l, MAYBE_MISSED, k->begin.place, c->is.place, &known);
    if (known)
        return;
    findings_part(f, part_of_call(c));
    findings_part(f, part_of_wait(k));
    for (uint32_t i = 0; i < count; i++)
        findings_part(f, (struct maybe_part){.thread = passers[i]->thread,
                                             .lock = l->o->lock,
                                             .position = passers[i]->position,
                                             .then = NO_POSITION,
                                             .begin = NO_POSITION});
}

static void look_at(struct looking *l)
{
    const struct wakings_object *o = l->o;
    for (uint32_t i = 0; i < o->call_count; i++)
        for (uint32_t k = 0; k < o->wait_count && !o->several; k++)
            look_for_lost(l, &o->calls[i], &o->waits[k]);
    for (uint32_t i = 0; i < o->call_count && !o->all && !o->several; i++) {
        look_for_two(l, &o->calls[i]);
        for (uint32_t k = 0; k < o->wait_count; k++)
            look_for_few(l, &o->calls[i], &o->waits[k]);
    }
}

bool wakings_go_on(struct wakings *w, struct findings *findings, uint64_t *budget)
{
    while (w->next < w->object_count && *budget) {
        struct looking l = {w, &w->objects[w->next++], findings};
        uint64_t looks = (uint64_t)l.o->call_count * l.o->wait_count + 1;
        look_at(&l);
        *budget -= looks < *budget ? looks : *budget;
    }
    return w->next >= w->object_count;
}

void wakings_free(struct wakings *w)
{
    for (size_t i = 0; i < w->object_count; i++) {
        free(w->objects[i].waits);
        free(w->objects[i].calls);
        map_free(&w->objects[i].waits_of);
        map_free(&w->objects[i].calls_of);
    }
    for (size_t i = 0; i < w->lock_count; i++) {
        free(w->locks[i].visits);
        map_free(&w->locks[i].first);
        map_free(&w->locks[i].of_place);
    }
    free(w->objects);
    free(w->locks);
    free(w->visits);
    map_free(&w->object_of);
    map_free(&w->of_lock);
    map_free(&w->last);
    map_free(&w->found);
}
