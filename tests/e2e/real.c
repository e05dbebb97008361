/* Programs with known waits: real WHAT.  Work is in ms; an environment variable can set each. */
#include "real.h"

#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

static pthread_barrier_t go;
static _Atomic int64_t first_ns = INT64_MAX, last_ns;
static void begin(const char *name) /* all begin together */
{
    pthread_setname_np(pthread_self(), name);
    pthread_barrier_wait(&go);
    int64_t at = now();
    for (int64_t is = first_ns; at < is && !atomic_compare_exchange_weak(&first_ns, &is, at);)
        ;
    for (int64_t is = last_ns; at > is && !atomic_compare_exchange_weak(&last_ns, &is, at);)
        ;
}
static void run(void *(*const *threads)(void *), unsigned count)
{
    pthread_t t[4];
    pthread_barrier_init(&go, NULL, count);
    for (unsigned i = 0; i < count; i++)
        pthread_create(&t[i], NULL, threads[i], NULL);
    for (unsigned i = 0; i < count; i++)
        pthread_join(t[i], NULL);
    late_ns += last_ns - first_ns;
}

/* ---- three in a row, each waits for the last: semaphores, conditions, pipes, sockets ---- */

static enum { SEMAPHORES, CONDITIONS, BYTES } how;
static sem_t semaphores[3];
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int there;
} flags[3] = {{PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0},
              {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0},
              {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}};
static int ends[3][2];

/* In the caller's code, so that each rank has steps of its own. */
#define SIGNAL(i)                                                                                  \
    (pthread_mutex_lock(&flags[i].mutex), flags[i].there = 1,                                      \
     pthread_cond_signal(&flags[i].condition), pthread_mutex_unlock(&flags[i].mutex))
#define AWAIT(i)                                                                                   \
    do {                                                                                           \
        pthread_mutex_lock(&flags[i].mutex);                                                       \
        while (!flags[i].there)                                                                    \
            pthread_cond_wait(&flags[i].condition, &flags[i].mutex);                               \
        pthread_mutex_unlock(&flags[i].mutex);                                                     \
    } while (0)
#define SEND(i)                                                                                    \
    do {                                                                                           \
        if (how == SEMAPHORES)                                                                     \
            sem_post(&semaphores[i]);                                                              \
        else if (how == CONDITIONS)                                                                \
            SIGNAL(i);                                                                             \
        else if (write(ends[i][1], "x", 1) != 1)                                                   \
            abort();                                                                               \
    } while (0)
#define RECEIVE(i)                                                                                 \
    do {                                                                                           \
        char c;                                                                                    \
        if (how == SEMAPHORES)                                                                     \
            sem_wait(&semaphores[i]);                                                              \
        else if (how == CONDITIONS)                                                                \
            AWAIT(i);                                                                              \
        else if (read(ends[i][0], &c, 1) != 1)                                                     \
            abort();                                                                               \
    } while (0)

static void rank0(void)
{
    work("A1", 50);
    SEND(0);
    work("A2", 30);
    WAIT("p0", RECEIVE(2));
}
static void rank1(void)
{
    work("B1", 20);
    WAIT("p1", RECEIVE(0));
    work("B3", 40);
    SEND(1);
}
static void rank2(void)
{
    work("C1", 25);
    WAIT("p2", RECEIVE(1));
    work("C3", 35);
    SEND(2);
}
static void *thread0(void *x) { return begin("p0"), rank0(), x; }
static void *thread1(void *x) { return begin("p1"), rank1(), x; }
static void *thread2(void *x) { return begin("p2"), rank2(), x; }

/* Processes begin when their creator signals them. */
static void processes(void)
{
    static void (*const ranks[])(void) = {rank0, rank1, rank2};
    static const char *const names[] = {"p0", "p1", "p2"};
    int starts[3][2];
    char c;
    for (int i = 0; i < 3; i++)
        if (pipe(starts[i]) || fflush(stdout))
            abort();
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            pthread_setname_np(pthread_self(), names[i]);
            if (read(starts[i][0], &c, 1) != 1)
                abort();
            ranks[i]();
            report(stdout);
            _exit(0);
        }
    usleep(20000); /* they are there */
    for (int i = 0; i < 3; i++)
        if (write(starts[i][1], "g", 1) != 1)
            abort();
    for (int i = 0; i < 3; i++)
        wait(NULL);
}

/* ---- one writes into a full pipe, to one that reads late ---- */

static void *writes(void *x)
{
    static char much[65536]; /* as much as a pipe holds */
    if (write(ends[0][1], much, sizeof much) != sizeof much)
        abort();
    begin("w");
    WAIT("w", if (write(ends[0][1], much, 1000) != 1000) abort());
    return x;
}
static void *reads(void *x)
{
    static char much[65536];
    begin("r");
    work("late", 30);
    for (ssize_t all = 0, n = 1; all < 66536 && n > 0; all += n)
        n = read(ends[0][0], much, sizeof much);
    return x;
}

/* ---- a barrier, three times ---- */

static pthread_barrier_t queue_poll;
#define MEMBER(n)                                                                                  \
    static void *member##n(void *x)                                                                \
    {                                                                                              \
        begin("t" #n);                                                                             \
        for (int i = 0; i < 3; i++) {                                                              \
            work("f" #n, 10 * n);                                                                  \
            WAIT("t" #n, pthread_barrier_wait(&queue_poll));                                       \
        }                                                                                          \
        return x;                                                                                  \
    }
MEMBER(1)
MEMBER(2)
MEMBER(3)
MEMBER(4)

/* ---- a lock is handed on: a mutex, or a semaphore ---- */

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t one;
#define LOCK() (how == SEMAPHORES ? sem_wait(&one) : pthread_mutex_lock(&m))
#define UNLOCK() (how == SEMAPHORES ? sem_post(&one) : pthread_mutex_unlock(&m))
#define HOLD(name, ms)                                                                             \
    do {                                                                                           \
        int64_t from = now();                                                                      \
        work(name ".in", ms);                                                                      \
        tell("hold", name, from);                                                                  \
        UNLOCK();                                                                                  \
    } while (0)
static void *holder0(void *x)
{
    LOCK();
    begin("p0");
    HOLD("p0", 30);
    return x;
}
static void *holder1(void *x)
{
    begin("p1");
    work("ask1", 10);
    WAIT("p1", LOCK());
    HOLD("p1", 20);
    return x;
}
static void *holder2(void *x)
{
    begin("p2");
    work("ask2", 15);
    WAIT("p2", LOCK());
    HOLD("p2", 5);
    return x;
}

/* ---- main joins one that waits for a lock ---- */

static void *slow(void *x)
{
    pthread_mutex_lock(&m);
    begin("r");
    work("slow", 40);
    pthread_mutex_unlock(&m);
    return x;
}
static void *joined(void *x)
{
    begin("q");
    work("f1", 10);
    WAIT("q", pthread_mutex_lock(&m));
    pthread_mutex_unlock(&m);
    work("f2", 10);
    return x;
}
static void cascade(void)
{
    pthread_t q, r;
    pthread_barrier_init(&go, NULL, 3);
    pthread_create(&r, NULL, slow, NULL);
    pthread_create(&q, NULL, joined, NULL);
    begin("main");
    WAIT("main", pthread_join(q, NULL));
    pthread_join(r, NULL);
    late_ns += last_ns - first_ns;
}

/* ---- a barrier; then one waits for a signal of a thread that holds the lock for a while ---- */

static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static int is_called;
static void *fast(void *x)
{
    begin("fast");
    work("common1", 20);
    WAIT("fast", pthread_barrier_wait(&queue_poll));
    work("common2", 10);
    pthread_mutex_lock(&m);
    WAIT("fast", while (!is_called) pthread_cond_wait(&called, &m));
    pthread_mutex_unlock(&m);
    return x;
}
static void *extra(void *x)
{
    begin("slow");
    work("common3", 30);
    work("extra1", 40);
    pthread_barrier_wait(&queue_poll);
    work("common4", 10);
    work("extra2", 25);
    pthread_mutex_lock(&m);
    is_called = 1;
    pthread_cond_signal(&called);
    work("held", 5);
    pthread_mutex_unlock(&m);
    return x;
}

/* ---- readers and a writer, a time, once ---- */

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
#define READER(n)                                                                                  \
    static void *reader##n(void *x)                                                                \
    {                                                                                              \
        pthread_rwlock_rdlock(&l);                                                                 \
        begin("r" #n);                                                                             \
        work("read" #n, 10 * n);                                                                   \
        pthread_rwlock_unlock(&l);                                                                 \
        return x;                                                                                  \
    }
READER(1)
READER(2)
READER(3)
static void *writer(void *x)
{
    begin("w");
    WAIT("w", pthread_rwlock_wrlock(&l));
    pthread_rwlock_unlock(&l);
    return x;
}
static void initialise(void) { work("init", 20); }
static void *first_to_come(void *x) { return begin("a"), pthread_once(&once, initialise), x; }
static void *second_to_come(void *x)
{
    begin("b");
    work("before", 5);
    WAIT("b", pthread_once(&once, initialise));
    return x;
}
static void *impatient(void *x)
{
    struct timespec until;
    begin("c");
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    WAIT("c", sem_timedwait(&one, &until));
    return x;
}

#define RUN(...)                                                                                   \
    run((void *(*const[])(void *)){__VA_ARGS__},                                                   \
        sizeof((void *(*[])(void *)){__VA_ARGS__}) / sizeof(void *))
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    sem_init(&one, 0, strcmp(what, "rest") != 0);
    pthread_barrier_init(&queue_poll, NULL, strcmp(what, "barrier") == 0 ? 4 : 2);
    how = strcmp(what, "conditions") == 0 || strcmp(what, "convoy") == 0 ? CONDITIONS : SEMAPHORES;
    if (strcmp(what, "semaphores") == 0 || strcmp(what, "conditions") == 0)
        RUN(thread0, thread1, thread2);
    for (int i = 0; i < 3 && (strcmp(what, "pipes") == 0 || strcmp(what, "sockets") == 0);
         i++, how = BYTES)
        if (strcmp(what, "pipes") == 0 ? pipe(ends[i])
                                       : socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]))
            abort();
    if (how == BYTES)
        processes();
    if (strcmp(what, "full") == 0 && pipe(ends[0]) == 0)
        RUN(writes, reads);
    if (strcmp(what, "barrier") == 0)
        RUN(member1, member2, member3, member4);
    if (strcmp(what, "convoy") == 0 || strcmp(what, "turns") == 0)
        RUN(holder0, holder1, holder2);
    if (strcmp(what, "cascade") == 0)
        cascade();
    if (strcmp(what, "condition") == 0)
        RUN(fast, extra);
    if (strcmp(what, "readers") == 0)
        RUN(reader1, reader2, reader3, writer);
    if (strcmp(what, "rest") == 0)
        RUN(first_to_come, second_to_come, impatient);
    report(stdout);
    return 0;
}
