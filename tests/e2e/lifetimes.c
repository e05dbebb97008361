/* Threads of several processes lock objects in shared memory and initialise them again, as the same
 * kind or another, while no thread uses them.  Each event is a text with the program's own vector
 * clock (Fidge 1988, Mattern 1989): an initialised object is not ordered after the object that was
 * at its address before.
 *   lifetimes PROCESSES THREADS ROUNDS SEED */
#define _GNU_SOURCE
#include <poet.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 16
#define PLACES 6
#define NONE (-1)

enum kind { MUTEX, ROBUST, SPIN, SEMAPHORE, RWLOCK, KINDS };

struct clock {
    unsigned long at[MOST];
};

/* A place for an object.  users: threads that use it, by an order Poet does not see, or NONE. */
struct place {
    int users, busy;
    enum kind kind;
    struct clock written, read;
    union {
        pthread_mutex_t mutex;
        pthread_spinlock_t spin;
        sem_t semaphore;
        pthread_rwlock_t rwlock;
    };
};

static struct place *places;
static int *met; /* so often did one come to meet() */
static int processes, threads, rounds, seed;

static void join(struct clock *a, const struct clock *b)
{
    for (int i = 0; i < MOST; i++)
        a->at[i] = b->at[i] > a->at[i] ? b->at[i] : a->at[i];
}

static void note(struct clock *c, int me)
{
    char text[300];
    int n = snprintf(text, sizeof text, "clock %d", me);
    c->at[me]++;
    for (int i = 0; i < processes * threads; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %lu", c->at[i]);
    poet_text("%s", text);
}

/* ---- the order that is not recorded ---- */

static int begin_use(struct place *p)
{
    int users = __atomic_load_n(&p->users, __ATOMIC_ACQUIRE);
    while (users != NONE)
        if (__atomic_compare_exchange_n(&p->users, &users, users + 1, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return 1;
    return 0;
}

static void end_use(struct place *p) { __atomic_sub_fetch(&p->users, 1, __ATOMIC_RELEASE); }

static int begin_making(struct place *p)
{
    int none = 0;
    return __atomic_compare_exchange_n(&p->users, &none, NONE, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static void end_making(struct place *p) { __atomic_store_n(&p->users, 0, __ATOMIC_RELEASE); }

/* Until all have come so often: also on one processor no thread is far ahead of the others. */
static void meet(int times)
{
    __atomic_add_fetch(met, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(met, __ATOMIC_ACQUIRE) < times * processes * threads)
        sched_yield();
}

static void add_reader(struct place *p, const struct clock *c)
{
    while (__atomic_exchange_n(&p->busy, 1, __ATOMIC_ACQUIRE))
        sched_yield();
    join(&p->read, c);
    __atomic_store_n(&p->busy, 0, __ATOMIC_RELEASE);
}

/* ---- objects ---- */

static void make(struct place *p, enum kind kind)
{
    pthread_mutexattr_t m;
    pthread_rwlockattr_t r;
    p->kind = kind;
    p->written = p->read = (struct clock){{0}};
    pthread_mutexattr_init(&m);
    pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
    if (kind == ROBUST)
        pthread_mutexattr_setrobust(&m, PTHREAD_MUTEX_ROBUST);
    pthread_rwlockattr_init(&r);
    pthread_rwlockattr_setpshared(&r, PTHREAD_PROCESS_SHARED);
    if (kind == MUTEX || kind == ROBUST)
        pthread_mutex_init(&p->mutex, &m);
    else if (kind == SPIN)
        pthread_spin_init(&p->spin, PTHREAD_PROCESS_SHARED);
    else if (kind == SEMAPHORE)
        sem_init(&p->semaphore, 1, 1);
    else
        pthread_rwlock_init(&p->rwlock, &r);
}

static void unmake(struct place *p)
{
    if (p->kind == MUTEX || p->kind == ROBUST)
        pthread_mutex_destroy(&p->mutex);
    else if (p->kind == SPIN)
        pthread_spin_destroy(&p->spin);
    else if (p->kind == SEMAPHORE)
        sem_destroy(&p->semaphore);
    else
        pthread_rwlock_destroy(&p->rwlock);
}

static void lock(struct place *p, int reads)
{
    if (p->kind == MUTEX || p->kind == ROBUST)
        pthread_mutex_lock(&p->mutex);
    else if (p->kind == SPIN)
        while (pthread_spin_trylock(&p->spin))
            sched_yield();
    else if (p->kind == SEMAPHORE)
        while (sem_wait(&p->semaphore))
            ;
    else if (reads)
        pthread_rwlock_rdlock(&p->rwlock);
    else
        pthread_rwlock_wrlock(&p->rwlock);
}

static void unlock(struct place *p)
{
    if (p->kind == MUTEX || p->kind == ROBUST)
        pthread_mutex_unlock(&p->mutex);
    else if (p->kind == SPIN)
        pthread_spin_unlock(&p->spin);
    else if (p->kind == SEMAPHORE)
        sem_post(&p->semaphore);
    else
        pthread_rwlock_unlock(&p->rwlock);
}

static void use(struct place *p, struct clock *c, int me, int reads)
{
    reads = reads && p->kind == RWLOCK;
    lock(p, reads);
    join(c, &p->written);
    if (!reads)
        join(c, &p->read);
    note(c, me);
    if (reads)
        add_reader(p, c);
    else
        p->written = *c;
    unlock(p);
}

static void *work(void *number)
{
    int me = (int)(long)number;
    unsigned random = (unsigned)(seed * 100 + me);
    struct clock c = {{0}};
    for (int i = 0; i < rounds; i++) {
        random = random * 1664525u + 1013904223u;
        struct place *p = &places[(random >> 8) % PLACES];
        unsigned what = random >> 24;
        note(&c, me);
        if (what < 60) {
            if (begin_making(p)) {
                if (what &
                    1) /* else it is only made again, as a file that is used again would be */
                    unmake(p);
                make(p, (enum kind)((random >> 12) % KINDS));
                end_making(p);
            }
        } else if (begin_use(p)) {
            use(p, &c, me, what & 1);
            end_use(p);
        }
        if (what % 8 == 0)
            sched_yield();
        if (i % 20 == 19)
            meet(i / 20 + 1);
    }
    return NULL;
}

static void work_all(int process)
{
    pthread_t ids[MOST];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, (void *)(long)(process * threads + i));
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    processes = atoi(argv[1]), threads = atoi(argv[2]), rounds = atoi(argv[3]),
    seed = atoi(argv[4]);
    places = mmap(NULL, PLACES * sizeof *places + sizeof *met, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (places == MAP_FAILED || processes * threads > MOST)
        return 1;
    met = (int *)(places + PLACES);
    for (int i = 0; i < PLACES; i++)
        make(&places[i], (enum kind)(i % KINDS));
    for (int i = 1; i < processes; i++)
        if (fork() == 0) {
            work_all(i);
            return 0;
        }
    work_all(0);
    while (wait(NULL) > 0)
        ;
    return 0;
}
