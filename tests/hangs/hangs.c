/* Programs that hang for certain, one for each kind of cause; the argument is its name.
 * compared.sh (tests/compared.sh) reads the lines that are marked WAITS and KEEPS: what waits, and
 * what keeps it waiting. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER, journal = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table;
static pthread_barrier_t met, phase;
static sem_t left, right;

static void start(void *(*function)(void *))
{
    static pthread_t threads[8];
    static unsigned count;
    pthread_create(&threads[count++], NULL, function, NULL);
}

static void end_here(void)
{
    for (;;)
        pause();
}

/* ---- locks ---- */

static void *credit(void *p)
{
    pthread_mutex_lock(&journal); /* lock-cycle KEEPS */
    pthread_barrier_wait(&met);
    pthread_mutex_lock(&accounts);
    return p;
}

static void lock_cycle(void)
{
    pthread_mutex_lock(&accounts);
    start(credit);
    pthread_barrier_wait(&met);
    pthread_mutex_lock(&journal); /* lock-cycle WAITS */
}

static __attribute__((noinline)) void guard_enter(pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
    atomic_signal_fence(memory_order_seq_cst);
}

static void *wrapped_credit(void *p)
{
    guard_enter(&journal); /* wrapper KEEPS */
    pthread_barrier_wait(&met);
    guard_enter(&accounts);
    return p;
}

static void wrapper(void)
{
    guard_enter(&accounts);
    start(wrapped_credit);
    pthread_barrier_wait(&met);
    guard_enter(&journal); /* wrapper WAITS */
}

static void *leaves(void *p)
{
    pthread_mutex_lock(&accounts); /* holder-exits KEEPS */
    return p;
}

static void holder_exits(void)
{
    pthread_t t;
    pthread_create(&t, NULL, leaves, NULL);
    pthread_join(t, NULL);
    pthread_mutex_lock(&accounts); /* holder-exits WAITS */
}

static void *takes_right(void *p)
{
    sem_wait(&right); /* semaphore-locks KEEPS */
    pthread_barrier_wait(&met);
    sem_wait(&left);
    return p;
}

static void semaphore_locks(void)
{
    sem_init(&left, 0, 1);
    sem_init(&right, 0, 1);
    for (int i = 0; i < 2; i++) {
        sem_wait(&left);
        sem_post(&left);
        sem_wait(&right);
        sem_post(&right);
    }
    sem_wait(&left);
    start(takes_right);
    pthread_barrier_wait(&met);
    sem_wait(&right); /* semaphore-locks WAITS */
}

static void *writes(void *p)
{
    pthread_rwlock_wrlock(&table); /* nested-read KEEPS */
    return p;
}

static void nested_read(void)
{
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&table, &kind);
    pthread_rwlock_rdlock(&table);
    start(writes);
    while (pthread_rwlock_tryrdlock(&table) == 0)
        pthread_rwlock_unlock(&table); /* until the writer waits */
    pthread_rwlock_rdlock(&table); /* nested-read WAITS */
}

/* ---- signals of conditions, barriers ---- */

static void *consumes(void *p)
{
    pthread_mutex_lock(&accounts);
    pthread_barrier_wait(&met);
    pthread_cond_wait(&ready, &accounts); /* lost-wakeup WAITS */
    pthread_mutex_unlock(&accounts);
    return p;
}

static void lost_wakeup(void)
{
    pthread_t t;
    pthread_cond_signal(&ready); /* lost-wakeup KEEPS */
    pthread_create(&t, NULL, consumes, NULL);
    pthread_barrier_wait(&met);
    pthread_join(t, NULL);
}

static void *skips_phase(void *p)
{
    pthread_barrier_wait(&phase);
    return p; /* barrier KEEPS */
}

static void barrier(void)
{
    pthread_barrier_init(&phase, NULL, 2);
    start(skips_phase);
    pthread_barrier_wait(&phase);
    pthread_barrier_wait(&phase); /* barrier WAITS */
}

/* A pool of one thread: its task waits for another task of the pool. */
static int queued, finished;

static void *pool_thread(void *p)
{
    pthread_mutex_lock(&accounts);
    for (;;) {
        while (!queued)
            pthread_cond_wait(&ready, &accounts);
        queued--;
        queued++; /* the task queues another one, */
        pthread_cond_signal(&ready);
        while (!finished)
            pthread_cond_wait(&room, &accounts); /* pool WAITS */
    }
    return p;
}

static void pool(void)
{
    start(pool_thread);
    pthread_mutex_lock(&accounts);
    queued++;
    pthread_cond_signal(&ready);
    while (!finished)
        pthread_cond_wait(&room, &accounts); /* pool KEEPS */
}

/* ---- processes and signals ---- */

static void *allocates(void *p)
{
    pthread_mutex_lock(&accounts); /* fork KEEPS */
    pthread_barrier_wait(&met);
    pthread_barrier_wait(&met);
    pthread_mutex_unlock(&accounts);
    end_here();
    return p;
}

static void fork_with_lock(void)
{
    start(allocates);
    pthread_barrier_wait(&met);
    pid_t child = fork();
    if (!child) {
        pthread_mutex_lock(&accounts); /* fork WAITS */
        _exit(0);
    }
    pthread_barrier_wait(&met);
    waitpid(child, NULL, 0);
}

static void reports(int number)
{
    (void)number;
    pthread_mutex_lock(&journal); /* handler WAITS */
}

static void handler(void)
{
    signal(SIGUSR1, reports);
    pthread_mutex_lock(&journal); /* handler KEEPS */
    raise(SIGUSR1);
    pthread_mutex_unlock(&journal);
}

static void pipes(void)
{
    static char block[1 << 20];
    int to[2], from[2];
    if (pipe(to) || pipe(from))
        return;
    if (!fork()) {
        ssize_t written = write(from[1], block, sizeof block); /* pipes KEEPS */
        _exit(written < 0 || read(to[0], block, sizeof block) < 0);
    }
    ssize_t written = write(to[1], block, sizeof block); /* pipes WAITS */
    if (written > 0)
        read(from[0], block, sizeof block);
}

static void *stays(void *p)
{
    pthread_mutex_lock(&accounts);
    pthread_barrier_wait(&met);
    pthread_cond_wait(&ready, &accounts); /* destroy KEEPS */
    return p;
}

static void destroy(void)
{
    start(stays);
    pthread_barrier_wait(&met);
    pthread_mutex_lock(&accounts);
    pthread_mutex_unlock(&accounts);
    pthread_cond_destroy(&ready); /* destroy WAITS */
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {{"lock-cycle", lock_cycle},
             {"wrapper", wrapper},
             {"holder-exits", holder_exits},
             {"semaphore-locks", semaphore_locks},
             {"nested-read", nested_read},
             {"lost-wakeup", lost_wakeup},
             {"barrier", barrier},
             {"pool", pool},
             {"fork", fork_with_lock},
             {"handler", handler},
             {"pipes", pipes},
             {"destroy", destroy}};

int main(int argc, char **argv)
{
    pthread_barrier_init(&met, NULL, 2);
    for (size_t i = 0; argc == 2 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            kinds[i].run();
    end_here();
    return 0;
}
