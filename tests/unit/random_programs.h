/* Random concurrent programs, simulated to the nanosecond. Their records are added to intervals in
 * a random order in which no effect comes before its cause. */
#ifndef TESTS_UNIT_RANDOM_PROGRAMS_H
#define TESTS_UNIT_RANDOM_PROGRAMS_H

#include "server/timing/intervals.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 6
#define OPS 96
#define RECORDS 512
#define LOCKS 3
#define CHANNELS 48
#define GROUPS 20

enum op_is {
    OP_WORK, /* step, ns */
    OP_LOCK,
    OP_UNLOCK,
    OP_BARRIER, /* group, members */
    OP_SEND,
    OP_RECEIVE,
    OP_MAKE, /* thread */
    OP_JOIN,
    OP_AWAIT, /* channel; the lock that it holds: wait for a condition variable */
    OP_SIGNAL,
    OP_SLEEP, /* ns */
    OP_UNSEEN /* ns */
};

struct op {
    enum op_is is;
    int a, n;
};

/* A record of a thread: it ran a step, or waited. */
struct record {
    bool waits;
    uint32_t step;
    int64_t to_ns;
    struct wait_record wait;
    struct wait_interval segments[THREADS * 4];
    uint32_t count;
    /* when the group that it arrived at was complete; INTERVALS_NEVER: it arrived at none */
    int64_t gathered_ns;
    uint64_t group;
};

struct held {
    int64_t from_ns, to_ns;
    int who;
};

struct actor {
    struct op ops[OPS];
    int op_count, at;
    enum { UNBORN, READY, BLOCKED, OVER } is;
    int64_t now, begin, made_ns, start_ns, end_ns;
    int maker, root; /* maker -1: a root, which exists from the start */
    int condition; /* the condition variable at which it waits; -1: none */
    struct wait_interval first; /* the wait interval that ended with the signal */
    bool signalled;
    struct record records[RECORDS];
    int record_count, told;
};

struct world {
    struct actor actors[THREADS];
    int threads;
    int64_t latency_ns;
    struct intervals *into; /* assigns the codes of steps */
    int holder[LOCKS], queue[LOCKS][THREADS], queued[LOCKS];
    struct held held[LOCKS][512];
    int held_count[LOCKS];
    int arrived[GROUPS][THREADS], arrived_count[GROUPS];
    int sent[CHANNELS], waiting[CHANNELS]; /* waiting: 1 + thread */
    int awaiting[CHANNELS], lock_of[CHANNELS];
    uint64_t releases; /* number of positions assigned */
};

static inline uint32_t line_of(int thread) { return 10 + (uint32_t)thread; }
static inline uint32_t step_of(struct world *w, enum code_segment_kind is, int place)
{
    return code_segments_code(&w->into->steps,
                              (struct code_segment_key){.from = (uint32_t)place + 1,
                                                        .to = (uint32_t)place + 1,
                                                        .is = (uint8_t)is});
}

static inline struct record *record(struct actor *a)
{
    assert(a->record_count < RECORDS);
    struct record *r = &a->records[a->record_count++];
    *r = (struct record){.gathered_ns = INTERVALS_NEVER};
    return r;
}

static inline void ran(struct world *w, struct actor *a, int label, int64_t ns)
{
    struct record *r = record(a);
    a->now += ns;
    r->step = step_of(w, STEP_CODE, label);
    r->to_ns = a->now;
}

/* Ends the thread's wait and returns its record; the caller adds the wait intervals, of which the
 * last ends with the release. */
static inline struct record *woke(struct world *w, int thread, enum wait_class class, int64_t to_ns,
                                  enum code_segment_kind rest)
{
    struct actor *a = &w->actors[thread];
    struct record *r = record(a);
    r->waits = true;
    r->step = step_of(w, rest, 20 + (int)class);
    r->wait = (struct wait_record){.from_ns = a->begin,
                                   .to_ns = to_ns,
                                   .thread = line_of(thread),
                                   .place = 20 + (uint32_t)a->at,
                                   .type = (uint32_t)a->ops[a->at - 1].is,
                                   .class = (uint8_t) class};
    a->now = to_ns;
    a->is = READY;
    return r;
}

static inline void segment(struct world *w, struct record *r, int who, int64_t to_ns,
                           enum wait_class class)
{
    assert(r->count < THREADS * 4);
    r->segments[r->count++] = (struct wait_interval){
        .to_ns = to_ns, .thread = line_of(who), .release = ++w->releases, .class = (uint8_t) class};
}

static inline void met(struct world *w, int thread, int who, int64_t at_ns)
{
    struct record *r = woke(w, thread, WAIT_RENDEZVOUS, at_ns + w->latency_ns, STEP_LATENCY);
    segment(w, r, who, at_ns, WAIT_RENDEZVOUS);
}

static inline void block(struct actor *a)
{
    a->begin = a->now;
    a->is = BLOCKED;
}

static inline void take_lock(struct world *w, int m, int thread, int64_t at_ns)
{
    w->holder[m] = 1 + thread;
    w->held[m][w->held_count[m]++] = (struct held){at_ns, INTERVALS_NEVER, thread};
    assert(w->held_count[m] < 512);
}

/* Gives the lock to a thread that has waited for it since a->begin, or that was signaled. */
static inline void hand_over(struct world *w, int m, int thread, int64_t at_ns)
{
    struct actor *a = &w->actors[thread];
    bool signalled = a->signalled;
    struct record *r = woke(w, thread, signalled ? WAIT_RENDEZVOUS : WAIT_CONTENTION,
                            at_ns + w->latency_ns, STEP_LATENCY);
    int64_t from = r->wait.from_ns;
    if (signalled) {
        segment(w, r, (int)a->first.thread, a->first.to_ns, WAIT_RENDEZVOUS);
        from = a->first.to_ns;
    }
    a->signalled = false;
    for (int i = 0; i < w->held_count[m]; i++) {
        struct held *h = &w->held[m][i];
        if (h->to_ns != INTERVALS_NEVER && h->to_ns > from && h->who != thread)
            segment(w, r, h->who, from = h->to_ns, WAIT_CONTENTION);
    }
    take_lock(w, m, thread, at_ns);
}

static inline void leave_lock(struct world *w, int m, int64_t at_ns)
{
    w->held[m][w->held_count[m] - 1].to_ns = at_ns;
    w->holder[m] = 0;
    if (!w->queued[m])
        return;
    int next = w->queue[m][0];
    memmove(w->queue[m], w->queue[m] + 1, sizeof w->queue[m] - sizeof w->queue[m][0]);
    w->queued[m]--;
    hand_over(w, m, next, at_ns);
}

static inline void arrive(struct world *w, int thread, int group, int members)
{
    struct actor *a = &w->actors[thread];
    w->arrived[group][w->arrived_count[group]++] = thread;
    block(a);
    if (w->arrived_count[group] < members)
        return;
    int64_t now = a->now;
    for (int i = 0; i < members; i++) {
        int who = w->arrived[group][i];
        if (who == thread) {
            a->is = READY;
            struct record *r = record(a);
            *r = (struct record){.to_ns = now, .gathered_ns = now, .group = (uint64_t)group};
        } else {
            met(w, who, thread, now);
            struct actor *other = &w->actors[who];
            other->records[other->record_count - 1].gathered_ns = now;
            other->records[other->record_count - 1].group = (uint64_t)group;
        }
    }
    w->arrived_count[group] = 0;
}

static inline void start(struct world *w, int thread, int maker, int64_t at_ns)
{
    struct actor *a = &w->actors[thread];
    a->maker = maker;
    a->made_ns = at_ns;
    a->now = a->start_ns = maker < 0 ? at_ns : at_ns + w->latency_ns;
    a->is = READY;
    record(a)->to_ns = a->start_ns; /* a record without duration: the start of the thread */
}

static inline void signal_one(struct world *w, int thread, int c)
{
    struct actor *a = &w->actors[thread], *b = &w->actors[w->awaiting[c] - 1];
    int m = w->lock_of[c];
    b->first = (struct wait_interval){.to_ns = a->now, .thread = (uint32_t)thread};
    b->signalled = true;
    w->queue[m][w->queued[m]++] = w->awaiting[c] - 1;
    w->awaiting[c] = 0;
}

static inline void pause_for(struct world *w, struct actor *a, int thread, int64_t ns, bool timer)
{
    block(a);
    struct record *r = woke(w, thread, timer ? WAIT_TIMEOUT : WAIT_RENDEZVOUS, a->now + ns,
                            timer ? STEP_TIMEOUT : STEP_UNKNOWN);
    r->wait.unexplained = timer ? WAIT_ATTRIBUTED : UNATTRIBUTED_UNTRACED;
}

static inline void step(struct world *w, int thread)
{
    struct actor *a = &w->actors[thread];
    struct op op = a->ops[a->at++];
    switch (op.is) {
    case OP_WORK:
        ran(w, a, op.a, op.n);
        break;
    case OP_LOCK:
        if (w->holder[op.a]) {
            block(a);
            w->queue[op.a][w->queued[op.a]++] = thread;
        } else
            take_lock(w, op.a, thread, a->now);
        break;
    case OP_UNLOCK:
        leave_lock(w, op.a, a->now);
        break;
    case OP_BARRIER:
        arrive(w, thread, op.a, op.n);
        break;
    case OP_SEND:
        if (w->waiting[op.a])
            met(w, w->waiting[op.a] - 1, thread, a->now);
        else
            w->sent[op.a]++;
        w->waiting[op.a] = 0;
        break;
    case OP_RECEIVE:
        if (w->sent[op.a])
            w->sent[op.a]--;
        else {
            block(a);
            w->waiting[op.a] = 1 + thread;
        }
        break;
    case OP_MAKE:
        start(w, op.a, thread, a->now);
        break;
    case OP_JOIN:
        if (w->actors[op.a].is != OVER) {
            block(a);
            w->waiting[CHANNELS - 1 - op.a] = 1 + thread;
        }
        break;
    case OP_AWAIT:
        block(a);
        w->awaiting[op.a] = 1 + thread;
        w->lock_of[op.a] = op.n;
        leave_lock(w, op.n, a->now);
        break;
    case OP_SIGNAL:
        if (w->awaiting[op.a])
            signal_one(w, thread, op.a);
        break;
    case OP_SLEEP:
        pause_for(w, a, thread, op.n, true);
        break;
    case OP_UNSEEN:
        pause_for(w, a, thread, op.n, false);
        break;
    }
}

static inline void over(struct world *w, int thread)
{
    struct actor *a = &w->actors[thread];
    a->is = OVER;
    a->end_ns = a->now;
    int *joins = &w->waiting[CHANNELS - 1 - thread];
    if (*joins)
        met(w, *joins - 1, thread, a->now);
    *joins = 0;
}

static inline void op(struct world *w, int thread, enum op_is is, int a, int n)
{
    struct actor *actor = &w->actors[thread];
    assert(actor->op_count < OPS);
    actor->ops[actor->op_count++] = (struct op){is, a, n};
}

/* Runs all threads to their ends. Returns false if some of them wait forever. */
static inline bool simulate(struct world *w)
{
    for (;;) {
        int next = -1, unfinished = 0;
        for (int i = 0; i < w->threads; i++) {
            struct actor *a = &w->actors[i];
            unfinished += a->is != OVER;
            if (a->is == READY && (next < 0 || a->now < w->actors[next].now))
                next = i;
        }
        if (next < 0)
            return !unfinished;
        if (w->actors[next].at == w->actors[next].op_count)
            over(w, next);
        else
            step(w, next);
    }
}

/* ---- adding records to intervals ---- */

static inline int64_t told_until(const struct actor *a)
{
    if (a->told == a->record_count)
        return INT64_MAX;
    return a->told ? a->records[a->told - 1].to_ns : INTERVALS_NEVER;
}

static inline int64_t end_of(const struct record *r) { return r->waits ? r->wait.to_ns : r->to_ns; }

/* Returns whether all records were added that the thread's next record depends on. */
static inline bool may_tell(const struct world *w, int thread)
{
    const struct actor *a = &w->actors[thread];
    if (a->told == a->record_count)
        return false;
    const struct record *r = &a->records[a->told];
    if (!a->told && a->maker >= 0 && told_until(&w->actors[a->maker]) < a->made_ns)
        return false;
    for (uint32_t i = 0; r->waits && i < r->count; i++)
        if (told_until(&w->actors[r->segments[i].thread - line_of(0)]) < r->segments[i].to_ns)
            return false;
    return true;
}

static inline void tell(struct world *w, int thread)
{
    struct actor *a = &w->actors[thread];
    struct record *r = &a->records[a->told++];
    uint32_t line = line_of(thread);
    if (a->told == 1) {
        if (a->maker >= 0)
            intervals_set_created(w->into, line, line_of(a->maker), a->made_ns, 1);
        intervals_start(w->into, line, a->start_ns, 1);
    }
    if (!r->waits)
        intervals_add_run(w->into, line, r->step, r->to_ns, 1);
    if (r->gathered_ns != INTERVALS_NEVER)
        intervals_add_gathering(w->into, line,
                                (struct gathering){.came_ns = r->waits ? r->wait.from_ns : r->to_ns,
                                                   .at_ns = r->gathered_ns,
                                                   .group = r->group});
    if (r->waits) /* the group was complete before the thread resumed */
        intervals_add_wait(w->into, r->wait, r->segments, r->count, r->step);
    r->to_ns = end_of(r);
}

/* Adds one record, of a random thread that has one to add. Returns false if there is none. */
static inline bool tell_one(struct world *w, unsigned random)
{
    int may[THREADS], count = 0;
    for (int i = 0; i < w->threads; i++)
        if (may_tell(w, i))
            may[count++] = i;
    if (count)
        tell(w, may[random % (unsigned)count]);
    else
        for (int i = 0; i < w->threads; i++)
            assert(w->actors[i].told == w->actors[i].record_count);
    return count;
}

#endif
