/* Tasks of a thread pool that wait for other tasks of the same pool: if as many do so at once as
 * the pool has threads, no thread is left to run the others.
 *
 * A pool are the threads that wait for a condition variable at one call site, and those that never
 * had to, but acquire its lock where these do. A task waits for another one if its thread signals
 * that object, and then waits for something that another thread of the pool ends, which took work
 * after that signal. Reported if that occurred at least as often as the pool has threads, and if
 * other threads submit that many tasks without waiting or looking for the end of earlier ones. A
 * task that runs others as long as there are any does not wait before another thread took them: one
 * of the waits must have begun before that. */
#include "base/map.h"
#include "server/analysis/findings.h"

#include <stdlib.h>

#define POOL_THREADS 256u /* maximum number of threads of a pool */
#define POOL_RELEASES 8u /* last releases that are kept of a thread */
#define POOL_CASES 10000u

struct task_pool {
    uint32_t object, place;
    struct sync_op *waits; /* the last one of each of its threads that waited */
    uint32_t count;
    uint32_t entry; /* 1 + index of the call site at which they acquire the lock; 0: not known */
};

struct pool_entry { /* a call site at which a lock is acquired */
    uint32_t lock, place;
    uint32_t threads; /* how many threads do so */
};

struct task_pool_thread {
    uint32_t line;
    struct sync_op put; /* its last signal; thread 0: none, or it waited since */
    uint64_t asked; /* its last request */
    uint32_t entry; /* 1 + index of the call site at which it acquired a lock last */
    uint64_t put_asked;
    uint32_t sections; /* critical sections since the last signal */
    bool waited; /* since the last signal, */
    uint64_t wait; /* the first time by this event */
    struct {
        uint32_t object, count;
    } batch; /* signals of one object without another synchronization between them */
    struct pool_release {
        uint32_t lock;
        uint64_t position;
    } releases[POOL_RELEASES];
    uint32_t release_count;
};

struct pool_case {
    struct sync_op put, end; /* the signal, and the end of the wait */
    uint64_t put_asked;
    bool early; /* it began to wait before that thread took work */
    struct pool_release got; /* of the thread that ended the wait, after it took work */
};

struct pool_tasks {
    struct task_pool *pools;
    size_t pool_count, pool_room;
    struct map pool_of; /* object and call site -> 1 + index */
    struct task_pool_thread *threads;
    size_t thread_count, thread_room;
    struct map thread_of; /* line -> 1 + index */
    struct pool_entry *entries;
    size_t entry_count, entry_room;
    struct map entry_of; /* lock and call site -> 1 + index */
    struct map entered; /* index of an entry and thread: it acquired the lock there */
    struct map lock_of; /* condition variable -> 1 + its lock */
    struct pool_batch {
        uint32_t object, thread, most;
    } *batches;
    size_t batch_count, batch_room;
    struct map batch_of; /* object, thread -> 1 + index */
    struct pool_case *cases;
    size_t case_count, case_room;
};

static struct task_pool_thread *pool_thread_of(struct pool_tasks *p, uint32_t line)
{
    return MAP_ITEM(&p->thread_of, line, 0, p->threads, p->thread_count, p->thread_room,
                    (struct task_pool_thread){.line = line});
}

/* ---- what threads do ---- */

static void pool_add_entry(struct pool_tasks *p, struct task_pool_thread *t,
                           const struct sync_op *op)
{
    struct pool_entry *e =
        MAP_ITEM(&p->entry_of, op->lock, op->place, p->entries, p->entry_count, p->entry_room,
                 (struct pool_entry){.lock = op->lock, .place = op->place});
    t->entry = (uint32_t)(e - p->entries) + 1;
    if (map_get(&p->entered, t->entry, t->line))
        return;
    map_put(&p->entered, t->entry, t->line, p);
    e->threads++;
}

static void pool_add_wait(struct pool_tasks *p, const struct task_pool_thread *t,
                          const struct sync_op *op)
{
    struct task_pool *pool =
        MAP_ITEM(&p->pool_of, op->about, op->place, p->pools, p->pool_count, p->pool_room,
                 (struct task_pool){.object = op->about, .place = op->place});
    if (!pool->entry && t->entry && p->entries[t->entry - 1].lock == op->lock)
        pool->entry = t->entry;
    uint32_t i = 0;
    while (i < pool->count && pool->waits[i].thread != op->thread)
        i++;
    if (i < pool->count)
        pool->waits[i] = *op;
    else if (pool->count < POOL_THREADS)
        ARRAY_PUSH(pool->waits, pool->count, *op);
}

static void pool_add_put(struct pool_tasks *p, struct task_pool_thread *t, const struct sync_op *op)
{
    bool follows = t->batch.object == op->about && t->sections <= 1 && !t->waited;
    t->batch.count = follows ? t->batch.count + 1 : 1;
    t->batch.object = op->about;
    t->put = *op;
    t->put_asked = t->asked;
    t->sections = 0;
    t->waited = false;
    struct pool_batch *b =
        MAP_ITEM(&p->batch_of, op->about, t->line, p->batches, p->batch_count, p->batch_room,
                 (struct pool_batch){.object = op->about, .thread = t->line});
    if (b->most < t->batch.count)
        b->most = t->batch.count;
}

static void pool_add_release(struct task_pool_thread *t, const struct sync_op *op)
{
    t->releases[t->release_count++ % POOL_RELEASES] = (struct pool_release){op->lock, op->position};
}

/* Returns the first release of a lock by a thread after an event, of those that are kept. */
static struct pool_release pool_first_release(const struct task_pool_thread *t, uint32_t lock,
                                              uint64_t after)
{
    struct pool_release first = {.position = NO_POSITION};
    for (uint32_t i = 0; i < t->release_count && i < POOL_RELEASES; i++)
        if (t->releases[i].lock == lock && t->releases[i].position > after &&
            t->releases[i].position < first.position)
            first = t->releases[i];
    return first;
}

/* Notes a wait after a signal, if another thread ended it that took work meanwhile. */
static void pool_end_wait(struct pool_tasks *p, uint32_t index, const struct sync_op *op)
{
    struct task_pool_thread *t = &p->threads[index];
    if (!t->waited)
        t->wait = op->began;
    t->waited = true;
    if (!op->sender || op->sender == t->line || !t->put.thread || t->put.about == op->about)
        return;
    uint32_t lock = (uint32_t)(uintptr_t)map_get(&p->lock_of, t->put.about, 0);
    uintptr_t other = (uintptr_t)map_get(&p->thread_of, op->sender, 0);
    struct pool_release got =
        other && lock ? pool_first_release(&p->threads[other - 1], lock - 1, t->put.position)
                      : (struct pool_release){.position = NO_POSITION};
    if (got.position == NO_POSITION || p->case_count == POOL_CASES)
        return;
    p->cases = array_reserve(p->cases, &p->case_room, p->case_count + 1, sizeof *p->cases);
    p->cases[p->case_count++] = (struct pool_case){.put = t->put,
                                                   .end = *op,
                                                   .put_asked = t->put_asked,
                                                   .early = got.position > t->wait,
                                                   .got = got};
    t->put.thread = 0;
}

static void pool_tasks_feed(void *predictor, const struct sync_op *op)
{
    struct pool_tasks *p = predictor;
    struct task_pool_thread *t = pool_thread_of(p, op->thread);
    switch ((int)op->is) {
    case SYNC_OP_REQUEST:
        t->asked = op->position;
        break;
    case SYNC_OP_ACQUIRE:
        t->sections++;
        pool_add_entry(p, t, op);
        break;
    case SYNC_OP_RELEASE:
        pool_add_release(t, op);
        break;
    case SYNC_OP_WAIT:
        map_put(&p->lock_of, op->about, 0, (void *)(uintptr_t)(op->lock + 1u));
        pool_add_wait(p, t, op);
        break;
    case SYNC_OP_SIGNAL:
        pool_add_put(p, t, op);
        break;
    case SYNC_OP_UNBLOCK:
        pool_end_wait(p, (uint32_t)(t - p->threads), op);
        break;
    default:
        break;
    }
}

/* ---- findings ---- */

static const struct sync_op *pool_find_thread(const struct task_pool *pool, uint32_t thread)
{
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->waits[i].thread == thread)
            return &pool->waits[i];
    return NULL;
}

/* Returns how many threads the pool has: those that waited, or never had to. */
static uint32_t pool_size(const struct pool_tasks *p, const struct task_pool *pool)
{
    uint32_t enter = pool->entry ? p->entries[pool->entry - 1].threads : 0;
    return enter > pool->count ? enter : pool->count;
}

/* Returns how many tasks other threads may have submitted that were not over. */
static uint32_t pool_submissions(const struct pool_tasks *p, const struct task_pool *pool)
{
    uint32_t count = 0;
    for (size_t i = 0; i < p->batch_count; i++)
        if (p->batches[i].object == pool->object && !pool_find_thread(pool, p->batches[i].thread))
            count += p->batches[i].most;
    return count;
}

static bool pool_has_case(const struct task_pool *pool, const struct pool_case *c)
{
    return c->put.about == pool->object && c->end.place != pool->place &&
           pool_find_thread(pool, c->put.thread) && pool_find_thread(pool, c->end.sender);
}

static void pool_add_finding(const struct pool_tasks *p, const struct task_pool *pool,
                             const struct pool_case *c, struct findings *findings)
{
    struct finding *one = findings_add(findings, FINDING_NESTED_TASK);
    uint32_t lock = (uint32_t)(uintptr_t)map_get(&p->lock_of, pool->object, 0);
    finding_add_participant(one, (struct finding_participant){.thread = c->put.thread,
                                                              .lock = pool->object,
                                                              .then_lock = c->end.about,
                                                              .position = c->put.position,
                                                              .then = c->end.began,
                                                              .begin = c->put_asked});
    finding_add_event(one, c->end.sender, lock - 1, c->got.position);
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->waits[i].thread != c->put.thread && pool->waits[i].thread != c->end.sender)
            finding_add_event(one, pool->waits[i].thread, pool->object, pool->waits[i].position);
}

static bool pool_tasks_step(void *predictor, struct findings *findings, uint64_t *budget)
{
    const struct pool_tasks *p = predictor;
    for (size_t i = 0; i < p->pool_count; i++) {
        const struct task_pool *pool = &p->pools[i];
        const struct pool_case *first = NULL;
        uint32_t times = 0;
        for (size_t k = 0; k < p->case_count && pool->count > 1; k++)
            if (pool_has_case(pool, &p->cases[k])) {
                first = first || !p->cases[k].early ? first : &p->cases[k];
                times++;
            }
        uint32_t threads = pool_size(p, pool);
        if (!first || times < threads || pool_submissions(p, pool) < threads)
            continue;
        pool_add_finding(p, pool, first, findings);
        findings->items[findings->count - 1].times = times;
    }
    (void)budget;
    return true;
}

static void pool_tasks_free(void *predictor)
{
    struct pool_tasks *p = predictor;
    for (size_t i = 0; i < p->pool_count; i++)
        free(p->pools[i].waits);
    free(p->pools);
    free(p->threads);
    free(p->batches);
    free(p->cases);
    map_free(&p->pool_of);
    map_free(&p->thread_of);
    free(p->entries);
    map_free(&p->entry_of);
    map_free(&p->entered);
    map_free(&p->lock_of);
    map_free(&p->batch_of);
    free(predictor);
}

const struct predictor predictor_pool_tasks = {.size = sizeof(struct pool_tasks),
                                               .feed = pool_tasks_feed,
                                               .step = pool_tasks_step,
                                               .free = pool_tasks_free};
