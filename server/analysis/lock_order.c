#include "server/analysis/lock_order.h"

#include <stdlib.h>

#define EDGES_MOST 100000u
#define CASES_MOST 32u /* maximum number of cases kept of an edge */
#define CASES_OF_ONE 8u /* maximum number of these that are of one thread */
#define LOOKS_MOST 100000u /* maximum number of steps of the search for cycles from one edge */

struct held_lock {
    uint32_t lock, place;
    bool shared;
    uint32_t depth;
    uint64_t position;
    struct mhb_clock_mark mark;
};

struct lock_order_thread {
    uint32_t line;
    struct held_lock *held;
    size_t count, room;
    struct sync_op asks; /* pending request; lock 0: none */
};

/* One occurrence of an edge in a thread. */
struct lock_order_case {
    uint32_t thread; /* trace line */
    uint64_t held, asked; /* positions of acquisition and request */
    struct mhb_clock_mark held_mark, asked_mark;
};

struct lock_order_edge {
    struct held_lock held, asked; /* only lock, place and shared are used */
    struct held_lock *others; /* locks that are held in addition */
    uint32_t other_count;
    uint32_t next; /* 1 + index of the next edge from the same lock; 0: none */
    uint64_t times;
    struct lock_order_case *cases;
    size_t case_room;
    uint32_t case_count;
};

/* ---- held locks ---- */

static struct lock_order_thread *thread_of(struct lock_order *v, uint32_t line)
{
    uintptr_t known = (uintptr_t)map_get(&v->thread_of, line, 0);
    if (!known) {
        v->threads = array_reserve_zeroed(v->threads, &v->thread_room, v->thread_count + 1,
                                          sizeof *v->threads);
        known = ++v->thread_count;
        v->threads[known - 1].line = line;
        map_put(&v->thread_of, line, 0, (void *)known);
    }
    return &v->threads[known - 1];
}

static struct held_lock *held_of(struct lock_order_thread *t, uint32_t lock)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->held[i].lock == lock)
            return &t->held[i];
    return NULL;
}

/* ---- edges ---- */

static uint64_t lock_order_mix_hash(uint64_t h, uint64_t with)
{
    h = (h ^ with) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t lock_order_hash_edge(const struct lock_order_thread *t,
                                     const struct held_lock *held, const struct held_lock *asked,
                                     uint64_t h)
{
    h = lock_order_mix_hash(lock_order_mix_hash(h, (uint64_t)held->lock << 32 | asked->lock),
                            (uint64_t)held->place << 32 | asked->place);
    h = lock_order_mix_hash(h, (uint64_t)(held->shared * 2 + asked->shared));
    for (size_t i = 0; i < t->count; i++)
        if (&t->held[i] != held)
            h = lock_order_mix_hash(h, (uint64_t)t->held[i].lock << 1 | t->held[i].shared);
    return h;
}

static struct lock_order_edge *make_edge(struct lock_order *v, const struct lock_order_thread *t,
                                         const struct held_lock *held,
                                         const struct held_lock *asked)
{
    v->edges = array_reserve(v->edges, &v->edge_room, v->edge_count + 1, sizeof *v->edges);
    struct lock_order_edge *e = &v->edges[v->edge_count++];
    *e = (struct lock_order_edge){.held = *held, .asked = *asked};
    e->others = xcalloc(t->count, sizeof *e->others);
    for (size_t i = 0; i < t->count; i++)
        if (&t->held[i] != held)
            e->others[e->other_count++] = t->held[i];
    e->next = (uint32_t)(uintptr_t)map_get(&v->by_held, held->lock, 0);
    map_put(&v->by_held, held->lock, 0, (void *)(uintptr_t)v->edge_count);
    return e;
}

/* Adds a case.  Of each thread the first CASES_OF_ONE / 2 are kept; later ones replace each
 * other. */
static void add_case(struct lock_order_edge *e, struct lock_order_case one)
{
    uint32_t mine = 0, at = e->case_count,
             late = CASES_OF_ONE / 2 + e->times++ % (CASES_OF_ONE / 2);
    for (uint32_t i = 0; i < e->case_count; i++)
        if (e->cases[i].thread == one.thread && mine++ == late)
            at = i;
    if (mine < CASES_OF_ONE && e->case_count < CASES_MOST) {
        e->cases = array_reserve(e->cases, &e->case_room, e->case_count + 1u, sizeof *e->cases);
        e->cases[e->case_count++] = one;
    } else if (at < e->case_count) {
        e->cases[at] = one;
    }
}

static void add_edge(struct lock_order *v, const struct lock_order_thread *t,
                     const struct held_lock *held, const struct held_lock *asked)
{
    uint64_t a = lock_order_hash_edge(t, held, asked, 1),
             b = lock_order_hash_edge(t, held, asked, 2);
    uintptr_t known = (uintptr_t)map_get(&v->edge_of, a, b);
    if (!known && v->edge_count >= EDGES_MOST)
        return;
    struct lock_order_edge *e = known ? &v->edges[known - 1] : make_edge(v, t, held, asked);
    if (!known)
        map_put(&v->edge_of, a, b, (void *)(uintptr_t)v->edge_count);
    add_case(e, (struct lock_order_case){.thread = t->line,
                                         .held = held->position,
                                         .asked = asked->position,
                                         .held_mark = held->mark,
                                         .asked_mark = asked->mark});
}

/* Adds an edge from each lock that the thread holds to the one that it requested. */
static void add_edges(struct lock_order *v, struct lock_order_thread *t, bool shared)
{
    const struct sync_op *asks = &t->asks;
    struct held_lock asked = {.lock = asks->lock,
                              .place = asks->place,
                              .shared = shared,
                              .position = asks->position,
                              .mark = asks->mark};
    for (size_t i = 0; i < t->count && asks->lock && !asks->timed; i++)
        add_edge(v, t, &t->held[i], &asked);
    t->asks.lock = 0;
}

static void lock_order_on_acquire(struct lock_order *v, struct lock_order_thread *t,
                                  const struct sync_op *d)
{
    struct held_lock *known = held_of(t, d->lock);
    if (known)
        return;
    if (t->asks.lock == d->lock)
        add_edges(v, t, d->shared);
    t->held = array_reserve(t->held, &t->room, t->count + 1, sizeof *t->held);
    t->held[t->count++] = (struct held_lock){.lock = d->lock,
                                             .place = d->place,
                                             .shared = d->shared,
                                             .position = d->position,
                                             .mark = d->mark};
}

static void lock_order_on_release(struct lock_order_thread *t, uint32_t lock)
{
    struct held_lock *h = held_of(t, lock);
    if (!h)
        return;
    size_t i = (size_t)(h - t->held);
    for (t->count--; i < t->count; i++)
        t->held[i] = t->held[i + 1];
}

void lock_order_feed(struct lock_order *v, const struct sync_op *d)
{
    struct lock_order_thread *t = thread_of(v, d->thread);
    switch (d->is) {
    case SYNC_OP_REQUEST:
        if (!held_of(t, d->lock))
            t->asks = *d;
        break;
    case SYNC_OP_ACQUIRE:
        lock_order_on_acquire(v, t, d);
        break;
    case SYNC_OP_RELEASE:
    case SYNC_OP_WAIT:
        lock_order_on_release(t, d->lock);
        break;
    case SYNC_OP_REFUSED:
        if (t->asks.lock && !t->asks.timed)
            map_put(&v->tries, d->place, 0, v);
        t->asks.lock = 0;
        break;
    case SYNC_OP_SIGNAL:
    case SYNC_OP_WOKEN:
    case SYNC_OP_RECEIVE:
        break;
    }
}

/* ---- cycles ---- */

/* edges, of which each begins at the lock that the previous one requests */
struct lock_order_path {
    const struct lock_order_edge *edges[FINDING_PARTICIPANTS];
    const struct lock_order_case *cases[FINDING_PARTICIPANTS];
    uint32_t count;
    uint64_t looks;
};

static bool is_common(const struct held_lock *a, const struct held_lock *b)
{
    return a->lock == b->lock && !(a->shared && b->shared);
}

static bool is_among(const struct held_lock *one, const struct lock_order_edge *e)
{
    bool among = is_common(one, &e->held);
    for (uint32_t i = 0; i < e->other_count; i++)
        among |= is_common(one, &e->others[i]);
    return among;
}

/* Returns whether both edges hold a common lock that excludes the threads from each other (a gate
 * lock). */
static bool have_gate(const struct lock_order_edge *a, const struct lock_order_edge *b)
{
    bool have = is_among(&a->held, b);
    for (uint32_t i = 0; i < a->other_count; i++)
        have |= is_among(&a->others[i], b);
    return have;
}

/* Returns whether both threads can hold their first lock and request their second one at the same
 * time. */
static bool lock_order_are_compatible(const struct lock_order_case *a,
                                      const struct lock_order_case *b)
{
    return a->thread != b->thread && !mhb_before(a->asked_mark, b->held_mark) &&
           !mhb_before(b->asked_mark, a->held_mark);
}

/* Finds a case of each edge from the i-th on that is compatible with those before. */
static bool find_cases(struct lock_order_path *w, uint32_t i)
{
    if (i == w->count)
        return true;
    for (uint32_t k = 0; k < w->edges[i]->case_count && w->looks < LOOKS_MOST; k++) {
        bool fits = true;
        w->cases[i] = &w->edges[i]->cases[k];
        w->looks++;
        for (uint32_t j = 0; j < i && fits; j++)
            fits = lock_order_are_compatible(w->cases[i], w->cases[j]);
        if (fits && find_cases(w, i + 1))
            return true;
    }
    return false;
}

static bool may_follow(const struct lock_order_path *w, const struct lock_order_edge *e)
{
    const struct lock_order_edge *last = w->edges[w->count - 1];
    if (last->asked.shared && e->held.shared)
        return false;
    for (uint32_t i = 0; i < w->count; i++)
        if (have_gate(w->edges[i], e))
            return false;
    return true;
}

/* Returns a hash that does not depend on the edge with which the cycle begins. */
static uint64_t lock_order_path_hash(const struct lock_order_path *w)
{
    uint64_t sum = w->count;
    for (uint32_t i = 0; i < w->count; i++)
        sum += lock_order_mix_hash(lock_order_mix_hash(7, w->edges[i]->held.place),
                                   w->edges[i]->asked.place);
    return sum;
}

static void lock_order_note_cycle(struct lock_order *v, struct findings *findings,
                                  struct lock_order_path *w)
{
    uint64_t places = lock_order_path_hash(w);
    uintptr_t known = (uintptr_t)map_get(&v->found, places, 0);
    if (!known && !find_cases(w, 0))
        return;
    if (known) {
        findings->items[known - 1].times++;
        return;
    }
    struct finding *f = findings_add(findings, FINDING_LOCK_ORDER_INVERSION);
    for (uint32_t i = 0; i < w->count; i++)
        finding_add_participant(f,
                                (struct finding_participant){.thread = w->cases[i]->thread,
                                                             .lock = w->edges[i]->held.lock,
                                                             .then_lock = w->edges[i]->asked.lock,
                                                             .position = w->cases[i]->held,
                                                             .then = w->cases[i]->asked,
                                                             .begin = w->cases[i]->asked});
    map_put(&v->found, places, 0, (void *)(uintptr_t)findings->count);
}

static void lock_order_extend_path(struct lock_order *v, struct findings *findings,
                                   struct lock_order_path *w)
{
    const struct lock_order_edge *first = w->edges[0], *last = w->edges[w->count - 1];
    if (last->asked.lock == first->held.lock) {
        if (w->count > 1 && !(last->asked.shared && first->held.shared))
            lock_order_note_cycle(v, findings, w);
        return;
    }
    if (w->count == FINDING_PARTICIPANTS)
        return;
    for (uint32_t i = (uint32_t)(uintptr_t)map_get(&v->by_held, last->asked.lock, 0); i;
         i = v->edges[i - 1].next) {
        const struct lock_order_edge *e = &v->edges[i - 1];
        if (++w->looks > LOOKS_MOST)
            return;
        if (e->held.lock <= first->held.lock || map_get(&v->tries, e->asked.place, 0) ||
            !may_follow(w, e))
            continue;
        w->edges[w->count++] = e;
        lock_order_extend_path(v, findings, w);
        w->count--;
    }
}

/* Searches for each cycle from its lowest lock. */
bool lock_order_step(struct lock_order *v, struct findings *findings, uint64_t *budget)
{
    for (size_t i = 0; !v->ended && i < v->thread_count; i++)
        add_edges(v, &v->threads[i], false); /* requests that are still pending */
    v->ended = true;
    while (v->start < v->edge_count && *budget) {
        struct lock_order_path w = {.edges = {&v->edges[v->start]}, .count = 1};
        if (!map_get(&v->tries, w.edges[0]->asked.place, 0))
            lock_order_extend_path(v, findings, &w);
        findings->cut |= w.looks > LOOKS_MOST;
        *budget -= w.looks + 1 < *budget ? w.looks + 1 : *budget;
        v->start++;
    }
    findings->cut |= v->edge_count >= EDGES_MOST;
    return v->start >= v->edge_count;
}

void lock_order_free(struct lock_order *v)
{
    for (size_t i = 0; i < v->thread_count; i++)
        free(v->threads[i].held);
    for (size_t i = 0; i < v->edge_count; i++) {
        free(v->edges[i].others);
        free(v->edges[i].cases);
    }
    free(v->threads);
    free(v->edges);
    map_free(&v->thread_of);
    map_free(&v->edge_of);
    map_free(&v->by_held);
    map_free(&v->tries);
    map_free(&v->found);
}
