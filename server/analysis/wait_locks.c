/* Locks that a thread holds while it waits for another thread, as at a join, and that must be
 * acquired before that wait can end: if the waiter acquires the lock first, neither continues.
 *
 * Of each wait the requests of the lock are examined that must happen before its end
 * (must_happen_before.h). Not reported are those that must happen before the waiter acquires the
 * lock; those of which it may have learned by what the lock protects, since it held the lock
 * between them and the acquisition, or since their thread signaled a condition variable of the lock
 * after them; and waits for a condition variable or a semaphore that several threads signal or
 * post. */
#include "base/map.h"
#include "server/analysis/findings.h"

#include <stdlib.h>

#define WAIT_LOCK_HELD 16u /* maximum number of held locks that are examined */
#define WAIT_LOCK_REQUESTS 64u /* requests that are kept of a thread and lock: the last ones */
#define WAIT_LOCK_CASES 10000u /* maximum number of cases kept */
#define WAIT_LOCK_LOOKS 20000000u /* maximum number of requests examined */
#define WAIT_LOCK_SEVERAL UINTPTR_MAX

struct wait_lock_held {
    uint32_t lock;
    bool shared;
    /* the acquisition; and the one before it by the same thread, NO_POSITION: none */
    uint64_t position, before;
    struct mhb_clock_mark mark;
};

struct wait_lock_thread {
    uint32_t line, held_count;
    struct wait_lock_held held[WAIT_LOCK_HELD];
    struct sync_op asks; /* pending request; lock 0: none */
};

/* The requests of one lock by one thread; the last of them. */
struct wait_lock_requests {
    uint32_t thread, lock;
    uint32_t next; /* of the same lock: 1 + index; 0: none */
    uint64_t count;
    struct wait_lock_request {
        uint64_t position;
        uint32_t place;
        bool shared;
        struct mhb_clock_mark mark;
    } last[WAIT_LOCK_REQUESTS];
};

struct wait_lock_case {
    uint32_t thread, lock, about, place; /* place: of the wait */
    uint64_t held, waits; /* events */
    uint32_t other;
    struct wait_lock_request request;
};

struct wait_locks {
    struct wait_lock_thread *threads;
    size_t thread_count, thread_room;
    struct map thread_of; /* line -> 1 + index */
    struct wait_lock_requests *requests;
    size_t request_count, request_room;
    struct map requests_of; /* thread, lock -> 1 + index */
    struct map of_lock; /* lock -> 1 + index of the requests added last */
    struct map last; /* thread, lock -> 1 + position of the last acquisition */
    struct map condition_lock; /* condition variable -> the lock of its waiters, or several */
    struct map signal_of; /* thread, condition variable -> 1 + position of the last signal */
    struct map
        waker_of; /* condition variable or semaphore -> the thread that signals, or several */
    struct wait_lock_case *cases;
    size_t case_count, case_room;
    uint64_t looks;
};

static struct wait_lock_thread *wait_lock_thread_of(struct wait_locks *w, uint32_t line)
{
    return MAP_ITEM(&w->thread_of, line, 0, w->threads, w->thread_count, w->thread_room,
                    (struct wait_lock_thread){.line = line});
}

static struct wait_lock_held *wait_lock_find_held(struct wait_lock_thread *t, uint32_t lock)
{
    for (uint32_t i = 0; i < t->held_count; i++)
        if (t->held[i].lock == lock)
            return &t->held[i];
    return NULL;
}

/* Notes one of the values of a key, or that there are several. */
static void wait_lock_note_value(struct map *map, uint32_t key, uint32_t value)
{
    uintptr_t known = (uintptr_t)map_get(map, key, 0), this = value ? value : WAIT_LOCK_SEVERAL;
    if (known != this)
        map_put(map, key, 0, (void *)(known ? WAIT_LOCK_SEVERAL : this));
}

/* ---- requests and held locks ---- */

static void wait_lock_add_request(struct wait_locks *w, const struct sync_op *op, bool shared)
{
    uintptr_t at = (uintptr_t)map_get(&w->requests_of, op->thread, op->lock);
    if (!at) {
        w->requests = array_reserve_zeroed(w->requests, &w->request_room, w->request_count + 1,
                                           sizeof *w->requests);
        at = ++w->request_count;
        map_put(&w->requests_of, op->thread, op->lock, (void *)at);
        w->requests[at - 1] = (struct wait_lock_requests){
            .thread = op->thread,
            .lock = op->lock,
            .next = (uint32_t)(uintptr_t)map_get(&w->of_lock, op->lock, 0)};
        map_put(&w->of_lock, op->lock, 0, (void *)at);
    }
    struct wait_lock_requests *r = &w->requests[at - 1];
    r->last[r->count++ % WAIT_LOCK_REQUESTS] =
        (struct wait_lock_request){op->position, op->place, shared, op->mark};
}

static void wait_lock_acquire(struct wait_locks *w, struct wait_lock_thread *t,
                              const struct sync_op *op)
{
    if (wait_lock_find_held(t, op->lock))
        return;
    if (t->asks.lock == op->lock && !t->asks.timed)
        wait_lock_add_request(w, &t->asks, op->shared);
    t->asks.lock = 0;
    uintptr_t before = (uintptr_t)map_get(&w->last, t->line, op->lock);
    map_put(&w->last, t->line, op->lock, (void *)(uintptr_t)(op->position + 1));
    if (t->held_count < WAIT_LOCK_HELD)
        t->held[t->held_count++] =
            (struct wait_lock_held){.lock = op->lock,
                                    .shared = op->shared,
                                    .position = op->position,
                                    .before = before ? before - 1 : NO_POSITION,
                                    .mark = op->mark};
}

static void wait_lock_release(struct wait_lock_thread *t, uint32_t lock)
{
    struct wait_lock_held *h = wait_lock_find_held(t, lock);
    if (!h)
        return;
    for (t->held_count--; h < t->held + t->held_count; h++)
        h[0] = h[1];
}

/* ---- waits ---- */

/* Returns the last request that must happen before the end of a wait and that can come after the
 * waiter acquired the lock, and that no earlier wait depends on; or NULL. */
static const struct wait_lock_request *wait_lock_find(struct wait_locks *w,
                                                      const struct wait_lock_requests *r,
                                                      const struct wait_lock_held *h,
                                                      const struct sync_op *end)
{
    uint64_t kept = r->count < WAIT_LOCK_REQUESTS ? r->count : WAIT_LOCK_REQUESTS;
    for (uint64_t i = 0; i < kept; i++) {
        const struct wait_lock_request *one = &r->last[(r->count - 1 - i) % WAIT_LOCK_REQUESTS];
        w->looks++;
        if ((h->shared && one->shared) || !mhb_before(one->mark, end->mark))
            continue;
        bool known = h->before != NO_POSITION && one->position < h->before;
        return known || mhb_before(one->mark, h->mark) || mhb_before(one->mark, end->sent_mark)
                   ? NULL
                   : one;
    }
    return NULL;
}

/* Adds a case for a held lock that a thread requests which the wait depends on. */
static void wait_lock_check_held(struct wait_locks *w, const struct wait_lock_held *h,
                                 const struct sync_op *end)
{
    for (uint32_t i = (uint32_t)(uintptr_t)map_get(&w->of_lock, h->lock, 0); i;
         i = w->requests[i - 1].next) {
        const struct wait_lock_requests *r = &w->requests[i - 1];
        const struct wait_lock_request *one =
            r->thread == end->thread ? NULL : wait_lock_find(w, r, h, end);
        if (!one || w->case_count == WAIT_LOCK_CASES)
            continue;
        w->cases = array_reserve(w->cases, &w->case_room, w->case_count + 1, sizeof *w->cases);
        w->cases[w->case_count++] = (struct wait_lock_case){.thread = end->thread,
                                                            .lock = h->lock,
                                                            .about = end->about,
                                                            .place = end->place,
                                                            .held = h->position,
                                                            .waits = end->began,
                                                            .other = r->thread,
                                                            .request = *one};
    }
}

static void wait_locks_feed(void *predictor, const struct sync_op *op)
{
    struct wait_locks *w = predictor;
    struct wait_lock_thread *t = wait_lock_thread_of(w, op->thread);
    switch ((int)op->is) {
    case SYNC_OP_REQUEST:
        t->asks = *op;
        break;
    case SYNC_OP_REFUSED:
        t->asks.lock = 0;
        break;
    case SYNC_OP_ACQUIRE:
        wait_lock_acquire(w, t, op);
        break;
    case SYNC_OP_WAIT:
        wait_lock_note_value(&w->condition_lock, op->about, op->lock);
        wait_lock_release(t, op->lock);
        break;
    case SYNC_OP_RELEASE:
        wait_lock_release(t, op->lock);
        break;
    case SYNC_OP_SIGNAL:
        map_put(&w->signal_of, op->thread, op->about, (void *)(uintptr_t)(op->position + 1));
        wait_lock_note_value(&w->waker_of, op->about, op->thread);
        break;
    case SYNC_OP_POST:
        wait_lock_note_value(&w->waker_of, op->about, op->thread);
        break;
    case SYNC_OP_UNBLOCK:
        for (uint32_t i = 0; i < t->held_count && w->looks < WAIT_LOCK_LOOKS; i++)
            wait_lock_check_held(w, &t->held[i], op);
        break;
    default:
        break;
    }
}

/* ---- findings ---- */

/* Returns whether the waiter may have seen, holding the lock, that the request was over: its thread
 * signaled a condition variable of this lock, or of an unknown one, after it. */
static bool wait_lock_is_announced(const struct wait_locks *w, const struct wait_lock_case *c)
{
    for (struct map_walk walk = {.map = &w->signal_of}; map_next(&walk);) {
        uintptr_t lock = (uintptr_t)map_get(&w->condition_lock, walk.b, 0);
        if (walk.a == c->other && (uintptr_t)walk.value > c->request.position &&
            walk.b != c->about && (!lock || lock == c->lock || lock == WAIT_LOCK_SEVERAL))
            return true;
    }
    return false;
}

/* Returns whether another request by the same thread, of a lock that was held in the same wait, is
 * earlier: the thread would not get as far as to this one. */
static bool wait_lock_is_inner(const struct wait_locks *w, const struct wait_lock_case *c)
{
    for (const struct wait_lock_case *d = c; d-- > w->cases && d->waits == c->waits;)
        if (d->other == c->other && d->request.position < c->request.position)
            return true;
    for (const struct wait_lock_case *d = c;
         ++d < w->cases + w->case_count && d->waits == c->waits;)
        if (d->other == c->other && d->request.position < c->request.position)
            return true;
    return false;
}

static void wait_lock_add_finding(struct findings *findings, const struct wait_lock_case *c)
{
    struct finding *one = findings_add(findings, FINDING_WAIT_WITH_LOCK);
    finding_add_participant(one, (struct finding_participant){.thread = c->thread,
                                                              .lock = c->lock,
                                                              .then_lock = c->about,
                                                              .position = c->held,
                                                              .then = c->waits,
                                                              .begin = NO_POSITION});
    finding_add_participant(one, (struct finding_participant){.thread = c->other,
                                                              .lock = c->lock,
                                                              .position = c->request.position,
                                                              .then = NO_POSITION,
                                                              .begin = c->request.position});
}

static bool wait_locks_step(void *predictor, struct findings *findings, uint64_t *budget)
{
    const struct wait_locks *w = predictor;
    struct map found = {0};
    for (size_t i = 0; i < w->case_count; i++) {
        const struct wait_lock_case *c = &w->cases[i];
        uint64_t places = (uint64_t)c->place << 32 | c->request.place;
        if ((uintptr_t)map_get(&w->waker_of, c->about, 0) == WAIT_LOCK_SEVERAL ||
            wait_lock_is_announced(w, c) || wait_lock_is_inner(w, c) ||
            findings_count_again(findings, &found, places, 0))
            continue;
        wait_lock_add_finding(findings, c);
        findings_remember_last(findings, &found, places, 0);
    }
    findings->cut |= w->case_count == WAIT_LOCK_CASES || w->looks >= WAIT_LOCK_LOOKS;
    map_free(&found);
    (void)budget;
    return true;
}

static void wait_locks_free(void *predictor)
{
    struct wait_locks *w = predictor;
    free(w->threads);
    free(w->requests);
    free(w->cases);
    map_free(&w->thread_of);
    map_free(&w->requests_of);
    map_free(&w->of_lock);
    map_free(&w->last);
    map_free(&w->condition_lock);
    map_free(&w->signal_of);
    map_free(&w->waker_of);
    free(predictor);
}

const struct predictor predictor_wait_locks = {.size = sizeof(struct wait_locks),
                                               .units = true,
                                               .feed = wait_locks_feed,
                                               .step = wait_locks_step,
                                               .free = wait_locks_free};
