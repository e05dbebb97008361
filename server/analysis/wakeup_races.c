/* Wake-up races: signals that no thread would receive in another order, so that the waiter waits
 * forever.
 *
 * - Lost wake-up: a signal by a thread that has never held the waiters' lock, and neither has any
 *   thread before it that is not one of the waiters.  Nothing keeps the signal from coming after a
 *   waiter has tested its predicate and before it waits. (If such a thread held the lock before, it
 *   may have changed the predicate there.)
 * - Unchecked wait: a wait that no test of a predicate precedes, ended by the last signal of the
 *   run, which can come before the waiter acquires the lock.
 * - Signal instead of broadcast: a signal that wakes one thread where several could wait: at
 *   different call sites, signaled by a third thread; or where more threads acquire the lock after
 *   a wait than there are signals in all, unless each thread waits for an object of its own: one
 *   call site, several objects. */
#include "base/map.h"
#include "server/analysis/findings.h"

#include <stdlib.h>

/* maximum number of waits, signals and critical sections kept of one call site */
#define KEPT_OF_PLACE 16u
#define KEPT_MOST 512u /* maximum number kept of one object or lock */
#define SEVERAL_OBJECTS UINTPTR_MAX

struct wakeup_visit {
    uint32_t thread, place;
    uint64_t asked, position;
    struct mhb_clock_mark mark;
};

/* Critical sections of a lock: the first of each thread, and some of each call site. */
struct wakeup_lock {
    uint32_t lock;
    uint32_t *visits; /* indices of critical sections */
    uint32_t count;
    struct map first; /* thread -> 1 + index */
    struct map of_place; /* call site -> how many are kept */
    struct sync_op asks; /* pending request of the thread that acquires the lock next */
};

struct wakeup_wait {
    struct sync_op begin;
    struct wakeup_visit visit; /* the critical section in which the wait began */
    struct mhb_clock_mark end; /* at 0: the wait did not end */
};

struct wakeup_signal {
    struct sync_op is;
    uint32_t place; /* call site of the begin of its critical section; 0: none */
    uint64_t begin; /* position of the begin of its critical section, or of the signal */
};

struct wakeup_object {
    uint32_t line, lock; /* lock: the waiters' lock; 0: unknown */
    bool several; /* waiters use several locks */
    bool all; /* a signal woke all waiters, or that is unknown */
    uint64_t calls_made;
    struct wakeup_wait *waits;
    uint32_t wait_count;
    struct wakeup_signal last; /* position 0: there was none */
    struct wakeup_signal *calls;
    uint32_t call_count;
    struct map waits_of, calls_of; /* call site -> how many are kept */
};

struct wakeup_races {
    struct wakeup_object *objects; /* awaited synchronization objects */
    size_t object_count, object_room;
    struct map object_of; /* line -> 1 + index */
    struct map last; /* thread, lock -> 1 + index of its last critical section */
    struct wakeup_visit *visits;
    size_t visit_count, visit_room;
    struct map of_lock; /* lock -> 1 + index in `locks` */
    struct wakeup_lock *locks;
    size_t lock_count, lock_room;
    struct map found;
    struct map unchecked; /* call sites of waits that no test precedes */
    struct map object_at; /* call site of waits -> 1 + line of the object, or several */
    size_t next; /* index of the next object */
};

/* ---- recorded operations ---- */

static struct wakeup_object *object_of(struct wakeup_races *w, uint32_t line)
{
    return MAP_ITEM(&w->object_of, line, 0, w->objects, w->object_count, w->object_room,
                    (struct wakeup_object){.line = line});
}

static struct wakeup_lock *lock_of(struct wakeup_races *w, uint32_t line)
{
    return MAP_ITEM(&w->of_lock, line, 0, w->locks, w->lock_count, w->lock_room,
                    (struct wakeup_lock){.lock = line});
}

/* Counts a further item of a call site; returns false if there is no space for it. */
static bool may_keep(struct map *of, uint32_t place, uint32_t count)
{
    uintptr_t kept = (uintptr_t)map_get(of, place, 0);
    if (kept >= KEPT_OF_PLACE || count >= KEPT_MOST)
        return false;
    map_put(of, place, 0, (void *)(kept + 1));
    return true;
}

static struct wakeup_visit wakeup_races_visit_for(const struct wakeup_races *w, uint32_t thread,
                                                  uint32_t lock)
{
    uintptr_t last = (uintptr_t)map_get(&w->last, thread, lock);
    return last ? w->visits[last - 1] : (struct wakeup_visit){.position = NO_POSITION};
}

static struct wakeup_visit *wakeup_races_last_visit(struct wakeup_races *w, uint32_t thread,
                                                    uint32_t lock)
{
    uintptr_t last = (uintptr_t)map_get(&w->last, thread, lock);
    if (!last) {
        w->visits =
            array_reserve_zeroed(w->visits, &w->visit_room, w->visit_count + 1, sizeof *w->visits);
        last = ++w->visit_count;
        map_put(&w->last, thread, lock, (void *)last);
        w->visits[last - 1] = (struct wakeup_visit){.asked = NO_POSITION, .position = NO_POSITION};
    }
    return &w->visits[last - 1];
}

static void wakeup_races_on_request(struct wakeup_races *w, const struct sync_op *d)
{
    wakeup_races_last_visit(w, d->thread, d->lock)->asked = d->position;
}

static void wakeup_races_on_acquire(struct wakeup_races *w, const struct sync_op *d)
{
    struct wakeup_visit *v = wakeup_races_last_visit(w, d->thread, d->lock);
    bool asks = v->asked != NO_POSITION && (v->position == NO_POSITION || v->asked > v->position);
    uint64_t asked = asks ? v->asked : NO_POSITION;
    *v = (struct wakeup_visit){d->thread, d->place, asked, d->position, d->mark};
    struct wakeup_lock *l = lock_of(w, d->lock);
    bool first = !map_get(&l->first, d->thread, 0);
    if (!first && !may_keep(&l->of_place, d->place, l->count))
        return;
    struct wakeup_visit copy = *v;
    w->visits =
        array_reserve_zeroed(w->visits, &w->visit_room, w->visit_count + 1, sizeof *w->visits);
    w->visits[w->visit_count++] = copy;
    if (first)
        map_put(&l->first, d->thread, 0, (void *)(uintptr_t)w->visit_count);
    ARRAY_PUSH(l->visits, l->count, (uint32_t)w->visit_count - 1);
}

static void wakeup_races_note_place(struct wakeup_races *w, uint32_t place, uint32_t line)
{
    uintptr_t known = (uintptr_t)map_get(&w->object_at, place, 0), this = (uintptr_t)line + 1;
    if (known != this)
        map_put(&w->object_at, place, 0, (void *)(known ? SEVERAL_OBJECTS : this));
}

static void begin_wait(struct wakeup_races *w, const struct sync_op *d)
{
    struct wakeup_object *o = object_of(w, d->about);
    o->several |= o->lock && o->lock != d->lock;
    o->lock = d->lock;
    wakeup_races_note_place(w, d->place, d->about);
    if (d->unchecked)
        map_put(&w->unchecked, d->place, 0, w);
    if (!may_keep(&o->waits_of, d->place, o->wait_count))
        return;
    struct wakeup_wait kept = {.begin = *d, .visit = wakeup_races_visit_for(w, d->thread, d->lock)};
    ARRAY_PUSH(o->waits, o->wait_count, kept);
}

static void end_wait(struct wakeup_races *w, const struct sync_op *d)
{
    struct wakeup_object *o = object_of(w, d->about);
    for (uint32_t i = o->wait_count; i-- > 0;)
        if (o->waits[i].begin.thread == d->thread) {
            if (!o->waits[i].end.at)
                o->waits[i].end = d->mark;
            return;
        }
}

static void wakeup_races_on_signal(struct wakeup_races *w, const struct sync_op *d)
{
    struct wakeup_object *o = object_of(w, d->about);
    o->calls_made++;
    o->all |= d->all;
    struct wakeup_visit v = o->lock ? wakeup_races_visit_for(w, d->thread, o->lock)
                                    : (struct wakeup_visit){.position = NO_POSITION};
    bool within = v.position != NO_POSITION;
    struct wakeup_signal kept = {*d, within ? v.place : 0, within ? v.asked : d->position};
    o->last = kept;
    if (may_keep(&o->calls_of, d->place, o->call_count))
        ARRAY_PUSH(o->calls, o->call_count, kept);
}

static void wakeup_races_feed(void *predictor, const struct sync_op *d)
{
    struct wakeup_races *w = predictor;
    switch (d->is) {
    case SYNC_OP_REQUEST:
        wakeup_races_on_request(w, d);
        break;
    case SYNC_OP_ACQUIRE:
        wakeup_races_on_acquire(w, d);
        break;
    case SYNC_OP_WAIT:
        begin_wait(w, d);
        break;
    case SYNC_OP_WOKEN:
        end_wait(w, d);
        break;
    case SYNC_OP_SIGNAL:
        wakeup_races_on_signal(w, d);
        break;
    case SYNC_OP_RELEASE:
    case SYNC_OP_REFUSED:
    case SYNC_OP_RECEIVE:
    case SYNC_OP_REREAD:
    case SYNC_OP_FORK:
    case SYNC_OP_SEND:
    case SYNC_OP_USE:
    case SYNC_OP_DESTROY:
    case SYNC_OP_REUSE:
    case SYNC_OP_HANDLER_BEGIN:
    case SYNC_OP_HANDLER_END:
    case SYNC_OP_SIGNAL_MASK:
    case SYNC_OP_MESSAGE:
    case SYNC_OP_UNBLOCK:
    case SYNC_OP_POST:
        break;
    }
}

/* ---- predictions ---- */

struct wakeup_scan {
    struct wakeup_races *w;
    struct wakeup_object *o;
    struct findings *findings;
};

/* Returns the finding of these call sites, made on first use; sets *known if it existed. */
static struct finding *finding_of(struct wakeup_scan *l, enum finding_kind kind, uint32_t a,
                                  uint32_t b, bool *known)
{
    uint64_t places = (uint64_t)a << 32 | b;
    struct finding *f = findings_count_again(l->findings, &l->w->found, places, kind);
    *known = f;
    if (*known)
        return f;
    f = findings_add(l->findings, kind);
    findings_remember_last(l->findings, &l->w->found, places, kind);
    return f;
}

static struct finding_participant wakeup_races_signal_participant(const struct wakeup_signal *c)
{
    return (struct finding_participant){.thread = c->is.thread,
                                        .lock = c->is.about,
                                        .position = c->is.position,
                                        .then = NO_POSITION,
                                        .begin =
                                            c->begin == NO_POSITION ? c->is.position : c->begin};
}

static struct finding_participant wakeup_races_wait_participant(const struct wakeup_wait *k)
{
    return (struct finding_participant){
        .thread = k->begin.thread,
        .lock = k->begin.lock,
        .then_lock = k->begin.about,
        .position = k->visit.position == NO_POSITION ? k->begin.position : k->visit.position,
        .then = k->begin.position,
        .begin = k->visit.asked};
}

/* Returns whether a thread other than the waiter must have held the lock before the signal. */
static bool wakeup_races_is_sent_in_lock(const struct wakeup_scan *l, const struct wakeup_signal *c,
                                         uint32_t waiter)
{
    const struct wakeup_lock *lock = lock_of(l->w, l->o->lock);
    for (struct map_walk walk = {.map = &lock->first}; map_next(&walk);) {
        const struct wakeup_visit *v = &l->w->visits[(uintptr_t)walk.value - 1];
        if (v->thread != waiter && mhb_before(v->mark, c->is.mark))
            return true;
    }
    return false;
}

static void wakeup_races_find_lost(struct wakeup_scan *l, const struct wakeup_signal *c,
                                   const struct wakeup_wait *k)
{
    bool known;
    if (k->begin.timed || k->begin.thread == c->is.thread ||
        mhb_before(c->is.mark, k->begin.mark) || mhb_before(k->begin.mark, c->is.mark) ||
        wakeup_races_is_sent_in_lock(l, c, k->begin.thread))
        return;
    struct finding *f = finding_of(l, FINDING_LOST_WAKEUP, k->begin.place, c->is.place, &known);
    if (known)
        return;
    finding_add_participant(f, wakeup_races_wait_participant(k));
    finding_add_participant(f, wakeup_races_signal_participant(c));
}

/* Returns whether the thread that signals entered its critical section several times at that call
 * site: it may look there whether the waiter waits. */
static bool wakeup_races_is_repeated(const struct wakeup_scan *l, const struct wakeup_signal *c)
{
    const struct wakeup_lock *lock = lock_of(l->w, l->o->lock);
    uint32_t times = 0;
    for (uint32_t i = 0; c->place && i < lock->count; i++) {
        const struct wakeup_visit *v = &l->w->visits[lock->visits[i]];
        times += v->thread == c->is.thread && v->place == c->place;
    }
    return times > 1;
}

/* Finds a wait that the last signal ended, at a call site at which each thread waits, if the signal
 * can come before the waiter acquires the lock. */
static void wakeup_races_find_unchecked(struct wakeup_scan *l, const struct wakeup_wait *k)
{
    const struct wakeup_signal *c = &l->o->last;
    bool known;
    if (!c->is.thread || c->is.thread == k->begin.thread || k->begin.timed ||
        !map_get(&l->w->unchecked, k->begin.place, 0) || k->visit.position == NO_POSITION ||
        mhb_before(k->visit.mark, c->is.mark) || mhb_before(c->is.mark, k->visit.mark) ||
        (k->end.at && !mhb_before(c->is.mark, k->end)) || wakeup_races_is_repeated(l, c))
        return;
    struct finding *f = finding_of(l, FINDING_UNCHECKED_WAIT, k->begin.place, c->is.place, &known);
    if (known)
        return;
    finding_add_participant(f, wakeup_races_wait_participant(k));
    finding_add_participant(f, wakeup_races_signal_participant(c));
}

static bool wakeup_races_is_done(struct mhb_clock_mark end, struct mhb_clock_mark begin)
{
    return end.at && mhb_before(end, begin);
}

static bool may_wait_at_once(const struct wakeup_wait *a, const struct wakeup_wait *b)
{
    return a->begin.thread != b->begin.thread && !a->begin.timed && !b->begin.timed &&
           !wakeup_races_is_done(a->end, b->begin.mark) &&
           !wakeup_races_is_done(b->end, a->begin.mark);
}

static bool may_receive_signal(const struct wakeup_signal *c, const struct wakeup_wait *k)
{
    return c->is.thread != k->begin.thread && !mhb_before(c->is.mark, k->begin.mark) &&
           !wakeup_races_is_done(k->end, c->is.mark);
}

/* Finds two waiters at different call sites and a third thread that signals one of them. */
static void wakeup_races_find_two_waiters(struct wakeup_scan *l, const struct wakeup_signal *c)
{
    bool known;
    for (uint32_t i = 0; i < l->o->wait_count; i++)
        for (uint32_t k = i + 1; k < l->o->wait_count; k++) {
            const struct wakeup_wait *a = &l->o->waits[i], *b = &l->o->waits[k];
            if (a->begin.place == b->begin.place || !may_wait_at_once(a, b) ||
                !may_receive_signal(c, a) || !may_receive_signal(c, b))
                continue;
            struct finding *f = finding_of(l, FINDING_SIGNAL_NOT_BROADCAST,
                                           a->begin.place ^ b->begin.place, c->is.place, &known);
            if (known)
                return;
            finding_add_participant(f, wakeup_races_signal_participant(c));
            finding_add_participant(f, wakeup_races_wait_participant(a));
            finding_add_participant(f, wakeup_races_wait_participant(b));
            return;
        }
}

/* Returns whether a thread that acquired the lock could instead have been waiting when the signal
 * was sent: neither is ordered before the other. */
static bool wakeup_races_may_be_waiting(const struct wakeup_signal *c, const struct wakeup_visit *v)
{
    return v->thread != c->is.thread && !mhb_before(c->is.mark, v->mark) &&
           !mhb_before(v->mark, c->is.mark);
}

/* Finds threads that acquire the lock at the waiter's call site and could have been waiting
 * together; each thread once. */
static uint32_t find_passers(const struct wakeup_scan *l, const struct wakeup_signal *c,
                             const struct wakeup_wait *k, const struct wakeup_visit **passers)
{
    const struct wakeup_lock *lock = lock_of(l->w, l->o->lock);
    uint32_t count = 0;
    for (uint32_t i = 0; i < lock->count && count < FINDING_PARTICIPANTS; i++) {
        const struct wakeup_visit *v = &l->w->visits[lock->visits[i]];
        bool fits = v->place == k->visit.place && v->thread != k->begin.thread &&
                    wakeup_races_may_be_waiting(c, v) && !wakeup_races_is_done(k->end, v->mark);
        for (uint32_t j = 0; j < count && fits; j++)
            fits = passers[j]->thread != v->thread && !mhb_before(passers[j]->mark, v->mark) &&
                   !mhb_before(v->mark, passers[j]->mark);
        if (fits)
            passers[count++] = v;
    }
    return count;
}

static void wakeup_races_find_too_few(struct wakeup_scan *l, const struct wakeup_signal *c,
                                      const struct wakeup_wait *k)
{
    const struct wakeup_visit *passers[FINDING_PARTICIPANTS];
    bool known;
    if (k->begin.timed || !may_receive_signal(c, k) || k->visit.position == NO_POSITION ||
        (uintptr_t)map_get(&l->w->object_at, k->begin.place, 0) == SEVERAL_OBJECTS)
        return;
    uint32_t count = find_passers(l, c, k, passers);
    if (count + 1 <= l->o->calls_made)
        return;
    struct finding *f =
        finding_of(l, FINDING_SIGNAL_NOT_BROADCAST, k->begin.place, c->is.place, &known);
    if (known)
        return;
    finding_add_participant(f, wakeup_races_signal_participant(c));
    finding_add_participant(f, wakeup_races_wait_participant(k));
    for (uint32_t i = 0; i < count; i++)
        finding_add_event(f, passers[i]->thread, l->o->lock, passers[i]->position);
}

static void wakeup_races_check_signal(struct wakeup_scan *l)
{
    const struct wakeup_object *o = l->o;
    for (uint32_t k = 0; k < o->wait_count && !o->several; k++)
        wakeup_races_find_unchecked(l, &o->waits[k]);
    for (uint32_t i = 0; i < o->call_count; i++)
        for (uint32_t k = 0; k < o->wait_count && !o->several; k++)
            wakeup_races_find_lost(l, &o->calls[i], &o->waits[k]);
    for (uint32_t i = 0; i < o->call_count && !o->all && !o->several; i++) {
        wakeup_races_find_two_waiters(l, &o->calls[i]);
        for (uint32_t k = 0; k < o->wait_count; k++)
            wakeup_races_find_too_few(l, &o->calls[i], &o->waits[k]);
    }
}

static bool wakeup_races_step(void *predictor, struct findings *findings, uint64_t *budget)
{
    struct wakeup_races *w = predictor;
    while (w->next < w->object_count && *budget) {
        struct wakeup_scan l = {w, &w->objects[w->next++], findings};
        uint64_t looks = (uint64_t)l.o->call_count * l.o->wait_count + 1;
        wakeup_races_check_signal(&l);
        *budget -= looks < *budget ? looks : *budget;
    }
    return w->next >= w->object_count;
}

static void wakeup_races_free(void *predictor)
{
    struct wakeup_races *w = predictor;
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
    map_free(&w->unchecked);
    map_free(&w->object_at);
    free(predictor);
}

const struct predictor predictor_wakeup_races = {.size = sizeof(struct wakeup_races),
                                                 .feed = wakeup_races_feed,
                                                 .step = wakeup_races_step,
                                                 .free = wakeup_races_free};
