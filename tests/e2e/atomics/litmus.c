/* Litmus tests of C11's atomics, each repeated: what a thread did before it wrote, and what another
 * one does after it has read, are notes. The value that was read tells what is ordered: "q a+ b-"
 * says that the note a of this round is before this one, and that b and this one are concurrent. */
#include <poet.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 20000
static int rounds;
static pthread_barrier_t barrier;
static atomic_int fresh[MOST], other[MOST]; /* one for each round */
static atomic_int again, again_other; /* one for all rounds */

#define NOTE(test, round, what, ...) poet_text(test " %d " what, round __VA_OPT__(, ) __VA_ARGS__)
#define STORE(object, value, order) atomic_store_explicit(object, value, memory_order_##order)
#define LOAD(object, order) atomic_load_explicit(object, memory_order_##order)

/* Reads until another value is there, a few times. */
#define AWAIT(object, order, before)                                                               \
    ({                                                                                             \
        int seen_ = before;                                                                        \
        for (int tries_ = 0; tries_ < 200 && seen_ == (before); tries_++) {                        \
            seen_ = LOAD(object, order);                                                           \
            if (tries_ % 50 == 49)                                                                 \
                sched_yield();                                                                     \
        }                                                                                          \
        seen_;                                                                                     \
    })

/* Message passing: a release or relaxed store, an acquire or relaxed load. */
#define MESSAGE(name, object, value, before, stores, loads, ordered)                               \
    static void name##_write(int i)                                                                \
    {                                                                                              \
        NOTE(#name, i, "a");                                                                       \
        STORE(object, value, stores);                                                              \
    }                                                                                              \
    static void name##_read(int i)                                                                 \
    {                                                                                              \
        int seen = AWAIT(object, loads, before);                                                   \
        NOTE(#name, i, "q a%c", seen == (value) && (ordered) ? '+' : '-');                         \
    }
MESSAGE(message, &fresh[i], 1, 0, release, acquire, 1)
MESSAGE(message_again, &again, i + 1, i, release, acquire, 1)
MESSAGE(message_sc, &fresh[i], 1, 0, seq_cst, seq_cst, 1)
MESSAGE(relaxed, &fresh[i], 1, 0, relaxed, relaxed, 0)
MESSAGE(relaxed_store, &again, i + 1, i, relaxed, acquire, 0)
MESSAGE(relaxed_load, &again, i + 1, i, release, relaxed, 0)

/* Fences. */
static void fence_write(int i)
{
    NOTE("fence", i, "a");
    atomic_thread_fence(memory_order_release);
    STORE(&again, i + 1, relaxed);
}
static void fence_read(int i)
{
    int seen = AWAIT(&again, relaxed, i);
    NOTE("fence", i, "q a-");
    atomic_thread_fence(memory_order_acquire);
    NOTE("fence", i, "q a%c", seen == i + 1 ? '+' : '-');
}
/* A fence before the load is of no use, nor is one after the store. */
static void fence_wrong_write(int i)
{
    NOTE("fence_wrong", i, "a");
    STORE(&again, i + 1, relaxed);
    atomic_thread_fence(memory_order_release);
}
static void fence_wrong_read(int i)
{
    atomic_thread_fence(memory_order_acquire);
    (void)AWAIT(&again, relaxed, i);
    NOTE("fence_wrong", i, "q a-");
}

/* A release sequence that a relaxed read-modify-write of another thread continues, */
static void chain_write(int i)
{
    NOTE("chain", i, "a");
    STORE(&fresh[i], 1, release);
}
static void chain_middle(int i)
{
    NOTE("chain", i, "b");
    atomic_fetch_or_explicit(&fresh[i], 2, memory_order_relaxed);
}
static void chain_read(int i)
{
    int seen = AWAIT(&fresh[i], acquire, 0);
    seen = seen == 1 || seen == 2 ? AWAIT(&fresh[i], acquire, seen) : seen;
    NOTE("chain", i, "q a%c b-", seen & 1 ? '+' : '-');
}
/* of which both release, */
static void heads_write(int i)
{
    NOTE("heads", i, "a");
    atomic_fetch_or_explicit(&fresh[i], 1, memory_order_release);
}
static void heads_middle(int i)
{
    NOTE("heads", i, "b");
    atomic_fetch_or_explicit(&fresh[i], 2, memory_order_release);
}
static void heads_read(int i)
{
    int seen = AWAIT(&fresh[i], acquire, 0);
    seen = seen == 1 || seen == 2 ? AWAIT(&fresh[i], acquire, seen) : seen;
    NOTE("heads", i, "q a%c b%c", seen & 1 ? '+' : '-', seen & 2 ? '+' : '-');
}
/* or that a relaxed store of another thread ends, */
static void ended_write(int i)
{
    NOTE("ended", i, "a");
    STORE(&fresh[i], 1, release);
}
static void ended_middle(int i)
{
    NOTE("ended", i, "b");
    STORE(&fresh[i], 2, relaxed);
}
static void ended_read(int i)
{
    int first = AWAIT(&fresh[i], acquire, 0), seen = first ? AWAIT(&fresh[i], acquire, first) : 0;
    NOTE("ended", i, "q a%c b-", first == 1 || seen == 1 ? '+' : '-');
}
/* or one of the same thread continues, by C11. */
#if __STDC_VERSION__ > 201710L
#define CONTINUES 0
#else
#define CONTINUES 1
#endif
static void own_write(int i)
{
    NOTE("own", i, "a");
    STORE(&fresh[i], 1, release);
    STORE(&fresh[i], 2, relaxed);
}
static void own_read(int i)
{
    int first = AWAIT(&fresh[i], acquire, 0), seen = first ? AWAIT(&fresh[i], acquire, first) : 0;
    NOTE("own", i, "q a%c", first == 1 || (CONTINUES && (first == 2 || seen == 2)) ? '+' : '-');
}

/* A compare and exchange that fails is a load, with its own order. */
#define FAILURE(name, order, ordered)                                                              \
    static void name##_write(int i)                                                                \
    {                                                                                              \
        NOTE(#name, i, "a");                                                                       \
        STORE(&fresh[i], 1, release);                                                              \
    }                                                                                              \
    static void name##_read(int i)                                                                 \
    {                                                                                              \
        int seen = 5;                                                                              \
        atomic_compare_exchange_strong_explicit(&fresh[i], &seen, 6, memory_order_acq_rel, order); \
        NOTE(#name, i, "q a%c", seen == 1 && (ordered) ? '+' : '-');                               \
    }
FAILURE(failure, memory_order_acquire, 1)
FAILURE(failure_relaxed, memory_order_relaxed, 0)

/* Store buffering: each thread may see the other's store, or not. */
static void buffer(int i, atomic_int *mine, atomic_int *theirs, const char *me, const char *them)
{
    poet_text("buffer %d %s", i, me);
    STORE(mine, 1, seq_cst);
    int seen = LOAD(theirs, seq_cst);
    poet_text("buffer %d q %s%c", i, them, seen ? '+' : '-');
}
static void buffer_one(int i) { buffer(i, &fresh[i], &other[i], "a", "b"); }
static void buffer_two(int i) { buffer(i, &other[i], &fresh[i], "b", "a"); }

/* A relaxed counter orders nothing. */
static void counter_one(int i)
{
    NOTE("counter", i, "a");
    atomic_fetch_add_explicit(&again, 1, memory_order_relaxed);
}
static void counter_two(int i)
{
    atomic_fetch_add_explicit(&again, 1, memory_order_relaxed);
    NOTE("counter", i, "q a-");
}

/* A lock made of an atomic object: critical sections follow each other. */
static int sections;
static void lock_any(int i)
{
    (void)i;
    for (int tries = 1; atomic_exchange_explicit(&again_other, 1, memory_order_acquire); tries++)
        if (tries % 50 == 0)
            sched_yield();
    int now = sections++;
    if (now)
        poet_text("lock %d q a+", now - 1);
    poet_text("lock %d a", now);
    STORE(&again_other, 0, release);
}

typedef void role(int round);
static void nothing(int round) { (void)round; }
static const struct {
    const char *name;
    role *roles[3];
} tests[] = {
#define TWO(name)                                                                                  \
    {                                                                                              \
        #name, { name##_write, name##_read, nothing }                                              \
    }
#define THREE(name)                                                                                \
    {                                                                                              \
        #name, { name##_write, name##_read, name##_middle }                                        \
    }
    TWO(message),
    TWO(message_again),
    TWO(message_sc),
    TWO(relaxed),
    TWO(relaxed_store),
    TWO(relaxed_load),
    TWO(fence),
    TWO(fence_wrong),
    THREE(chain),
    THREE(heads),
    THREE(ended),
    TWO(own),
    TWO(failure),
    TWO(failure_relaxed),
    {"buffer", {buffer_one, buffer_two, nothing}},
    {"counter", {counter_one, counter_two, nothing}},
    {"lock", {lock_any, lock_any, lock_any}}};

static role *chosen[3];
static void *run(void *number)
{
    for (int i = 0; i < rounds; i++) {
        pthread_barrier_wait(&barrier);
        chosen[(long)number](i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : 100;
    pthread_barrier_init(&barrier, NULL, 3);
    for (size_t k = 0; k < sizeof tests / sizeof *tests; k++) {
        pthread_t threads[3];
        for (int i = 0; i < MOST; i++) {
            atomic_init(&fresh[i], 0);
            atomic_init(&other[i], 0);
        }
        atomic_init(&again, 0);
        for (long i = 0; i < 3; i++)
            chosen[i] = tests[k].roles[i];
        for (long i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, run, (void *)i);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
    }
    printf("done\n");
    return 3;
}
