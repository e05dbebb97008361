/* A random program, played by hand: threads use two mutexes, a read-write lock, a semaphore, a
 * condition variable and a barrier; a thread that cannot continue is skipped. */
#ifndef TESTS_UNIT_RANDOM_RUN_H
#define TESTS_UNIT_RANDOM_RUN_H

#include "tests/bruteforce.h"
#include "tests/unit/scripted_run.h"

#define THREADS 5u
#define STEPS 160u

enum { MUTEX, SECOND, RWLOCK, SEMAPHORE, CONDITION, BARRIER, OBJECTS };

struct playing {
    struct played p;
    uint32_t lines[OBJECTS];
    unsigned random;
    double now;
    int holder[2], writer; /* holder of each mutex; -1: none */
    unsigned readers, count, round, arrived;
    struct actor {
        uint32_t line;
        enum {
            IDLE,
            LOCKS,
            HOLDS,
            AWAITS,
            CALLED,
            READS,
            WRITES,
            READING,
            WRITING,
            TAKES,
            HAS,
            MEETS
        } does;
        int object;
        struct event_id signal;
    } actors[THREADS];
};

static unsigned chance(struct playing *g, unsigned below)
{
    return execution_random(&g->random, below);
}

/* ---- playing ---- */

static void lock(struct playing *g, struct actor *a, int i)
{
    g->holder[i] = (int)(a - g->actors);
    a->does = HOLDS;
    play_pair(&g->p, a->line, g->lines[i], "lock", "acquired", g->now);
}

static void begin_something(struct playing *g, struct actor *a)
{
    unsigned what = chance(g, 9);
    if (what < 4) {
        a->object = what < 2 ? MUTEX : SECOND;
        PLAY(&g->p, a->line, "acquire", g->now, g->lines[a->object]);
        a->does = LOCKS;
        if (g->holder[a->object] < 0)
            lock(g, a, a->object);
    } else if (what < 6) {
        PLAY(&g->p, a->line, "acquire", g->now, g->lines[RWLOCK]);
        a->does = what == 4 ? READS : WRITES;
    } else if (what == 6) {
        PLAY_ON(&g->p, a->line, g->lines[SEMAPHORE], "wait", g->now);
        a->does = TAKES;
    } else if (what == 7) {
        PLAY_ON(&g->p, a->line, g->lines[SEMAPHORE], "sem_post", g->now);
        g->count++;
    } else if (chance(g, 3) == 0) {
        PLAY(&g->p, a->line, "arrive", g->now, g->lines[BARRIER]);
        a->does = MEETS;
        g->arrived++;
    }
}

static void signal_one(struct playing *g, struct actor *a)
{
    struct event_id at = play_event(&g->p, a->line, g->lines[MUTEX], "signal", g->now,
                                    g->lines[CONDITION], (struct event_id){0});
    for (unsigned i = 0; i < THREADS; i++)
        if (g->actors[i].does == AWAITS) {
            g->actors[i].does = CALLED;
            g->actors[i].signal = at;
            return;
        }
}

static void go_on_holding(struct playing *g, struct actor *a)
{
    unsigned what = a->object == MUTEX ? chance(g, 4) : 3;
    if (what == 0) {
        play_event(&g->p, a->line, g->lines[MUTEX], "wait", g->now, g->lines[CONDITION],
                   (struct event_id){0});
        a->does = AWAITS;
        g->holder[MUTEX] = -1;
    } else if (what == 1) {
        signal_one(g, a);
    } else {
        play_pair(&g->p, a->line, g->lines[a->object], "unlock", "released", g->now);
        a->does = IDLE;
        g->holder[a->object] = -1;
    }
}

static void leave_rwlock(struct playing *g, struct actor *a)
{
    bool reads = a->does == READING;
    play_pair(&g->p, a->line, g->lines[RWLOCK], "unlock",
              reads ? "read_released" : "write_released", g->now);
    g->readers -= reads;
    g->writer = reads ? g->writer : -1;
    a->does = IDLE;
}

static void enter_rwlock(struct playing *g, struct actor *a)
{
    bool reads = a->does == READS;
    if (g->writer >= 0 || (!reads && g->readers))
        return;
    play_pair(&g->p, a->line, g->lines[RWLOCK], "lock", reads ? "read_acquired" : "write_acquired",
              g->now);
    g->readers += reads;
    g->writer = reads ? -1 : (int)(a - g->actors);
    a->does = reads ? READING : WRITING;
}

static void take_or_give(struct playing *g, struct actor *a)
{
    if (a->does == HAS) {
        PLAY_ON(&g->p, a->line, g->lines[SEMAPHORE], "sem_post", g->now);
        g->count++;
        a->does = IDLE;
    } else if (g->count) {
        PLAY_ON(&g->p, a->line, g->lines[SEMAPHORE], "sem_acquired", g->now);
        g->count--;
        a->does = chance(g, 2) ? HAS : IDLE;
    }
}

static void pass(struct playing *g)
{
    for (unsigned i = 0; i < THREADS; i++) {
        play_member(&g->p, g->actors[i].line, "passed", g->now + chance(g, 3), g->round, THREADS,
                    g->lines[BARRIER]);
        g->actors[i].does = IDLE;
    }
    g->now += 3;
    g->arrived = 0;
    g->round++;
}

static void go_on(struct playing *g, struct actor *a)
{
    switch (a->does) {
    case IDLE:
        begin_something(g, a);
        break;
    case LOCKS:
        if (g->holder[a->object] < 0)
            lock(g, a, a->object);
        break;
    case HOLDS:
        go_on_holding(g, a);
        break;
    case AWAITS:
        break;
    case CALLED:
        if (g->holder[MUTEX] < 0) {
            play_event(&g->p, a->line, g->lines[MUTEX], "wake", g->now, g->lines[CONDITION],
                       a->signal);
            g->holder[MUTEX] = (int)(a - g->actors);
            a->does = HOLDS;
            a->object = MUTEX;
        }
        break;
    case READS:
    case WRITES:
        enter_rwlock(g, a);
        break;
    case READING:
    case WRITING:
        leave_rwlock(g, a);
        break;
    case TAKES:
    case HAS:
        take_or_give(g, a);
        break;
    case MEETS:
        if (g->arrived == THREADS)
            pass(g);
    }
}

static struct playing play_random(unsigned seed)
{
    static const char *const kinds[] = {"mutex",     "mutex",   "rwlock",
                                        "semaphore", "condvar", "barrier"};
    struct playing g = {.p = play("pthread"), .random = seed, .holder = {-1, -1}, .writer = -1};
    for (unsigned i = 0; i < THREADS; i++) {
        g.actors[i].line = play_line(&g.p, "thread", "t");
        PLAY(&g.p, g.actors[i].line, "start", 0, 0);
    }
    for (unsigned i = 0; i < OBJECTS; i++)
        g.lines[i] = play_line(&g.p, kinds[i], kinds[i]);
    for (unsigned i = 0; i < STEPS; i++) {
        g.now += chance(&g, 4);
        go_on(&g, &g.actors[chance(&g, THREADS)]);
    }
    return g;
}

#endif
