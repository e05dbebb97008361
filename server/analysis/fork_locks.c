/* Locks that a thread can hold while another one forks, and that the child requests: it waits for
 * ever then, since the thread that would release them is not in it.
 *
 * Not reported are locks that the forking thread holds itself at the fork, as handlers of
 * pthread_atfork make it do, and critical sections that cannot be at the time of the fork: if one
 * must happen before the other (must_happen_before.h), or if a common lock excludes them from each
 * other. */
#include "base/map.h"
#include "server/analysis/findings.h"

#include <stdlib.h>

#define FORK_LOCK_HELD 16u /* maximum number of held locks that are examined */
#define FORK_LOCK_SECTIONS 8u /* sections that are kept of a call site and thread */
#define FORK_LOCK_FORKS 10000u /* maximum numbers of forks and requests kept */
#define FORK_LOCK_REQUESTS 1000u

struct fork_lock_set {
    uint32_t locks[FORK_LOCK_HELD], count;
};

struct fork_lock_section {
    uint32_t lock, thread, place;
    bool shared;
    uint32_t times; /* in the first one of a call site and thread: how many there were */
    uint64_t position;
    struct mhb_clock_mark begin, end;
    struct fork_lock_set others; /* locks that the thread held when it began */
};

struct fork_lock_thread {
    uint32_t line;
    struct fork_lock_set held;
    uint32_t section[FORK_LOCK_HELD]; /* of each held lock: 1 + index; 0: not kept */
    struct sync_op asks; /* pending request; lock 0: none */
};

struct fork_lock_fork {
    uint32_t thread, place;
    uint64_t position;
    struct mhb_clock_mark mark;
    struct fork_lock_set held;
};

struct fork_lock_request {
    uint32_t thread, lock, inherited, place;
    bool shared;
    uint64_t position, fork, times;
};

struct fork_locks {
    struct fork_lock_section *sections; /* critical sections, some of each call site and thread */
    size_t section_count, section_room;
    struct map section_of; /* call site and thread of a lock -> 1 + index of the first section */
    struct fork_lock_thread *threads; /* those that hold locks or held some */
    size_t thread_count, thread_room;
    struct map thread_of; /* line -> 1 + index */
    struct fork_lock_fork *forks;
    size_t fork_count, fork_room;
    struct fork_lock_request *requests; /* in children; one of each call site */
    size_t request_count, request_room;
};

/* ---- held locks ---- */

static bool fork_lock_set_has(const struct fork_lock_set *set, uint32_t lock)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->locks[i] == lock)
            return true;
    return false;
}

static bool fork_lock_sets_meet(const struct fork_lock_set *a, const struct fork_lock_set *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (fork_lock_set_has(b, a->locks[i]))
            return true;
    return false;
}

static struct fork_lock_thread *fork_lock_thread_of(struct fork_locks *f, uint32_t line)
{
    return MAP_ITEM(&f->thread_of, line, 0, f->threads, f->thread_count, f->thread_room,
                    (struct fork_lock_thread){.line = line});
}

/* Returns the index of the section to be replaced or added: the first FORK_LOCK_SECTIONS / 2 of a
 * call site and thread are kept, and later ones replace each other. */
static size_t fork_lock_section_slot(struct fork_locks *f, const struct sync_op *d)
{
    uint64_t thread = (uint64_t)d->thread << 32 | d->lock;
    uintptr_t first = (uintptr_t)map_get(&f->section_of, thread, d->place);
    if (!first) {
        f->sections =
            array_reserve_zeroed(f->sections, &f->section_room,
                                 f->section_count + FORK_LOCK_SECTIONS, sizeof *f->sections);
        first = f->section_count + 1;
        f->section_count += FORK_LOCK_SECTIONS;
        map_put(&f->section_of, thread, d->place, (void *)first);
    }
    uint32_t times = f->sections[first - 1].times++, half = FORK_LOCK_SECTIONS / 2;
    return first - 1 + (times < half ? times : half + times % half);
}

static void fork_lock_acquire(struct fork_locks *f, struct fork_lock_thread *t,
                              const struct sync_op *d)
{
    struct fork_lock_set *held = &t->held;
    if (fork_lock_set_has(held, d->lock) || held->count == FORK_LOCK_HELD)
        return;
    size_t i = fork_lock_section_slot(f, d);
    uint32_t times = f->sections[i].times;
    f->sections[i] = (struct fork_lock_section){.lock = d->lock,
                                                .thread = d->thread,
                                                .place = d->place,
                                                .shared = d->shared,
                                                .times = times,
                                                .position = d->position,
                                                .begin = d->mark,
                                                .others = *held};
    t->section[held->count] = (uint32_t)i + 1;
    held->locks[held->count++] = d->lock;
}

static void fork_lock_release(struct fork_locks *f, struct fork_lock_thread *t,
                              const struct sync_op *d)
{
    uint32_t i = 0;
    while (i < t->held.count && t->held.locks[i] != d->lock)
        i++;
    if (i == t->held.count)
        return;
    struct fork_lock_section *s = t->section[i] ? &f->sections[t->section[i] - 1] : NULL;
    if (s && s->lock == d->lock && s->thread == d->thread && !s->end.at)
        s->end = d->mark;
    for (t->held.count--; i < t->held.count; i++) {
        t->held.locks[i] = t->held.locks[i + 1];
        t->section[i] = t->section[i + 1];
    }
}

/* ---- forks and requests ---- */

static void fork_lock_add_fork(struct fork_locks *f, const struct fork_lock_thread *t,
                               const struct sync_op *d)
{
    if (f->fork_count == FORK_LOCK_FORKS)
        return;
    f->forks = array_reserve(f->forks, &f->fork_room, f->fork_count + 1, sizeof *f->forks);
    f->forks[f->fork_count++] = (struct fork_lock_fork){.thread = d->thread,
                                                        .place = d->place,
                                                        .position = d->position,
                                                        .mark = d->mark,
                                                        .held = t->held};
}

static void fork_lock_add_request(struct fork_locks *f, const struct sync_op *d, bool shared)
{
    for (size_t i = 0; i < f->request_count; i++)
        if (f->requests[i].inherited == d->inherited && f->requests[i].fork == d->fork)
            return; /* the first one in the child counts */
    if (f->request_count == FORK_LOCK_REQUESTS)
        return;
    f->requests =
        array_reserve(f->requests, &f->request_room, f->request_count + 1, sizeof *f->requests);
    f->requests[f->request_count++] = (struct fork_lock_request){.thread = d->thread,
                                                                 .lock = d->lock,
                                                                 .inherited = d->inherited,
                                                                 .place = d->place,
                                                                 .shared = shared,
                                                                 .position = d->position,
                                                                 .fork = d->fork};
}

/* Takes a request, acquisition or release of a lock, or a fork, into account; ignores others. */
static void fork_locks_feed(void *predictor, const struct sync_op *d)
{
    struct fork_locks *f = predictor;
    if (d->is != SYNC_OP_REQUEST && d->is != SYNC_OP_ACQUIRE && d->is != SYNC_OP_RELEASE &&
        d->is != SYNC_OP_WAIT && d->is != SYNC_OP_FORK)
        return;
    struct fork_lock_thread *t = fork_lock_thread_of(f, d->thread);
    if (d->is == SYNC_OP_REQUEST) {
        t->asks = *d;
    } else if (d->is == SYNC_OP_ACQUIRE) {
        if (t->asks.lock == d->lock && t->asks.inherited && !t->asks.timed)
            fork_lock_add_request(f, &t->asks, d->shared);
        t->asks.lock = 0;
        fork_lock_acquire(f, t, d);
    } else if (d->is == SYNC_OP_FORK) {
        fork_lock_add_fork(f, t, d);
    } else {
        fork_lock_release(f, t, d);
    }
}

/* ---- findings ---- */

static bool fork_lock_can_be_held(const struct fork_lock_section *s, const struct fork_lock_fork *f,
                                  const struct fork_lock_request *r)
{
    return s->lock == r->inherited && s->thread != f->thread && !(s->shared && r->shared) &&
           !mhb_before(s->end, f->mark) && !mhb_before(f->mark, s->begin) &&
           !fork_lock_sets_meet(&s->others, &f->held);
}

static void fork_lock_add_finding(struct findings *findings, const struct fork_lock_section *s,
                                  const struct fork_lock_fork *f, const struct fork_lock_request *r)
{
    struct finding *one = findings_add(findings, FINDING_FORK_WITH_LOCK);
    finding_add_participant(one, (struct finding_participant){.thread = f->thread,
                                                              .lock = s->lock,
                                                              .position = f->position,
                                                              .then = NO_POSITION,
                                                              .begin = f->position});
    finding_add_event(one, s->thread, s->lock, s->position);
    finding_add_event(one, r->thread, r->lock, r->position);
}

static const struct fork_lock_fork *fork_lock_fork_at(const struct fork_locks *f, uint64_t position)
{
    for (size_t i = 0; i < f->fork_count; i++)
        if (f->forks[i].position == position)
            return &f->forks[i];
    return NULL;
}

static bool fork_locks_step(void *predictor, struct findings *findings, uint64_t *budget)
{
    const struct fork_locks *f = predictor;
    struct map found = {0};
    for (size_t i = 0; i < f->request_count; i++) {
        const struct fork_lock_request *r = &f->requests[i];
        const struct fork_lock_fork *fork = fork_lock_fork_at(f, r->fork);
        size_t k = 0;
        if (!fork || fork_lock_set_has(&fork->held, r->inherited))
            continue;
        while (k < f->section_count && !fork_lock_can_be_held(&f->sections[k], fork, r))
            k++;
        uint64_t places = (uint64_t)fork->place << 32 | r->place;
        if (k < f->section_count && !findings_count_again(findings, &found, places, 0)) {
            fork_lock_add_finding(findings, &f->sections[k], fork, r);
            findings_remember_last(findings, &found, places, 0);
        }
    }
    findings->cut |= f->fork_count == FORK_LOCK_FORKS || f->request_count == FORK_LOCK_REQUESTS;
    map_free(&found);
    return true;
}

static void fork_locks_free(void *predictor)
{
    struct fork_locks *f = predictor;
    free(f->sections);
    free(f->threads);
    free(f->forks);
    free(f->requests);
    map_free(&f->section_of);
    map_free(&f->thread_of);
    free(predictor);
}

const struct predictor predictor_fork_locks = {.size = sizeof(struct fork_locks),
                                               .feed = fork_locks_feed,
                                               .step = fork_locks_step,
                                               .free = fork_locks_free};
