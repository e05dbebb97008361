/* Lock order inversions: cycles of threads of which each holds the lock that the next one requests
 * (Havelund 2000; Joshi, Park, Sen and Naik 2009).
 *
 * Cycles that cannot occur are left out: those in which two of the threads hold a common lock
 * meanwhile, or in which one part must happen before another begins (must_happen_before.h).  A
 * request with a timeout closes no cycle, nor does one at a place where a refused request was not
 * repeated.
 *
 * A read-write lock that prefers waiting writers is in a cycle of its own if a thread acquires it
 * for reading while it already does so, and a writer can request it in between. */
#include "base/map.h"
#include "server/analysis/findings.h"

#include <stdlib.h>

#define EDGES_MOST 100000u
#define CASES_MOST 32u /* maximum number of cases kept of an edge */
#define CASES_OF_ONE 8u /* maximum number of these that are of one thread */
#define READERS_MOST 1000u /* maximum number of nested acquisitions, and of writers, kept */
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

struct lock_order {
    struct lock_order_thread *threads;
    size_t thread_count, thread_room;
    struct map thread_of; /* line -> 1 + index */
    struct lock_order_edge *edges; /* a lock that is held while another one is requested */
    size_t edge_count, edge_room;
    struct map edge_of, by_held, tries; /* tries: call sites at which a request was refused */
    struct map found; /* by call sites -> 1 + index of findings */
    /* nested acquisitions by readers; requests of writers, of which `held` is not used */
    struct lock_order_edge *rereads, *writes;
    size_t reread_count, reread_room, write_count, write_room;
    size_t start; /* the edge at which the search for cycles begins */
    bool ended;
};

/* ---- held locks ---- */

static struct lock_order_thread *thread_of(struct lock_order *v, uint32_t line)
{
    return MAP_ITEM(&v->thread_of, line, 0, v->threads, v->thread_count, v->thread_room,
                    (struct lock_order_thread){.line = line});
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

/* held: NULL: no lock; then all that the thread holds are others. */
static void lock_order_set_edge(struct lock_order_edge *e, const struct lock_order_thread *t,
                                const struct held_lock *held, const struct held_lock *asked)
{
    *e = (struct lock_order_edge){.asked = *asked};
    if (held)
        e->held = *held;
    e->others = xcalloc(t->count + 1, sizeof *e->others);
    for (size_t i = 0; i < t->count; i++)
        if (&t->held[i] != held)
            e->others[e->other_count++] = t->held[i];
}

static struct lock_order_edge *make_edge(struct lock_order *v, const struct lock_order_thread *t,
                                         const struct held_lock *held,
                                         const struct held_lock *asked)
{
    v->edges = array_reserve(v->edges, &v->edge_room, v->edge_count + 1, sizeof *v->edges);
    struct lock_order_edge *e = &v->edges[v->edge_count++];
    lock_order_set_edge(e, t, held, asked);
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

/* ---- nested read locks ---- */

/* Returns whether the thread is at the same call sites, with the same other locks. */
static bool lock_order_is_same(const struct lock_order_edge *e, const struct lock_order_thread *t,
                               const struct held_lock *held, const struct sync_op *d)
{
    uint32_t others = 0;
    bool same = e->asked.lock == d->lock && e->asked.place == d->place &&
                (!held || e->held.place == held->place);
    for (size_t i = 0; i < t->count && same; i++)
        if (&t->held[i] != held)
            same = others < e->other_count && e->others[others++].lock == t->held[i].lock;
    return same && others == e->other_count;
}

/* Adds a case of an edge to one of the lists of read-write locks. */
static void lock_order_add_rw(struct lock_order_edge **list, size_t *count, size_t *room,
                              const struct lock_order_thread *t, const struct held_lock *held,
                              const struct sync_op *d)
{
    struct held_lock asked = {
        .lock = d->lock, .place = d->place, .position = d->position, .mark = d->mark};
    size_t i = 0;
    while (i < *count && !lock_order_is_same(&(*list)[i], t, held, d))
        i++;
    if (i == *count && i == READERS_MOST)
        return;
    if (i == *count) {
        *list = array_reserve(*list, room, i + 1, sizeof **list);
        lock_order_set_edge(&(*list)[i], t, held, &asked);
        ++*count;
    }
    add_case(&(*list)[i], (struct lock_order_case){.thread = t->line,
                                                   .held = held ? held->position : d->position,
                                                   .asked = d->position,
                                                   .held_mark = held ? held->mark : d->mark,
                                                   .asked_mark = d->mark});
}

static void lock_order_on_reread(struct lock_order *v, struct lock_order_thread *t,
                                 const struct sync_op *d)
{
    const struct held_lock *held = held_of(t, d->lock);
    if (held && held->shared)
        lock_order_add_rw(&v->rereads, &v->reread_count, &v->reread_room, t, held, d);
}

static void lock_order_on_acquire(struct lock_order *v, struct lock_order_thread *t,
                                  const struct sync_op *d)
{
    struct held_lock *known = held_of(t, d->lock);
    if (known)
        return;
    if (t->asks.lock == d->lock && !t->asks.timed && d->may_share && !d->shared)
        lock_order_add_rw(&v->writes, &v->write_count, &v->write_room, t, NULL, &t->asks);
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

static void lock_order_feed(void *predictor, const struct sync_op *d)
{
    struct lock_order *v = predictor;
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
    case SYNC_OP_REREAD:
        lock_order_on_reread(v, t, d);
        break;
    case SYNC_OP_SIGNAL:
    case SYNC_OP_WOKEN:
    case SYNC_OP_RECEIVE:
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
    if (findings_count_again(findings, &v->found, places, 0) || !find_cases(w, 0))
        return;
    struct finding *f = findings_add(findings, FINDING_LOCK_ORDER_INVERSION);
    for (uint32_t i = 0; i < w->count; i++)
        finding_add_participant(f,
                                (struct finding_participant){.thread = w->cases[i]->thread,
                                                             .lock = w->edges[i]->held.lock,
                                                             .then_lock = w->edges[i]->asked.lock,
                                                             .position = w->cases[i]->held,
                                                             .then = w->cases[i]->asked,
                                                             .begin = w->cases[i]->asked});
    findings_remember_last(findings, &v->found, places, 0);
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

static struct finding_participant lock_order_participant(const struct lock_order_edge *e,
                                                         const struct lock_order_case *c)
{
    bool nested = e->held.lock != 0;
    return (struct finding_participant){.thread = c->thread,
                                        .lock = e->asked.lock,
                                        .then_lock = nested ? e->asked.lock : 0,
                                        .position = nested ? c->held : c->asked,
                                        .then = nested ? c->asked : NO_POSITION,
                                        .begin = c->asked};
}

/* Adds a finding if the writer can request the lock between the two acquisitions of the reader. */
static void lock_order_add_recursion(const struct lock_order_edge *reread,
                                     const struct lock_order_edge *write, struct findings *findings)
{
    for (uint32_t i = 0; i < reread->case_count; i++)
        for (uint32_t k = 0; k < write->case_count; k++) {
            if (!lock_order_are_compatible(&reread->cases[i], &write->cases[k]))
                continue;
            struct finding *f = findings_add(findings, FINDING_READ_RECURSION);
            f->times = reread->times;
            finding_add_participant(f, lock_order_participant(reread, &reread->cases[i]));
            finding_add_participant(f, lock_order_participant(write, &write->cases[k]));
            return;
        }
}

/* Returns whether both threads hold a common lock besides the one that they request. */
static bool lock_order_have_other_gate(const struct lock_order_edge *a,
                                       const struct lock_order_edge *b)
{
    for (uint32_t i = 0; i < a->other_count; i++)
        for (uint32_t k = 0; k < b->other_count; k++)
            if (is_common(&a->others[i], &b->others[k]))
                return true;
    return false;
}

static void lock_order_find_recursions(const struct lock_order *v, struct findings *findings)
{
    for (size_t i = 0; i < v->reread_count; i++)
        for (size_t k = 0; k < v->write_count; k++)
            if (v->rereads[i].asked.lock == v->writes[k].asked.lock &&
                !map_get(&v->tries, v->writes[k].asked.place, 0) &&
                !lock_order_have_other_gate(&v->rereads[i], &v->writes[k]))
                lock_order_add_recursion(&v->rereads[i], &v->writes[k], findings);
}

/* Searches for each cycle from its lowest lock. */
static bool lock_order_step(void *predictor, struct findings *findings, uint64_t *budget)
{
    struct lock_order *v = predictor;
    for (size_t i = 0; !v->ended && i < v->thread_count; i++)
        add_edges(v, &v->threads[i], false); /* requests that are still pending */
    if (!v->ended)
        lock_order_find_recursions(v, findings);
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

static void lock_order_free_rw(struct lock_order_edge *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i].others);
        free(list[i].cases);
    }
    free(list);
}

static void lock_order_free(void *predictor)
{
    struct lock_order *v = predictor;
    for (size_t i = 0; i < v->thread_count; i++)
        free(v->threads[i].held);
    for (size_t i = 0; i < v->edge_count; i++) {
        free(v->edges[i].others);
        free(v->edges[i].cases);
    }
    lock_order_free_rw(v->rereads, v->reread_count);
    lock_order_free_rw(v->writes, v->write_count);
    free(v->threads);
    free(v->edges);
    map_free(&v->thread_of);
    map_free(&v->edge_of);
    map_free(&v->by_held);
    map_free(&v->tries);
    map_free(&v->found);
    free(predictor);
}

const struct predictor predictor_lock_order = {.size = sizeof(struct lock_order),
                                               .units = true,
                                               .feed = lock_order_feed,
                                               .step = lock_order_step,
                                               .free = lock_order_free};
