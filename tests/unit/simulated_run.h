/* Simulated concurrent programs with a clock of their own in ns; what each thread did is added to
 * intervals. */
#ifndef TESTS_UNIT_SIMULATED_RUN_H
#define TESTS_UNIT_SIMULATED_RUN_H

#include "base/alloc.h"
#include "server/timing/intervals.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum act { WORK, LOCK, UNLOCK, BARRIER, SEND, RECEIVE };

struct op {
    enum act act;
    uint32_t what; /* the name of a step; a lock, a barrier, a channel */
    int64_t ns;
};

#define THREADS 6
#define OPS 64
#define THINGS 256

struct running {
    struct op ops[OPS];
    unsigned count, next;
    int64_t at;
    int waits_for; /* 1 + index of a thing */
    int64_t since;
    bool over;
};

struct world {
    struct running threads[THREADS];
    unsigned count;
    int64_t latency;
    bool gathers; /* the members of a barrier are being released */
    bool locks; /* random programs may use locks */
    struct intervals all;
    struct thing {
        int holder; /* 1 + index of the thread */
        int queue[THREADS];
        unsigned queued;
        int last; /* 1 + index of the thread that released it, or sent to it, last */
        int64_t left;
        unsigned came;
        int64_t arrivals[THREADS];
        int arrived[THREADS];
    } things[THINGS];
    uint64_t position, group;
};

static inline uint32_t line_of(unsigned thread) { return thread + 1; }

static inline void runs(struct world *w, unsigned t, uint32_t name, int64_t ns)
{
    uint32_t step =
        code_segments_code(&w->all.steps, (struct code_segment_key){.from = name, .to = name});
    w->threads[t].at += ns;
    intervals_add_run(&w->all, line_of(t), step, w->threads[t].at, ++w->position);
}

static inline void tie(struct world *w, unsigned t, unsigned from, int64_t from_ns, uint32_t about)
{
    intervals_add_edge(&w->all, line_of(t),
                       (struct interval_edge){w->threads[t].at, from_ns, line_of(from), about});
}

/* Ends the wait of thread t, which `by` unblocked. */
static inline void goes_on(struct world *w, unsigned t, unsigned by, int64_t at, uint32_t about,
                           int class)
{
    struct running *r = &w->threads[t];
    struct wait_record wait = {.from_ns = r->since,
                               .to_ns = at + w->latency,
                               .thread = line_of(t),
                               .about = about,
                               .class = (uint8_t) class};
    struct wait_interval segment = {.to_ns = at, .thread = line_of(by), .class = (uint8_t) class};
    uint32_t step = code_segments_code(&w->all.steps,
                                       (struct code_segment_key){.from = 99, .is = STEP_LATENCY});
    intervals_add_wait(&w->all, wait, &segment, 1, step);
    r->at = at;
    if (at == r->since && !w->gathers) /* it did not wait, but the order edge counts */
        tie(w, t, by, at, about);
    r->at = at + w->latency;
    r->waits_for = 0;
}

static inline void unlocks(struct world *w, unsigned t, struct thing *m, uint32_t about)
{
    m->holder = 0;
    m->last = (int)t + 1;
    m->left = w->threads[t].at;
    if (!m->queued)
        return;
    unsigned q = (unsigned)m->queue[0];
    memmove(m->queue, m->queue + 1, --m->queued * sizeof *m->queue);
    m->holder = (int)q + 1;
    goes_on(w, q, t, m->left, about, WAIT_CONTENTION);
}

static inline void arrives(struct world *w, unsigned t, struct thing *b, uint32_t about)
{
    struct running *r = &w->threads[t];
    r->since = r->at;
    b->arrivals[b->came] = r->at;
    b->arrived[b->came++] = (int)t;
    if (b->came < w->count) {
        r->waits_for = (int)about;
        return;
    }
    w->group++;
    w->gathers = true;
    for (unsigned i = 0; i < b->came; i++) {
        unsigned q = (unsigned)b->arrived[i];
        struct gathering g = {.came_ns = b->arrivals[i], .at_ns = r->at, .group = w->group};
        intervals_add_gathering(&w->all, line_of(q), g);
        if (q != t)
            goes_on(w, q, t, r->at, about, WAIT_RENDEZVOUS);
    }
    b->came = 0;
    w->gathers = false;
}

static inline void sends(struct world *w, unsigned t, struct thing *c, uint32_t about)
{
    c->last = (int)t + 1;
    c->left = w->threads[t].at;
    if (!c->queued)
        return;
    unsigned q = (unsigned)c->queue[0];
    c->queued = 0;
    goes_on(w, q, t, c->left, about, WAIT_RENDEZVOUS);
}

static inline void does(struct world *w, unsigned t)
{
    struct running *r = &w->threads[t];
    const struct op *op = &r->ops[r->next++];
    struct thing *thing = &w->things[op->what % THINGS];
    uint32_t about = op->what % THINGS + 1;
    bool free = op->act == LOCK ? !thing->holder : thing->last != 0;
    switch (op->act) {
    case WORK:
        runs(w, t, op->what, op->ns);
        break;
    case LOCK:
    case RECEIVE: /* a channel holds one message */
        r->since = r->at;
        if (!free) {
            r->waits_for = (int)about;
            thing->queue[thing->queued++] = (int)t;
        } else if (thing->last)
            tie(w, t, (unsigned)thing->last - 1, thing->left, about);
        if (free && op->act == LOCK)
            thing->holder = (int)t + 1;
        break;
    case UNLOCK:
        unlocks(w, t, thing, about);
        break;
    case BARRIER:
        arrives(w, t, thing, about);
        break;
    case SEND:
        sends(w, t, thing, about);
    }
}

/* Returns false if the program deadlocked. */
static inline bool run(struct world *w)
{
    for (unsigned t = 0; t < w->count; t++)
        intervals_start(&w->all, line_of(t), 0, 0);
    for (;;) {
        int first = -1;
        unsigned waiting = 0;
        for (unsigned t = 0; t < w->count; t++) {
            struct running *r = &w->threads[t];
            waiting += r->waits_for != 0;
            if (!r->waits_for && r->next < r->count && (first < 0 || r->at < w->threads[first].at))
                first = (int)t;
        }
        if (first < 0)
            return waiting == 0;
        does(w, (unsigned)first);
    }
}

static inline void add(struct world *w, unsigned t, enum act act, uint32_t what, int64_t ns)
{
    struct running *r = &w->threads[t];
    assert_true(r->count < OPS);
    r->ops[r->count++] = (struct op){act, what, ns};
    if (t >= w->count)
        w->count = t + 1;
}

static inline void drop(struct world *w)
{
    intervals_free(&w->all);
    free(w);
}

static inline struct world *world(int64_t latency)
{
    struct world *w = xcalloc(1, sizeof *w);
    w->latency = latency;
    return w;
}

#endif
